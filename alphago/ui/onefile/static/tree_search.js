// PUCT of the package for one game, in waves whose leaves are evaluated together. The tree is the package's
// (alphago/mcts/kernels/tree.cu) in WebAssembly; each search has an instance, whose memory has the tree and a wave.

import { outcome } from "./position.js";

/** @typedef {import("./position.js").Position} Position */

/**
 * What a network says of a position, from the view of the player to move.
 * @typedef {object} Evaluation
 * @property {Float32Array} priors 0 for illegal actions
 * @property {number} value
 * @property {number | null} score in points
 * @property {Float32Array | null} ownership
 */

/**
 * The constants of alphago.mcts.puct.Puct.
 * @typedef {object} Settings
 * @property {number} leaves
 * @property {boolean} decisive_moves
 * @property {number} c_puct
 * @property {number} parent_value_weight
 * @property {number} first_play_reduction
 * @property {number} virtual_loss
 */

/** @typedef {(positions: Position[]) => Promise<Evaluation[]>} Evaluate */

const NONE = -1;
const NEW = 0; // the `state` of a node that is not evaluated yet
const NODES = 256; // nodes for which a new tree has room; trees grow
const PLAIN = ["parent", "first_child", "next_sibling", "cached", "action", "next_action", "visits", "virtual"]; // arrays of the tree, Int32Array each
const REAL = ["prior", "value", "value_sum"]; // further arrays, Float32Array each

/** @type {WebAssembly.Module} */
let code;

/**
 * Load the kernels; before that there are no searches.
 * @param {BufferSource} module of tree.wasm
 */
export async function loadTree(module) {
  code = await WebAssembly.compile(module);
}

/** A copy of a node's numbers, which is valid until the next wave. */
export class TreeNode {
  /**
   * @param {TreeSearch} search
   * @param {number} index
   */
  constructor(search, index) {
    const { tree } = search;
    this.search = search;
    this.index = index;
    this.action = tree.action[index];
    this.mover = tree.mover[index];
    this.prior = tree.prior[index];
    this.visits = tree.visits[index];
    this.sum = tree.value_sum[index]; // of values, from the view of the player who moved here (at the root: of `mover`)
    this.next = tree.next_action[index]; // the untried action with the greatest prior
  }

  /** @returns {TreeNode[]} */
  get children() {
    const { search, search: { tree } } = this;
    const children = [];
    for (let child = tree.first_child[this.index]; child !== NONE; child = tree.next_sibling[child]) children.push(new TreeNode(search, child));
    return children;
  }

  /** The priors of the actions that have no child yet; -1 where there is one, 0 for illegal ones. */
  get waiting() {
    const { actions, tree } = this.search;
    return tree.waiting.subarray(this.index * actions, (this.index + 1) * actions);
  }

  /** In points, for `mover`; null if unknown. */
  get score() {
    return this.search.forecasts[this.index]?.score ?? null;
  }

  /** By point, for `mover`; null if unknown. */
  get ownership() {
    return this.search.forecasts[this.index]?.ownership ?? null;
  }
}

export class TreeSearch {
  /**
   * @param {Settings} settings
   * @param {Evaluate} evaluate
   * @param {Position} position
   */
  constructor(settings, evaluate, position) {
    this.settings = settings;
    this.evaluate = evaluate;
    this.position = position;
    this.actions = position.game.actions;
    /** @type {({score: number | null, ownership: ArrayLike<number> | null} | undefined)[]} */
    this.forecasts = []; // by node
    /** @type {any} */
    this.kernels = new WebAssembly.Instance(code).exports;
    this.nodes = 0;
    /** @type {Record<string, any>} */
    this.tree = {}; // the arrays of the tree and of a wave, by name
    /** @type {Record<string, number>} */
    this.places = {}; // where these arrays begin in the memory, in bytes
    position.keep();
    this.grow(NODES);
    this.tree.collisions.fill(NONE);
    this.tree.c_puct[0] = settings.c_puct;
    this.kernels.clear_all(...this.games);
  }

  /**
   * Make room for so many nodes.
   * @param {number} nodes
   */
  grow(nodes) {
    const { leaves } = this.settings;
    const { memory, __heap_base: base } = this.kernels;
    /** @type {[string, any, number][]} */
    const all = [["game", BigInt64Array, leaves], ["games", BigInt64Array, 1], ["c_puct", Float64Array, 1], ["budget", Int32Array, 1], ["broken", Int32Array, 1],
      ["leaf", Int32Array, leaves], ["length", Int32Array, leaves], ["collisions", Int32Array, 2 * leaves], ["outcomes", Float32Array, leaves],
      ["values", Float32Array, leaves], ["priors", Float32Array, leaves * this.actions], ["over", Int8Array, 4 * leaves], ["movers", Int8Array, 4 * leaves],
      ["path", Int32Array, nodes], ...PLAIN.map((name) => /** @type {[string, any, number]} */ ([name, Int32Array, nodes])),
      ...REAL.map((name) => /** @type {[string, any, number]} */ ([name, Float32Array, nodes])),
      ["waiting", Float32Array, nodes * this.actions], ["used", Int32Array, 1], ["state", Int8Array, nodes], ["mover", Int8Array, nodes]];
    const before = Object.entries(this.tree).map(([name, array]) => [name, array.slice()]);
    let end = (base.value + 15) & -16;
    for (const [name, Kind, count] of all) {
      this.places[name] = end;
      end += Kind.BYTES_PER_ELEMENT * count;
    }
    memory.grow(Math.max(0, Math.ceil((end - memory.buffer.byteLength) / 65536)));
    this.tree = Object.fromEntries(all.map(([name, Kind, count]) => [name, new Kind(memory.buffer, this.places[name], count)]));
    for (const [name, numbers] of before) this.tree[name].set(numbers);
    this.nodes = nodes;
  }

