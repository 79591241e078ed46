// A game with its variations, as alphago/ui/web/game_tree.py has it: node `current` is on the board.

/** @typedef {import("./stones.js").Position} Position */

/**
 * @typedef {object} GameNode
 * @property {number} parent -1 for the root
 * @property {number} move -1 for the root
 * @property {number} mover who played it; 0 for the root
 * @property {Position} position
 * @property {number[]} children
 * @property {number} chosen the child that was looked at last, -1 for none
 * @property {any} analysis the one with the most visits
 * @property {import("./go_count.js").GoCount | null} count
 * @property {number} loser who gave up here; 0 for neither
 */

export const MOST_NODES = 4000;

export class GameNodes {
  /** @param {Position} start */
  constructor(start) {
    /** @type {GameNode[]} */
    this.nodes = [];
    this.current = this.add(-1, -1, 0, start);
  }

  /**
   * @param {number} parent
   * @param {number} move
   * @param {number} mover
   * @param {Position} position
   */
  add(parent, move, mover, position) {
    this.nodes.push({ parent, move, mover, position, children: [], chosen: -1, analysis: null, count: null, loser: 0 });
    return this.nodes.length - 1;
  }

  get node() {
    return this.nodes[this.current];
  }

  get position() {
    return this.node.position;
  }

  get over() {
    return Boolean(this.node.loser) || this.position.over;
  }

  /** @param {number} move a legal one */
  play(move) {
    const { node, position } = this;
    let child = node.children.find((number) => this.nodes[number].move === move);
    if (child === undefined) {
      if (this.nodes.length >= MOST_NODES) throw new Error(`a game must have at most ${MOST_NODES} positions: begin a new one`);
      const after = position.copy();
      after.play(move);
      child = this.add(this.current, move, position.toPlay, after);
      node.children.push(child);
    }
    node.chosen = this.current = child;
  }

  /** @param {number} number */
  goTo(number) {
    this.current = number;
    for (const child of this.path().slice(1)) this.nodes[this.nodes[child].parent].chosen = child;
  }

  /** The numbers of the nodes from the root to a node. */
  path(number = this.current) {
    const path = [];
    for (let at = number; at >= 0; at = this.nodes[at].parent) path.unshift(at);
    return path;
  }

  /** The current line: the path, then on by what was looked at last. */
  line() {
    const line = this.path();
    for (let next = this.nextOf(this.current); next >= 0; next = this.nextOf(next)) line.push(next);
    return line;
  }

  /** @param {number} number */
  nextOf(number) {
    const { chosen, children } = this.nodes[number];
    return children.includes(chosen) ? chosen : children[0] ?? -1;
  }

  /** @param {number} [number] */
  moves(number = this.current) {
    return this.path(number).slice(1).map((each) => this.nodes[each].move);
  }

  /**
   * Keep an analysis, unless the node has one with more visits.
   * @param {number} number
   * @param {any} analysis
   */
  remember(number, analysis) {
    const node = this.nodes[number];
    if (!node.analysis || node.analysis.visits <= analysis.visits) node.analysis = analysis;
    return node.analysis;
  }
}
