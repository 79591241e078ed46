// Go: play, ko, suicide, area score (alphago/env/go_rules.py has the options); what a network sees is in go_planes.js.

import { sensibleMoves } from "./go_alive.js";
import { goPlanes } from "./go_planes.js";
import { BoardGame } from "./position.js";

/**
 * @typedef {object} GoOptions
 * @property {number} board_size
 * @property {number} komi
 * @property {string | number} planes
 * @property {number} max_moves
 * @property {string} ko
 * @property {boolean} suicide
 * @property {number | null} turns
 * @property {number[]} [handicap] the points of Black's stones before the game
 */

/**
 * The chains of a board: of each point the chain's number (0 for no stone); of each chain its side, its liberties and a hash.
 * @typedef {{of: Int16Array, side: number[], liberties: number[], hash: [number, number][]}} Chains
 */

/** The neighbours of each point. @param {number} size */
const neighbours = (size) => Array.from({ length: size * size }, (_, p) => [p % size ? p - 1 : -1, p - size,
  (p + 1) % size ? p + 1 : -1, p + size].filter((q) => q >= 0 && q < size * size));

const MOST_POINTS = 625;
const KEYS = crypto.getRandomValues(new Int32Array(4 * MOST_POINTS)); // two words for each stone
const SIDE_KEY = 2 ** 52; // added if Black is to move, where that counts for ko

/**
 * @param {number} point
 * @param {number} colour
 */
const keyOf = (point, colour) => 2 * point + (colour > 0 ? 2 * MOST_POINTS : 0);

export class Go extends BoardGame {
  /** @param {GoOptions} options */
  constructor(options) {
    super(options.board_size, options.board_size);
    this.options = options;
    this.near = neighbours(options.board_size);
    this.passes = 0;
    this.high = this.low = 0; // the hash of the board
    this.before = -1; // the board before the last move
    /** @type {Set<number>} */
    this.seen = new Set(); // boards that may not occur again
    /** @type {number[]} */
    this.latest = []; // actions, the newest first
    this.captures = [0, 0];
    /** @type {Chains | null} */
    this.known = null;
    this.history = typeof options.planes === "number" ? (options.planes - 1) / 2 : 1;
    for (const point of options.handicap || []) this.put(point, 1);
    if (options.handicap?.length) this.toPlay = -1;
    /** @type {Int8Array[]} */
    this.boards = []; // earlier ones, the newest first, where the network sees them
    this.record();
  }

  /** @returns {this} */
  copy() {
    const other = super.copy();
    other.seen = new Set(this.seen);
    other.captures = [...this.captures];
    return other;
  }

  get margin() {
    return this.areas().reduce((sum, owner) => sum + owner, -this.options.komi);
  }

  // --- chains ---

  /**
   * The points around one that are connected with it and have its mark.
   * @param {number} first
   * @param {Int8Array} marks
   * @param {Uint8Array} [seen] points of groups so far; those of this one are added
   */
  group(first, marks, seen = new Uint8Array(marks.length)) {
    const points = [first];
    seen[first] = 1;
    for (const point of points) {
      for (const other of this.near[point]) {
        if (seen[other] || marks[other] !== marks[first]) continue;
        seen[other] = 1;
        points.push(other);
      }
    }
    return points;
  }

  /**
   * All groups of points with a mark that is not 0.
   * @param {Int8Array} marks
   */
  groups(marks) {
    const seen = new Uint8Array(marks.length);
    const groups = [];
    for (let first = 0; first < marks.length; first += 1) if (marks[first] && !seen[first]) groups.push(this.group(first, marks, seen));
    return groups;
  }

  chains() {
    if (this.known) return this.known;
    const { board, near } = this;
    const of = new Int16Array(board.length);
    const marks = new Int16Array(board.length); // of each empty point the last chain that has counted it
    const [side, liberties] = [[0], [0]];
    /** @type {[number, number][]} */
    const hash = [[0, 0]];
    for (const points of this.groups(board)) {
      const number = side.push(board[points[0]]) - 1;
      let [count, high, low] = [0, 0, 0];
      for (const point of points) {
        const key = keyOf(point, board[point]);
        high ^= KEYS[key];
        low ^= KEYS[key + 1];
        of[point] = number;
        for (const other of near[point]) {
          if (!board[other] && marks[other] !== number) count += 1;
          marks[other] = number;
        }
      }
      liberties.push(count);
      hash.push([high, low]);
    }
    return this.known = { of, side, liberties, hash };
  }

  /**
   * @param {number} point
   * @param {number} colour
   */
  put(point, colour) {
    const key = keyOf(point, colour);
    this.board[point] = this.board[point] ? 0 : colour;
    this.high ^= KEYS[key];
    this.low ^= KEYS[key + 1];
    this.known = null;
  }

  /**
   * Remove the chain at a point if it has no liberty; return how many stones it had.
   * @param {number} first
   */
  capture(first) {
    const { board, near } = this;
    const colour = board[first];
    const chain = this.group(first, board);
    if (chain.some((point) => near[point].some((other) => !board[other]))) return 0;
    for (const point of chain) this.put(point, colour);
    return chain.length;
  }

