// Pass-alive points by Benson's algorithm (alphago/env/kernels/go_alive.py): D. B. Benson, "Life in the Game of Go",
// Information Sciences 10 (1976).

/** @typedef {import("./go.js").Go} Go */

const VITAL = 2; // vital regions that a pass-alive chain needs

/**
 * The pass-alive stones of a colour, and the points of the regions that are vital to them, as ones.
 * @param {Go} go
 * @param {number} colour
 */
export function passAlive(go, colour) {
  const { of, liberties } = go.chains();
  let regions = go.groups(go.board.map((stone) => Number(stone !== colour))).map((points) => ({ points, ...chainsOf(go, colour, points) }));
  let counts = new Int16Array(liberties.length);
  for (let left = -1; left !== regions.length;) {
    left = regions.length;
    counts = new Int16Array(liberties.length);
    for (const { vital } of regions) for (const chain of vital) counts[chain] += 1;
    regions = regions.filter(({ touched }) => touched.every((chain) => counts[chain] >= VITAL));
  }
  const alive = Uint8Array.from(go.board, (stone, point) => (stone === colour && counts[of[point]] >= VITAL ? 1 : 0));
  for (const { points, vital } of regions) if (vital.length) for (const point of points) alive[point] = 1;
  return alive;
}

/**
 * The legal moves without own eyes and without points that are pass-alive already; in an own area with stones of the other
 * side, which count until they are captured, points stay in (`GoBatch.sensible_mask`).
 * @param {Go} go
 */
export function sensibleMoves(go) {
  const sensible = go.legal();
  const [own, others] = [passAlive(go, go.toPlay), passAlive(go, -go.toPlay)];
  const owners = go.owners();
  const clean = !own.some((alive, point) => alive && owners[point] < 0);
  for (let point = 0; point < own.length; point += 1) {
    if ((clean && own[point]) || others[point] || isOwnEye(go, point)) sensible[point] = 0;
  }
  return sensible;
}

/**
 * Whether an empty point is an eye of the mover that one move cannot make false.
 * @param {Go} go
 * @param {number} point
 */
function isOwnEye({ board, near, toPlay, width }, point) {
  if (near[point].some((other) => board[other] !== toPlay)) return false;
  const [row, column] = [Math.floor(point / width), point % width];
  const corners = [[-1, -1], [-1, 1], [1, -1], [1, 1]].map(([down, right]) => [row + down, column + right])
    .filter(([y, x]) => Math.min(x, y) >= 0 && Math.max(x, y) < width);
  return corners.filter(([y, x]) => board[y * width + x] === -toPlay).length + Number(corners.length < 4) < 2;
}

/**
 * The chains that a region touches, and those to which it is vital: they touch all of its empty points, or of all its
 * points if suicide is allowed.
 * @param {Go} go
 * @param {number} colour
 * @param {number[]} points
 */
function chainsOf(go, colour, points) {
  const { of } = go.chains();
  /** @param {number} point */
  const beside = (point) => go.near[point].filter((other) => go.board[other] === colour).map((other) => of[other]);
  const touched = [...new Set(points.flatMap(beside))];
  const must = points.filter((point) => go.options.suicide || !go.board[point]).map(beside);
  const vital = must.length ? touched.filter((chain) => must.every((chains) => chains.includes(chain))) : [];
  return { touched, vital };
}
