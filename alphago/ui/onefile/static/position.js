// Positions by the package's rules (alphago/env/kernels) in WebAssembly, whose memory has the row of one position.

/**
 * A game on its board.
 * @typedef {object} Game
 * @property {Record<string, any>} options
 * @property {number[]} start the arguments of `start` in alphago/env/kernels/page_*.cu
 * @property {number} points
 * @property {boolean} [owned] whether points are owned at the end
 * @property {number} actions
 * @property {number} words of a row; until the game has begun at least so many
 * @property {number} [scratch] bytes that kernels need, if two rows are too small
 * @property {{slot: number, row: number, scratch: number, out: number}} [places] in the memory
 */

/** @typedef {Int8Array | Uint8Array | Int32Array | Float32Array | BigInt64Array} Numbers */

/** What the module exports. @type {any} */
export const rules = {};
/** The position whose row is in the memory. @type {Position | null} */
let loaded = null;

/**
 * Load the rules of a game; before that it has no positions.
 * @param {BufferSource} code of its module
 */
export async function loadRules(code) {
  Object.assign(rules, /** @type {any} */ (await WebAssembly.instantiate(code)).instance.exports);
}

/**
 * The outcome for the player to move if the game ended here.
 * @param {Position} position
 */
export const outcome = (position) => Math.sign(position.margin) * position.toPlay;

/**
 * Whether a pass, which must be legal, ends the game and wins it for the player to move.
 * @param {Position} position
 * @param {number} pass
 */
export function passWins(position, pass) {
  const after = position.play(pass);
  return after.over && outcome(after) < 0;
}

/** From a board, a plane and a point to the next. @param {number} points of a plane */
export const stepsOf = (points) => [0n, BigInt(points), 1n];

/** A position, which never changes. Actions and planes are the package's: see the game's file in alphago/env. */
export class Position {
  /**
   * @param {Game} game
   * @param {Position | null} [parent] the position before; null at the start
   * @param {number} [action] that led here; at the start -1
   */
  constructor(game, parent = null, action = -1) {
    this.game = game;
    this.parent = parent;
    this.action = action;
    /** @type {number} */
    this.ply = parent ? parent.ply + 1 : 0;
    /** @type {number} 1 or -1 */
    this.toPlay = parent ? -parent.toPlay : 1;
    /** @type {Int32Array | null} */
    this.row = null;
    /** @type {boolean | undefined} */
    this.ended = undefined; // whether the game is over here; undefined until it was asked
    if (!parent) this.begin();
  }

  /** The positions after each move that led here. @returns {Position[]} */
  get line() {
    const line = [];
    for (let after = /** @type {Position} */ (this); after.parent; after = after.parent) line.push(after);
    return line.reverse();
  }

  /**
   * The position after a move.
   * @param {number} action a legal one
   * @returns {this}
   */
  play(action) {
    return new /** @type {any} */ (this.constructor)(this.game, this, action);
  }

  // --- the memory: the number of a slot, the row, scratch, and what kernels read or answer ---

  /** Where they lie, in bytes from the beginning of the memory. */
  get places() {
    const { words, scratch = 8 * words } = this.game;
    const slot = (rules.__heap_base.value + 15) & -16;
    return this.game.places ??= { slot, row: slot + 16, scratch: slot + 16 + 8 * words, out: slot + 16 + 8 * words + scratch };
  }

  /**
   * An array of numbers in the memory, which grows if it is too small.
   * @template {Numbers} Kind
   * @param {new (buffer: ArrayBuffer, at: number, count: number) => Kind} Kind
   * @param {number} at
   * @param {number} count
   */
  numbers(Kind, at, count) {
    const lacks = at + 8 * count - rules.memory.buffer.byteLength;
    if (lacks > 0) rules.memory.grow(Math.ceil(lacks / 65536));
    return new Kind(rules.memory.buffer, at, count);
  }

  /** Make the row of the first position. */
  begin() {
    const { row, scratch } = this.places;
    this.numbers(Uint8Array, row, scratch - row).fill(0);
    this.game.words = rules.start(row, ...this.game.start);
    loaded = this;
    this.keep();
  }

