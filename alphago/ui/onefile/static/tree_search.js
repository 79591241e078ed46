// PUCT of the package (alphago/mcts: kernels/puct.py, kernels/waves.py, kernels/nodes.py) for one game, in waves whose
// leaves are evaluated together. Sums and priors are float32, as there, so that both choose the same moves.

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

const { fround } = Math;
const TAKEN = -1; // in `waiting`: the action has a child; 0 marks an illegal action
const NONE = -1;

export class TreeNode {
  /**
   * @param {TreeNode | null} parent
   * @param {Position} position
   * @param {number} prior
   */
  constructor(parent, position, prior) {
    this.parent = parent;
    this.position = position;
    this.action = position.action;
    this.mover = position.toPlay;
    this.prior = prior;
    /** @type {TreeNode[]} */
    this.children = [];
    this.state = "new"; // then "pending", "expanded" or "terminal"
    this.visits = 0;
    this.virtual = 0; // simulations of the current wave that passed here
    this.value = 0; // from the view of `mover`
    this.sum = 0; // of backed-up values, from the view of the player who moved here (at the root: of `mover`)
    /** @type {Float32Array | null} */
    this.waiting = null; // priors of the actions that have no child yet
    this.next = NONE; // the one of these with the greatest prior
    /** @type {number | null} */
    this.score = null;
    /** @type {ArrayLike<number> | null} */
    this.ownership = null;
  }

  findNext() {
    const waiting = /** @type {Float32Array} */ (this.waiting);
    this.next = NONE;
    let best = 0;
    for (let action = 0; action < waiting.length; action += 1) {
      if (waiting[action] > best) [best, this.next] = [waiting[action], action];
    }
  }

  addChild() {
    const waiting = /** @type {Float32Array} */ (this.waiting);
    const child = new TreeNode(this, this.position.play(this.next), waiting[this.next]);
    this.children.push(child);
    waiting[this.next] = TAKEN;
    this.findNext();
    return child;
  }

  /** @param {number} count */
  addVirtual(count) {
    for (let node = /** @type {TreeNode | null} */ (this); node; node = node.parent) node.virtual += count;
  }

  /**
   * Count a simulation that ended here.
   * @param {number} pending 1 if it had a virtual visit
   */
  backUp(pending) {
    for (let node = /** @type {TreeNode | null} */ (this); node; node = node.parent) {
      const player = (node.parent || node).mover;
      node.visits += 1;
      node.virtual -= pending;
      node.sum = fround(node.sum + (player === this.mover ? this.value : -this.value));
    }
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
    this.root = new TreeNode(null, position, 1);
    position.keep();
  }

  get position() {
    return this.root.position;
  }

  /**
   * Play a move, and keep what was found below it.
   * @param {number} action
   */
  advance(action) {
    const child = this.root.children.find((node) => node.action === action) || new TreeNode(null, this.position.play(action), 1);
    child.position.keep();
    if (this.position.parent) this.position.row = null;
    this.root = child;
    child.sum = -child.sum; // for the player to move, where it was for the one who moved here
    child.parent = null;
  }

  /** Evaluate the root, unless that is done. */
  async expandRoot() {
    if (this.root.state !== "new") return;
    this.root.state = "pending";
    this.root.addVirtual(1);
    await this.finish([this.root], []);
  }

  /**
   * Run one wave; return how many simulations it added.
   * @param {number} budget the most
   */
  async wave(budget) {
    await this.expandRoot();
    const { leaves } = this.settings;
    /** @type {TreeNode[]} */
    const found = [];
    /** @type {TreeNode[]} */
    const collisions = [];
    let left = budget;
    for (let attempts = 0; found.length < leaves && attempts < 2 * leaves && left > 0;) {
      const leaf = this.descend();
      if (leaf.state === "terminal") {
        leaf.backUp(0);
        left -= 1;
        continue;
      }
      attempts += 1;
      leaf.addVirtual(1);
      if (leaf.state === "pending") {
        collisions.push(leaf);
        continue;
      }
      leaf.state = "pending";
      found.push(leaf);
      left -= 1;
    }
    await this.finish(found, collisions);
    return budget - left;
  }

