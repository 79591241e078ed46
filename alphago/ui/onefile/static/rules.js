// The games that a file can carry, by what their modules do not tell.

import { Position, rules, stepsOf } from "./position.js";

/** @typedef {import("./position.js").Game} Game */

const KO_RULES = ["simple", "positional", "situational"];
const [ROWS, COLUMNS] = [6, 7]; // of Connect Four
const [HOUSES, SEEDS] = [12, 48]; // of Oware

/**
 * @typedef {object} GoOptions
 * @property {number} board_size
 * @property {number} komi
 * @property {[number, number]} kept how many boards a row keeps, and how many actions older than the third last
 * @property {number[] | null} places of the planes of a set, see `places` in alphago/env/kernels/go_planes.py
 * @property {[number, number, number] | null} ladders the memory for KataGo's planes, see `ladder_words` in alphago/env/go_cuda.py
 * @property {number} max_moves
 * @property {string} ko
 * @property {boolean} suicide
 * @property {number | null} turns
 * @property {number[]} [handicap] the points of Black's stones before the game
 * @property {Int8Array} [stones] instead: what is on each point
 */

/** Words of scratch for what is pass-alive, or more. @param {number} size */
const aliveWords = (size) => 5 * (size + 2) ** 2;

export class Go extends Position {
  begin() {
    super.begin();
    const { handicap = [], stones = new Int8Array(this.game.points).map((_, point) => Number(handicap.includes(point))) } = this.game.options;
    if (handicap.length) this.toPlay = -1;
    const { slot, row, scratch, out } = this.places;
    this.numbers(Int8Array, out, stones.length).set(stones);
    rules.set_up_batch(row, 0n, slot, 1n, out, this.toPlay > 0 ? 1n : 2n, scratch);
    this.keep();
  }

  /** The chain of each point's stone, as a number; 0 without a stone. */
  chains() {
    return this.mark("chains_batch", Int32Array);
  }

  /** The pass-alive points: 1 the mover's, -1 the other side's, else 0. */
  alive() {
    return this.ask("pass_alive_batch", Int8Array, this.game.points, this.places.scratch, 0n);
  }

  /** The legal moves without own eyes and without points that are pass-alive already (`GoBatch.sensible_mask`). */
  sensible() {
    const [legal, alive, owners, eyes] = [this.legal(), this.alive(), this.mark("ownership_batch", Int8Array), this.mark("own_eyes_batch", Uint8Array)];
    const captures = alive.some((side, point) => side > 0 && owners[point] < 0); // stones that count until they are captured
    return legal.map((may, action) => Number(may && !eyes[action] && !(alive[action] < 0) && (captures || !(alive[action] > 0))));
  }

  /** The moves onto points of neither side that join an own chain and leave it two liberties (`GoBatch.neutral_mask`). */
  neutral() {
    const owners = this.mark("ownership_batch", Int8Array);
    return this.legal().map((legal, action) => Number(legal && owners[action] === 0
      && this.play(action).mark("joined_and_free_batch", Uint8Array)[action]));
  }

  /** How many stones Black and White have captured. */
  get captures() {
    const { handicap = [] } = this.game.options;
    const played = this.line.filter(({ action }) => action < this.game.points).map(({ toPlay }) => -toPlay);
    const [placed, left] = [[...handicap.map(() => 1), ...played], this.cells()];
    return [-1, 1].map((side) => placed.filter((stone) => stone === side).length - left.filter((stone) => stone === side).length);
  }

  content() {
    const ko = this.over ? [] : Array.from(this.mark("repeating_batch", Uint8Array).entries()).flatMap(([point, only]) => (only ? [point] : []));
    return { ...super.content(), captures: this.captures, ko };
  }

  /** @param {number} count */
  planes(count) {
    const [{ points, options: { places, ladders, board_size: size } }, { scratch }] = [this.game, this.places];
    const given = [...stepsOf(points), BigInt(count / points)];
    if (ladders) {
      const [lines, words, all] = ladders;
      const empty = scratch + 4 * all; // the board on which ladders are read
      this.numbers(Int32Array, empty, words).fill(0);
      rules.start(empty, size, 1, 0, 0, 0, 2, 0, 0);
      return this.ask("katago_planes_batch", Float32Array, count, ...given, 4n, empty, BigInt(lines), BigInt(words), scratch, BigInt(all), 1n);
    }
    if (!places) return this.ask("history_planes_float32_batch", Float32Array, count, ...given);
    this.numbers(BigInt64Array, scratch, places.length).set(places.map(BigInt));
    return this.ask("rule_planes_float32_batch", Float32Array, count, ...given, scratch, 0);
  }
}

class Oware extends Position {
  /** @param {number} count */
  planes(count) {
    return super.planes(count, this.game.options.planes === "one-hot" ? 1 : HOUSES); // one-hot numbers have no board
  }

  content() {
    const seeds = this.cells();
    const captured = SEEDS - seeds.reduce((sum, house) => sum + house, 0);
    return { seeds: [...seeds], captures: [(captured + this.margin) / 2, (captured - this.margin) / 2] };
  }
}

/** @param {GoOptions} options */
function goOf({ board_size: size, ko, suicide, max_moves: most, turns, komi, kept: [history, further], ladders }) {
  const passes = turns === null ? 2 : most + 1; // that end a game
  return { start: [size, history, KO_RULES.indexOf(ko), Number(suicide), most, passes, 2 * komi, further], points: size * size, owned: true, actions: size * size + 1,
    words: 10000 + 50 * history + 2 * most, scratch: ladders ? 4 * (ladders[1] + ladders[2]) : 8 * aliveWords(size) };
}

/** @type {Record<string, [new (game: Game) => Position, (options: any) => Omit<Game, "options">]>} */
const GAMES = {
  go: [Go, goOf],
  gomoku: [Position, ({ board_size: size, connect_row: connect, planes }) => ({ start: [size, connect, (planes - 1) / 2], points: size * size,
    actions: size * size, words: 1024 + planes })],
  "connect-four": [Position, () => ({ start: [ROWS, COLUMNS], points: ROWS * COLUMNS, actions: COLUMNS, words: 64 })],
  reversi: [Position, ({ board_size: size }) => ({ start: [size], points: size * size, owned: true, actions: size * size + 1, words: 512 })],
  oware: [Oware, ({ max_moves: most, repetition, remainder }) => ({ start: [most, Number(repetition), Number(remainder === "own")], points: HOUSES,
    actions: HOUSES / 2, words: 64 + 2 * most })],
};

/**
 * The position before the first move.
 * @param {string} name of the game
 * @param {Record<string, any>} options of the game, and in Go stones before it
 */
export function startOf(name, options) {
  const [Kind, gameOf] = GAMES[name];
  return new Kind({ options, ...gameOf(options) });
}
