// The count of a finished game of Go, from which dead stones are taken (alphago/env/go_count.py).

import { Go } from "./go.js";
import { passAlive } from "./go_alive.js";

/** @typedef {import("./stones.js").Position} Position */

/**
 * The count with all stones alive if a game of Go ended by two passes, else null.
 * @param {Position} position
 */
export function countOf(position) {
  const passed = position instanceof Go && position.over && position.options.turns === null && position.passes >= 2;
  return passed ? new GoCount(position, []) : null;
}

export class GoCount {
  /**
   * @param {Go} position
   * @param {number[]} dead points
   * @param {string} engine the result of the count that was proposed, "" before
   */
  constructor(position, dead, engine = "") {
    this.position = position;
    this.dead = dead;
    this.engine = engine;
    const cleared = position.copy();
    for (const point of dead) cleared.board[point] = 0;
    this.owners = cleared.areas();
  }

  /** @param {number} point */
  chain(point) {
    const { of } = this.position.chains();
    return Array.from(of.keys()).filter((other) => of[point] && of[other] === of[point]);
  }

  /**
   * The count in which the chains are dead whose points are expected to become the other side's, pass-alive ones excepted.
   * @param {ArrayLike<number> | null} ownership for Black
   */
  proposed(ownership) {
    const { board } = this.position;
    const safe = [1, -1].map((side) => passAlive(this.position, side));
    /** @type {number[]} */
    const dead = [];
    const chains = new Set(Array.from(board.keys()).filter((point) => board[point]).map((point) => this.chain(point).join()));
    for (const text of ownership ? chains : []) {
      const chain = text.split(",").map(Number);
      const side = board[chain[0]];
      const kept = chain.reduce((sum, point) => sum + side * /** @type {ArrayLike<number>} */ (ownership)[point], 0);
      if (kept < 0 && !safe[side > 0 ? 0 : 1][chain[0]]) dead.push(...chain);
    }
    return new GoCount(this.position, dead, ownership ? new GoCount(this.position, dead).short : "");
  }

  /** @param {number[]} dead points */
  without(dead) {
    return new GoCount(this.position, dead);
  }

  /** @param {number} point */
  toggled(point) {
    const chain = this.chain(point);
    if (!chain.length) throw new Error("a point with a stone must be named");
    const others = this.dead.filter((other) => !chain.includes(other));
    return new GoCount(this.position, this.dead.includes(point) ? others : [...others, ...chain], this.engine);
  }

  get points() {
    return [1, -1].map((side) => this.owners.filter((owner) => owner === side).length);
  }

  get margin() {
    return this.points[0] - this.points[1] - this.position.options.komi;
  }

  get short() {
    return shortResult(this.margin) || "0";
  }

  view() {
    const { komi } = this.position.options;
    const bonuses = [Math.max(0, -komi), Math.max(0, komi)];
    const sides = this.points.map((points, i) => `${"BW"[i]} ${points} + ${bonuses[i]}`).join(", ");
    const other = this.engine === this.short ? "" : this.engine;
    return { text: `${sides}: ${this.short}${other && ` (the engine counts ${other})`}`, engine: other, points: this.points, bonuses,
      owners: Array.from(this.owners, (owner) => (owner > 0 ? "X" : owner < 0 ? "O" : ".")).join(""),
      dead: [...this.dead].sort((one, other) => one - other) };
  }
}

/**
 * A result in short, such as "B+2.5"; "" for a draw.
 * @param {number} margin Black's
 */
export const shortResult = (margin) => (margin ? `${margin > 0 ? "B" : "W"}+${Math.abs(margin)}` : "");
