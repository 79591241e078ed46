// The count of a finished game: territory and dead stones on the board, and what is said and clicked beside it.

import { h, s } from "./elements.js";

/** @typedef {import("./board.js").Board} Board */

const DOT = 4; // pixels, of a point that a side owns
const CROSS = 9; // pixels, of a dead stone

/**
 * @param {Board} board
 * @param {import("./surface.js").Surface} surface
 */
export function countMarks(board, surface) {
  const { count, view } = board.state;
  if (!count) return [];
  const dead = new Set(count.dead);
  const dots = [...count.owners].flatMap((owner, cell) => {
    if (owner === "." || (view.stones?.[cell] !== "." && !dead.has(cell))) return [];
    const [cx, cy] = surface.at(cell);
    return [s("circle", { cx, cy, r: DOT, class: owner === "X" ? "ag-owner ag-owner-black" : "ag-owner ag-owner-white" })];
  });
  const crosses = count.dead.map((cell) => {
    const [x, y] = surface.at(cell);
    return s("path", { class: "ag-dead",
      d: `M${x - CROSS} ${y - CROSS}l${2 * CROSS} ${2 * CROSS}m0 ${-2 * CROSS}l${-2 * CROSS} ${2 * CROSS}` });
  });
  return [...crosses, ...dots];
}

/** @param {import("./wire.js").StateMessage} state */
export function countText({ count, result, busy }) {
  if (!count || !result) return "";
  return `${result.text}. ${count.text}${busy === "count" ? " · looking for dead stones …" : ". Click a group that is dead, or dead no more."}`;
}

/** @param {Board} board */
export function allAliveButton(board) {
  return h("button", { type: "button", hidden: true, title: "no stone on the board is dead", "data-name": "all-alive",
    onclick: () => board.send("all-alive") }, "Count all stones as alive");
}