  /** The first arguments of kernels: the tree, and the only game. */
  get games() {
    return [this.places.parent, 1n, BigInt(this.nodes), BigInt(this.actions), this.places.games, 1n];
  }

  /** The arguments of kernels for the leaves of a wave. */
  get leafArrays() {
    const { game, leaf, path, length, collisions } = this.places;
    return [game, leaf, path, 0n, length, collisions]; // all paths in one place: `positionAt` finds them in the tree
  }

  /**
   * The position of a node.
   * @param {number} node
   * @returns {Position}
   */
  positionAt(node) {
    return node ? this.positionAt(this.tree.parent[node]).play(this.tree.action[node]) : this.position;
  }

  /**
   * Play a move, and keep what was found below it.
   * @param {number} action
   */
  advance(action) {
    const { parent, used } = this.tree;
    const child = this.root.children.find((node) => node.action === action);
    const kept = new Set(child ? [child.index] : []);
    for (let node = 1; node < used[0]; node += 1) if (kept.has(parent[node])) kept.add(node); // children come behind their parents
    this.forecasts = Array.from(kept, (node) => this.forecasts[node]);
    this.tree.budget[0] = action;
    this.kernels.advance(...this.games, this.places.budget);
    const { position } = this;
    this.position = position.play(action);
    this.position.keep();
    if (position.parent) position.row = null;
  }

  /** Evaluate the root, unless that is done. */
  async expandRoot() {
    if (this.tree.state[0] !== NEW) return;
    this.kernels.select_roots(...this.games, ...this.leafArrays);
    await this.finish(1);
  }

  /**
   * Run one wave; return how many simulations it added.
   * @param {number} budget the most
   */
  async wave(budget) {
    await this.expandRoot();
    const { leaves, parent_value_weight: own, first_play_reduction: reduction, virtual_loss: loss } = this.settings;
    if (this.tree.used[0] + 2 * leaves >= this.nodes) this.grow(2 * (this.nodes + leaves));
    this.tree.budget[0] = budget;
    this.kernels.select_puct(...this.games, this.places.budget, this.places.c_puct, own, reduction, BigInt(loss), ...this.leafArrays, BigInt(leaves));
    await this.finish(leaves);
    return budget - this.tree.budget[0];
  }

  /**
   * Evaluate leaves and back them up; after an error the tree is of no more use.
   * @param {number} leaves the most
   */
  async finish(leaves) {
    const { tree, places, forecasts, actions } = this;
    const found = [...tree.leaf.subarray(0, leaves)].filter((leaf) => leaf !== NONE);
    const positions = found.map((leaf) => this.positionAt(leaf));
    const decisive = positions.map((position) => (this.settings.decisive_moves && !position.over ? position.decisive() : NONE));
    const open = positions.filter(({ over }, i) => !over && decisive[i] === NONE);
    const evaluations = open.length ? await this.evaluate(open) : [];
    let next = 0;
    positions.forEach((position, i) => {
      const { over, toPlay } = position;
      const priors = tree.priors.subarray(i * actions, (i + 1) * actions).fill(0);
      tree.over[i] = Number(over);
      tree.movers[i] = toPlay;
      tree.values[i] = 1;
      if (over) {
        tree.outcomes[i] = outcome(position);
        forecasts[found[i]] = { score: position.margin * toPlay, ownership: position.owners() };
      } else if (decisive[i] === NONE) {
        const { score, ownership, ...evaluation } = evaluations[next++];
        priors.set(evaluation.priors);
        tree.values[i] = evaluation.value;
        forecasts[found[i]] = { score, ownership };
      } else priors[decisive[i]] = 1;
    });
    this.kernels.expand(...this.games.slice(0, 4), ...this.leafArrays, places.over, places.movers, places.outcomes, places.priors, BigInt(actions), places.values,
      places.broken, BigInt(leaves), 1n);
  }

  /** The root, where `position` is. */
  get root() {
    return new TreeNode(this, 0);
  }

  /** The number of simulations, the root's own evaluation included. */
  get visits() {
    return this.tree.visits[0];
  }

  /** The mean value of all simulations, for the player to move. */
  get value() {
    return this.tree.value_sum[0] / Math.max(this.visits, 1);
  }

  /** The prior of each action, 0 for illegal ones. */
  priors() {
    const { children, waiting } = this.root;
    const priors = Array.from(waiting, (/** @type {number} */ prior) => Math.max(prior, 0));
    for (const { action, prior } of children) priors[action] = prior;
    return priors;
  }

  /** The children of the root with visits, the best first: by visits, then by value, by prior and by number. */
  ranked() {
    const tried = this.root.children.filter(({ visits }) => visits > 0);
    return tried.sort((one, other) => other.visits - one.visits || other.sum - one.sum || other.prior - one.prior || one.action - other.action);
  }
}