  /** Keep a copy of this position's row: later positions are then played from here, not from an earlier position with a row of its own. */
  keep() {
    this.load();
    this.row = this.numbers(Int32Array, this.places.row, this.game.words).slice();
  }

  // Put this position's row into the memory: the row of an ancestor, on which the moves from there are played.
  load() {
    const { slot, row, out } = this.places;
    const path = [];
    let from = /** @type {Position} */ (this);
    for (; from !== loaded && !from.row; from = /** @type {Position} */ (from.parent)) path.push(from.action);
    const memory = this.numbers(Int32Array, 0, out / 4 + path.length);
    if (from !== loaded) memory.set(/** @type {Int32Array} */ (from.row), row / 4);
    loaded = this;
    if (!path.length) return;
    memory.set(path.reverse(), out / 4);
    memory[slot / 4 + 2] = path.length;
    rules.replay_batch(row, 0n, slot, 1n, out, 0n, slot + 8);
  }

  /**
   * Run a kernel on this position, and return its answer.
   * @template {Numbers} Kind
   * @param {string} kernel
   * @param {new (buffer: ArrayBuffer, at: number, count: number) => Kind} Kind
   * @param {number} count of the answer's numbers
   * @param {...(number | bigint)} more arguments after the answer
   * @returns {Kind}
   */
  ask(kernel, Kind, count, ...more) {
    const { slot, row, out } = this.places;
    if (loaded !== this) this.load();
    const answer = this.numbers(Kind, out, count);
    rules[kernel](row, 0n, slot, 1n, out, ...more);
    return /** @type {any} */ (answer.slice());
  }

  // --- what all games have ---

  /** Whether the game is over. */
  get over() {
    return this.ended ??= this.ask("is_over_batch", Uint8Array, 1)[0] > 0;
  }

  /** Black's margin, in points or as 1, 0 and -1, if the game ended here. */
  get margin() {
    return this.ask("score_batch", Float32Array, 1)[0] * this.toPlay;
  }

  /** Which actions are legal; none once the game is over. */
  legal() {
    return this.ask("legal_mask_batch", Uint8Array, this.game.actions, BigInt(this.game.actions));
  }

  /** The legal actions that a weak player may choose, perhaps none. */
  sensible() {
    return this.legal();
  }

  /** The moves that take a point of neither side at no risk, 1 for each; null in games without such moves. @returns {Uint8Array | null} */
  neutral() {
    return null;
  }

  /** An action that wins at once; -1 if there is none or the game does not look for it. */
  decisive() {
    return rules.decisive_moves_batch ? this.ask("decisive_moves_batch", Int32Array, 1, this.places.scratch, BigInt(this.game.actions))[0] : -1;
  }

  /**
   * Run a kernel that has a number for each point.
   * @template {Numbers} Kind
   * @param {string} kernel
   * @param {new (buffer: ArrayBuffer, at: number, count: number) => Kind} Kind
   */
  mark(kernel, Kind) {
    return this.ask(kernel, Kind, this.game.points, BigInt(this.game.points));
  }

  /** What is on each point: stones 1 for Black, -1 for White, else 0. */
  cells() {
    return this.mark("board_batch", Int8Array);
  }

  /** Who owns each point at the end, for the player to move. @returns {Int8Array | null} */
  owners() {
    return this.game.owned ? this.mark("ownership_batch", Int8Array) : null;
  }

  /** What is on the board, for the page. @returns {Record<string, any>} */
  content() {
    return { stones: Array.from(this.cells(), (stone) => (stone > 0 ? "X" : stone < 0 ? "O" : ".")).join("") };
  }

  /**
   * What the network reads, [planes, height, width].
   * @param {number} count of numbers
   * @param {number} [points] of a plane
   */
  planes(count, points = this.game.points) {
    return this.ask("planes_float32_batch", Float32Array, count, ...stepsOf(points), BigInt(points));
  }
}
