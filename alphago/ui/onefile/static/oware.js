// Oware Abapa (alphago/env/kernels/oware.py): houses 0 to 5 are Black's, 6 to 11 White's, each from its player's left.

import { BoardGame } from "./position.js";

const [SIDE, HOUSES, SEEDS] = [6, 12, 48];
const EXACT = 12; // the numbers of seeds below it have a plane each
const [HOUSE_INPUTS, STORE_INPUTS] = [24, 27];

export class Oware extends BoardGame {
  /** @param {{max_moves: number, repetition: boolean, remainder: string, planes: string}} options */
  constructor(options) {
    super(HOUSES / SIDE, SIDE);
    this.options = options;
    this.board.fill(SEEDS / HOUSES);
    this.margin = 0;
    /** @type {string[]} the positions since the last capture */
    this.seen = [];
    this.isNew();
  }

  /** @param {number} player */
  left(player) {
    return player > 0 ? 0 : SIDE;
  }

  /** @param {number} player */
  seedsOf(player) {
    return this.board.subarray(this.left(player), this.left(player) + SIDE).reduce((sum, seeds) => sum + seeds, 0);
  }

  /** @param {number} player */
  store(player) {
    return (SEEDS - this.seedsOf(1) - this.seedsOf(-1) + player * this.margin) / 2;
  }

  isNew() {
    const key = `${this.toPlay}:${this.board}`;
    const isNew = !this.seen.includes(key);
    if (isNew) this.seen = [...this.seen, key]; // copies share it
    return isNew;
  }

  legal() {
    const enemy = this.seedsOf(-this.toPlay);
    const left = this.left(this.toPlay);
    return Uint8Array.from({ length: SIDE }, (_, house) => {
      const seeds = this.board[left + house];
      return !this.over && seeds > 0 && (house + seeds >= SIDE || enemy > 0) ? 1 : 0;
    });
  }

  /** @param {number} action */
  play(action) {
    const mover = this.toPlay;
    const house = this.left(mover) + action;
    this.capture(this.sow(house), mover);
    this.lastCell = house;
    this.endTurn();
    this.endIfDecided();
  }

  /**
   * Sow a house; return where the last seed fell.
   * @param {number} house
   */
  sow(house) {
    let at = house;
    let seeds = this.board[house];
    this.board[house] = 0;
    while (seeds > 0) {
      at = (at + 1) % HOUSES;
      if (at === house) continue;
      this.board[at] += 1;
      seeds -= 1;
    }
    return at;
  }

  /**
   * Capture twos and threes from the enemy's house `last` backwards, unless that would take all of the enemy's seeds.
   * @param {number} last
   * @param {number} mover
   */
  capture(last, mover) {
    const left = this.left(-mover);
    let [first, taken] = [last + 1, 0];
    while (last >= left && last < left + SIDE && first > left && [2, 3].includes(this.board[first - 1])) {
      first -= 1;
      taken += this.board[first];
    }
    if (taken <= 0 || taken >= this.seedsOf(-mover)) return;
    this.board.fill(0, first, last + 1);
    this.margin += mover * taken;
    this.seen = [];
  }

  endIfDecided() {
    const { max_moves: limit, repetition, remainder } = this.options;
    const [own, enemy] = [this.seedsOf(this.toPlay), this.seedsOf(-this.toPlay)];
    if (Math.abs(this.margin) > own + enemy) { // more than half of all seeds are in one store
      this.over = true;
      return;
    }
    const repeated = repetition && !this.isNew();
    const atLimit = this.ply >= limit;
    if (!repeated && !atLimit && this.legal().includes(1)) return;
    this.over = true;
    if (atLimit && remainder !== "own") return;
    this.margin += this.toPlay * (own - enemy);
    this.board.fill(0);
  }

  owners() {
    return null;
  }

  content() {
    return { seeds: [...this.board], captures: [this.store(1), this.store(-1)] };
  }

  /** @param {Float32Array} out */
  planes(out) {
    if (this.options.planes === "one-hot") this.oneHot(out);
    else this.counts(out);
  }

  /**
   * Whether a house has each number of seeds; its seeds; both stores; the ply. The mover's houses are the lower row.
   * @param {Float32Array} out
   */
  counts(out) {
    const [mine, theirs] = [this.left(this.toPlay), this.left(-this.toPlay)];
    for (let point = 0; point < HOUSES; point += 1) {
      const seeds = this.board[point >= SIDE ? mine + point - SIDE : theirs + SIDE - 1 - point];
      for (let number = 0; number < EXACT; number += 1) out[number * HOUSES + point] = seeds === number ? 1 : 0;
      out[EXACT * HOUSES + point] = seeds / 12;
      out[(EXACT + 1) * HOUSES + point] = this.store(this.toPlay) / SEEDS;
      out[(EXACT + 2) * HOUSES + point] = this.store(-this.toPlay) / SEEDS;
      out[(EXACT + 3) * HOUSES + point] = this.ply / this.options.max_moves;
    }
  }

  /**
   * The seeds of each house, then of each store, one number for each count; the mover's before the enemy's.
   * @param {Float32Array} out
   */
  oneHot(out) {
    out.fill(0);
    const [mine, theirs] = [this.left(this.toPlay), this.left(-this.toPlay)];
    for (let i = 0; i < HOUSES; i += 1) {
      const seeds = this.board[i < SIDE ? mine + i : theirs + i - SIDE];
      out[i * HOUSE_INPUTS + Math.min(seeds, HOUSE_INPUTS - 1)] = 1;
    }
    [this.toPlay, -this.toPlay].forEach((player, i) => {
      out[HOUSES * HOUSE_INPUTS + i * STORE_INPUTS + Math.min(this.store(player), STORE_INPUTS - 1)] = 1;
    });
  }
}
