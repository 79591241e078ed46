// The count of a finished game of Go, from which dead stones are taken (alphago/env/go_count.py).

import { Go, startOf } from "./rules.js";

/** @typedef {import("./position.js").Position} Position */

/**
 * The count of a game of Go that ended by two passes; null for other positions.
 * @param {Position} position
 * @param {number[]} dead points of stones
 * @returns {CountView | null}
 */
export function countOf(position, dead) {
  const passed = [position, position.parent].every((after) => after?.action === position.game.points);
  if (!(position instanceof Go) || !position.over || position.game.options.turns !== null || !passed) return null;
  const stones = position.cells().map((stone, point) => (dead.includes(point) ? 0 : stone));
  const owners = /** @type {Int8Array} */ (startOf("go", { ...position.game.options, handicap: [], stones }).owners()); // Black is to move
  const { komi } = position.game.options;
  const points = /** @type {[number, number]} */ ([1, -1].map((side) => owners.filter((owner) => owner === side).length));
  const bonuses = /** @type {[number, number]} */ ([Math.max(0, -komi), Math.max(0, komi)]);
  const signs = Array.from(owners, (owner) => (owner > 0 ? "X" : owner < 0 ? "O" : "."));
  return { points, bonuses, owners: signs.join(""), dead: [...dead].sort((one, other) => one - other) };
}

/**
 * The stones of the chains whose points are expected to become the other side's, without those that are pass-alive.
 * @param {Go} position
 * @param {ArrayLike<number>} ownership for Black
 */
export function deadStones(position, ownership) {
  const [stones, chains, alive] = [position.cells(), position.chains(), position.alive()];
  /** @type {Record<number, number>} by chain, what is kept of its points */
  const kept = {};
  stones.forEach((side, point) => { kept[chains[point]] = (kept[chains[point]] || 0) + side * ownership[point]; });
  return Array.from(stones.keys()).filter((point) => stones[point] && kept[chains[point]] < 0
    && alive[point] * position.toPlay !== stones[point]);
}

/**
 * The dead stones after a click on a point, which turns its chain from dead to alive or from alive to dead.
 * @param {Go} position
 * @param {number[]} dead
 * @param {number} point
 */
export function toggled(position, dead, point) {
  const chains = position.chains();
  if (!chains[point]) throw new Error("a point with a stone must be named");
  const others = dead.filter((other) => chains[other] !== chains[point]);
  return dead.includes(point) ? others : [...others, ...Array.from(chains.keys()).filter((other) => chains[other] === chains[point])];
}

/** Black's margin. @param {Pick<CountView, "points" | "bonuses">} count */
export const marginOf = ({ points, bonuses }) => points[0] + bonuses[0] - points[1] - bonuses[1];
