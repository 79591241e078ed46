// The planes of Go: sets of rule planes, or earlier boards (alphago/env/kernels/go_planes.py).

import { passAlive } from "./go_alive.js";

/** @typedef {import("./go.js").Go} Go */

/**
 * Write the planes that the network of a game reads.
 * @param {Go} go
 * @param {Float32Array} out
 */
export function goPlanes(go, out) {
  if (typeof go.options.planes === "number") boardPlanes(go, out);
  else rulePlanes(go, go.options.planes, out);
}

/**
 * @param {Go} go
 * @param {Float32Array} out
 */
function boardPlanes(go, out) {
  const points = go.board.length;
  out.fill(0);
  [go.board, ...go.boards].forEach((board, age) => {
    for (let point = 0; point < points; point += 1) {
      if (board[point]) out[(2 * age + (board[point] === go.toPlay ? 0 : 1)) * points + point] = 1;
    }
  });
  if (go.toPlay > 0) out.fill(1, 2 * go.history * points);
}

/**
 * @param {Go} go
 * @param {string} set "rules", "turns" or "alive"
 * @param {Float32Array} out
 */
function rulePlanes(go, set, out) {
  const { board, toPlay, latest } = go;
  const points = board.length;
  const legal = go.legal();
  const areas = go.areas();
  const { of, liberties } = go.chains();
  out.fill(0);
  for (let point = 0; point < points; point += 1) {
    const stone = board[point] * toPlay;
    if (stone) {
      out[(stone > 0 ? 0 : 1) * points + point] = 1;
      out[(1 + Math.min(liberties[of[point]], 3)) * points + point] = 1;
    } else {
      if (!legal[point]) out[5 * points + point] = 1;
      if (areas[point]) out[(areas[point] === toPlay ? 9 : 10) * points + point] = 1;
    }
  }
  latest.forEach((action, age) => {
    if (action < points) out[(6 + age) * points + action] = 1;
  });
  const margin = toPlay * (areas.reduce((sum, owner) => sum + owner, 0) - go.options.komi);
  const constants = [1, go.passes > 0 ? 1 : 0, (-toPlay * go.options.komi) / 10, Math.min(Math.max(margin / 10, -3), 3),
    Math.sign(margin)];
  constants.forEach((value, i) => out.fill(value, (11 + i) * points, (12 + i) * points));
  if (set === "rules") return;
  for (const point of go.options.suicide ? go.forbiddenPoints() : go.koPoints()) out[16 * points + point] = 1;
  if (set === "alive") {
    passAlive(go, toPlay).forEach((alive, point) => { out[17 * points + point] = alive; });
    passAlive(go, -toPlay).forEach((alive, point) => { out[18 * points + point] = alive; });
  }
  const left = (go.options.max_moves - go.ply) / (2 * points);
  const place = set === "alive" ? 19 : 17;
  out.fill(Math.min(left, 1), place * points, (place + 1) * points);
}