  // Follow the formula from the root to a node that is not evaluated, which is made if it does not exist.
  descend() {
    let node = this.root;
    while (node.state === "expanded") node = this.choose(node) || node.addChild();
    return node;
  }

  /**
   * The child to follow, or null for the untried action with the greatest prior.
   * @param {TreeNode} node
   */
  choose(node) {
    const { c_puct: constant, parent_value_weight: own, first_play_reduction: reduction, virtual_loss: loss } = this.settings;
    const explore = constant * Math.sqrt(node.visits + loss * node.virtual);
    const seed = own * node.value;
    let [tried, best, bestAction, bestScore] = [0, /** @type {TreeNode | null} */ (null), Infinity, -Infinity];
    for (let i = node.children.length - 1; i >= 0; i -= 1) { // the order of the package's sums
      const child = node.children[i];
      tried += child.prior;
      const lost = loss * child.virtual;
      const visits = child.visits + lost;
      const weight = visits + own;
      const mean = weight > 0 ? (child.sum - lost + seed) / weight : 0;
      const score = mean + (explore * child.prior) / (1 + visits);
      if (score > bestScore || (score === bestScore && child.action < bestAction)) {
        [bestScore, bestAction, best] = [score, child.action, child];
      }
    }
    if (node.next !== NONE) {
      const waiting = /** @type {Float32Array} */ (node.waiting);
      const mean = (own > 0 ? node.value : 0) - reduction * Math.sqrt(tried);
      const score = mean + explore * waiting[node.next];
      if (score > bestScore || (score === bestScore && node.next < bestAction)) best = null;
    }
    return best;
  }

  /**
   * Evaluate leaves and back them up; after an error the tree is of no more use.
   * @param {TreeNode[]} found
   * @param {TreeNode[]} collisions
   */
  async finish(found, collisions) {
    const decisive = found.map(({ position }) => (this.settings.decisive_moves && !position.over ? position.decisive() : NONE));
    const open = found.filter(({ position }, i) => !position.over && decisive[i] === NONE);
    const evaluations = open.length ? await this.evaluate(open.map(({ position }) => position)) : [];
    let next = 0;
    found.forEach((leaf, i) => {
      const { position } = leaf;
      if (position.over) {
        leaf.state = "terminal";
        [leaf.value, leaf.score, leaf.ownership] = [outcome(position), position.margin * position.toPlay, position.owners()];
      } else {
        leaf.state = "expanded";
        if (decisive[i] === NONE) {
          const { priors, ...found } = evaluations[next++];
          Object.assign(leaf, found, { waiting: priors });
        } else {
          leaf.waiting = Float32Array.from(position.legal(), (_, action) => (action === decisive[i] ? 1 : 0));
          leaf.value = 1;
        }
        leaf.findNext();
      }
      leaf.backUp(1);
    });
    for (const leaf of collisions) leaf.addVirtual(-1);
  }

  /** The number of simulations, the root's own evaluation included. */
  get visits() {
    return this.root.visits;
  }

  /** The mean value of all simulations, for the player to move. */
  get value() {
    return this.root.sum / Math.max(this.root.visits, 1);
  }

  /** The prior of each action, 0 for illegal ones. */
  priors() {
    const { children, waiting } = this.root;
    const priors = Array.from(/** @type {Float32Array} */ (waiting), (prior) => Math.max(prior, 0));
    for (const { action, prior } of children) priors[action] = prior;
    return priors;
  }

  /** The tried actions, the best first: by visits, then by prior, then by number. */
  ranked() {
    const tried = this.root.children.filter(({ visits }) => visits > 0);
    return tried.sort((one, other) => other.visits - one.visits || other.prior - one.prior || one.action - other.action);
  }

  /** The action to play: the most visited one, before any search the most probable one. */
  best() {
    return this.ranked()[0]?.action ?? this.root.next;
  }
}
