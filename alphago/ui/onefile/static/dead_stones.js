// The count of a finished game of Go, from which dead stones are taken (alphago/env/go_count.py).

import { Go } from "./go.js";
import { passAlive } from "./go_alive.js";

/** @typedef {import("./position.js").Position} Position */

/**
 * The count of a game of Go that ended by two passes; null for other positions.
 * @param {Position} position
 * @param {number[]} dead points of stones
 * @returns {CountView | null}
 */
export function countOf(position, dead) {
  if (!(position instanceof Go) || !position.over || position.options.turns !== null || position.passes < 2) return null;
  const cleared = position.copy();
  for (const point of dead) cleared.board[point] = 0;
  const owners = cleared.areas();
  const { komi } = position.options;
  const points = /** @type {[number, number]} */ ([1, -1].map((side) => owners.filter((owner) => owner === side).length));
  const bonuses = /** @type {[number, number]} */ ([Math.max(0, -komi), Math.max(0, komi)]);
  const signs = Array.from(owners, (owner) => (owner > 0 ? "X" : owner < 0 ? "O" : "."));
  return { points, bonuses, owners: signs.join(""), dead: [...dead].sort((one, other) => one - other) };
}

/**
 * The stones of the chains whose points are expected to become the other side's, pass-alive ones excepted.
 * @param {Go} position
 * @param {ArrayLike<number>} ownership for Black
 */
export function deadStones(position, ownership) {
  const { board } = position;
  const safe = [1, -1].map((side) => passAlive(position, side));
  return position.groups(board).filter((chain) => {
    const side = board[chain[0]];
    const kept = chain.reduce((sum, point) => sum + side * ownership[point], 0);
    return kept < 0 && !safe[side > 0 ? 0 : 1][chain[0]];
  }).flat();
}

/**
 * The dead stones, once a click has changed whether those of a chain are.
 * @param {Go} position
 * @param {number[]} dead
 * @param {number} point
 */
export function toggled(position, dead, point) {
  if (!position.board[point]) throw new Error("a point with a stone must be named");
  const chain = position.group(point, position.board);
  const others = dead.filter((other) => !chain.includes(other));
  return dead.includes(point) ? others : [...others, ...chain];
}

/** Black's margin. @param {Pick<CountView, "points" | "bonuses">} count */
export const marginOf = ({ points, bonuses }) => points[0] + bonuses[0] - points[1] - bonuses[1];

/**
 * A result in short, such as "B+2.5"; "" for a draw.
 * @param {number} margin Black's
 */
export const shortResult = (margin) => (margin ? `${margin > 0 ? "B" : "W"}+${Math.abs(margin)}` : "");