  // --- ko ---

  /**
   * The number of a board by which ko compares.
   * @param {number} high
   * @param {number} low
   * @param {number} mover the side to move
   */
  key(high, low, mover) {
    return (high & 0xfffff) * 2 ** 32 + (low >>> 0) + (this.options.ko === "situational" && mover > 0 ? SIDE_KEY : 0);
  }

  record() {
    if (this.options.ko !== "simple") this.seen.add(this.key(this.high, this.low, this.toPlay));
  }

  /**
   * @param {number} high
   * @param {number} low
   */
  forbidden(high, low) {
    const board = this.key(high, low, -this.toPlay);
    return this.options.ko === "simple" ? board === this.before : this.seen.has(board);
  }

  // --- moves ---

  /**
   * Whether the rules of ko and suicide allow the mover a stone on an empty point.
   * @param {number} point
   * @param {boolean} [checkKo]
   */
  allowed(point, checkKo = true) {
    const { of, side, liberties, hash } = this.chains();
    const { toPlay } = this;
    const met = this.near[point].map((other) => of[other]); // 0 for an empty point, whose side is 0
    const alive = met.some((chain) => !chain || (side[chain] === toPlay) === liberties[chain] > 1);
    if (!alive && !(this.options.suicide && met.some((chain) => side[chain] === toPlay))) return false;
    if (alive && !checkKo) return true;
    const key = keyOf(point, toPlay);
    let [high, low] = alive ? [this.high ^ KEYS[key], this.low ^ KEYS[key + 1]] : [this.high, this.low];
    met.forEach((chain, i) => { // what is captured: theirs, else by suicide one's own
      if (liberties[chain] !== 1 || (side[chain] === toPlay) === alive || met.indexOf(chain) < i) return;
      high ^= hash[chain][0];
      low ^= hash[chain][1];
    });
    return !this.forbidden(high, low);
  }

  legal() {
    const points = this.board.length;
    const legal = new Uint8Array(points + 1);
    if (this.over) return legal;
    for (let point = 0; point < points; point += 1) legal[point] = !this.board[point] && this.allowed(point) ? 1 : 0;
    legal[points] = 1;
    return legal;
  }

  sensible() {
    return sensibleMoves(this);
  }

  /** The moves onto points of neither side that join an own chain and leave it at least two liberties. */
  neutral() {
    const areas = this.areas();
    return this.legal().map((legal, action) => Number(legal && areas[action] === 0 && this.joinsAtNoRisk(action)));
  }

  /** @param {number} action */
  joinsAtNoRisk(action) {
    if (!this.near[action].some((other) => this.board[other] === this.toPlay)) return false;
    const after = this.copy();
    after.play(action);
    const { of, liberties } = after.chains();
    return liberties[of[action]] > 1; // 0 after suicide
  }

  /** The empty points where the mover may not play. */
  forbiddenPoints() {
    const legal = this.legal();
    return this.over ? [] : Array.from(this.board.keys()).filter((point) => !this.board[point] && !legal[point]);
  }

  /** Those that only ko forbids. */
  koPoints() {
    return this.forbiddenPoints().filter((point) => this.allowed(point, false));
  }

  /** @param {number} action */
  play(action) {
    const mover = this.toPlay;
    if (this.history > 1) this.boards = [this.board.slice(), ...this.boards.slice(0, this.history - 2)];
    this.before = this.key(this.high, this.low, 0);
    this.passes = action === this.board.length ? this.passes + 1 : 0;
    this.lastCell = null;
    if (this.passes === 0) {
      this.put(action, mover);
      this.lastCell = action;
      for (const other of this.near[action]) {
        if (this.board[other] === -mover) this.captures[mover > 0 ? 0 : 1] += this.capture(other);
      }
      this.captures[mover > 0 ? 1 : 0] += this.capture(action);
    }
    this.endTurn();
    if (this.passes === 0 || this.options.ko === "situational") this.record();
    this.latest = [action, ...this.latest.slice(0, 2)];
    const { max_moves: most, turns } = this.options;
    this.over = (this.passes >= 2 && turns === null) || this.ply >= most;
  }

  decisive() {
    return -1; // the package looks for none in Go
  }

  // --- the end ---

  /** What each point is: 1 Black's, -1 White's, 0 neither's, by area (Tromp and Taylor). */
  areas() {
    const areas = this.board.slice();
    for (const region of this.groups(this.board.map((stone) => (stone ? 0 : 1)))) {
      const touches = (/** @type {number} */ side) => Number(region.some((point) => this.near[point].some((other) => this.board[other] === side)));
      const owner = touches(1) - touches(-1);
      for (const point of region) areas[point] = owner;
    }
    return areas;
  }

  owners() {
    return this.areas().map((owner) => owner * this.toPlay);
  }

  content() {
    return { ...super.content(), captures: [...this.captures], ko: this.koPoints() };
  }

  /** @param {Float32Array} out */
  planes(out) {
    goPlanes(this, out);
  }
}
