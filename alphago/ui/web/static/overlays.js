// What an analysis draws over the board: discs of moves, the stones of an expected line, owners, and the cursor.

import { DARK_TEXT, LOSSES, lossOf, numbersOf } from "./candidates.js";
import { s } from "./elements.js";
import { COLOURS } from "./wire.js";

/** @typedef {import("./board.js").Board} Board */
/** @typedef {import("./surface.js").Surface} Surface */
/** @typedef {import("./wire.js").AnalysisView} AnalysisView */

const UNSEEN = "#5aa2d6"; // the colour of a move whose loss is not known
const LEAST_OWNER = 8; // percent; a point that is less anyone's has no square

/**
 * @param {Board} board
 * @param {Surface} surface
 */
export function overlays(board, surface) {
  const found = board.analysis();
  const parts = [];
  if (found) {
    const line = board.hovered === null ? undefined : board.lineOf(board.hovered);
    const above = line && board.state.view.stones ? ghosts(board, surface, line.line, found.mover) : discs(board, surface, found);
    if (found.ownership && board.look.ownership && board.game.ownership) {
      const hidden = new Set(above.map((one) => one.dataset.at).filter(Boolean).map(Number));
      parts.push(...owners(surface, found.ownership, hidden));
    }
    parts.push(...above);
  }
  const chosen = board.cursorAction();
  if (chosen !== null) {
    const cell = surface.landing(chosen, board.state.view.toPlay, () => false);
    const [x, y] = surface.at(/** @type {number} */ (cell)); // an action that can be clicked has one
    parts.push(s("rect", { x: x - 19, y: y - 19, width: 38, height: 38, class: "ag-cursor" }));
  }
  return parts;
}

/**
 * @param {Surface} surface
 * @param {number[]} ownership
 * @param {Set<number>} hidden cells
 */
function owners(surface, ownership, hidden) {
  return ownership.flatMap((value, cell) => {
    const side = 15 * Math.sqrt(Math.abs(value) / 100);
    if (Math.abs(value) < LEAST_OWNER || hidden.has(cell)) return [];
    const [x, y] = surface.at(cell);
    return [s("rect", { x: x - side / 2, y: y - side / 2, width: side, height: side,
      class: value > 0 ? "ag-owner ag-owner-black" : "ag-owner ag-owner-white" })];
  });
}

/**
 * @param {Board} board
 * @param {Surface} surface
 * @param {AnalysisView} found
 */
function discs(board, surface, found) {
  const best = found.moves[0];
  const most = best ? best.visits : 0;
  const stones = board.state.view.stones || "";
  const parts = [];
  const byPrior = board.look.mode === "prior";
  for (const move of [...found.moves].reverse()) {
    const cell = surface.landing(move.move, found.mover, (each) => stones[each] === ".");
    if (cell === null || (!byPrior && most > 0 && move.visits < Math.max(1, most / 100))) continue; // too few to mean much
    const kind = move.visits && most ? lossOf(move, best).kind : null;
    const share = byPrior || !most ? move.prior : Math.min(1, move.visits / most);
    const strong = 0.35 + 0.65 * Math.sqrt(share);
    const [first, second] = numbersOf(move, best, board.look.mode);
    const colour = strong < 0.6 || kind === null ? "#000" : DARK_TEXT[kind];
    const [x, y] = surface.at(cell);
    parts.push(s("circle", { cx: x, cy: y, r: 17.5, class: "ag-base" }),
      s("circle", { cx: x, cy: y, r: 17.5, fill: kind === null ? UNSEEN : LOSSES[kind], "fill-opacity": strong.toFixed(2),
        class: "ag-disc", "data-move": board.game.names[move.move], "data-at": move.move }));
    if (move === best) parts.push(s("circle", { cx: x, cy: y, r: 18, class: "ag-best" }));
    if (first) parts.push(s("text", { x, y: second ? y - 4 : y, class: first.length > 4 ? "ag-value ag-long" : "ag-value",
      fill: colour }, first));
    if (first && second) parts.push(s("text", { x, y: y + 9, class: "ag-visits", fill: colour }, second));
  }
  return parts;
}

/**
 * @param {Board} board
 * @param {Surface} surface
 * @param {number[]} line
 * @param {number} mover
 */
function ghosts(board, surface, line, mover) {
  const stones = [...(board.state.view.stones || "")];
  /** @type {any[]} */
  const parts = [];
  const shown = new Set();
  line.forEach((action, i) => {
    const player = i % 2 ? -mover : mover;
    const cell = surface.landing(action, player, (each) => stones[each] === ".");
    if (cell === null || shown.has(cell)) return;
    shown.add(cell);
    stones[cell] = player > 0 ? "X" : "O";
    const [x, y] = surface.at(cell);
    parts.push(s("circle", { cx: x, cy: y, r: 17, class: `ag-piece ag-ghost ag-${COLOURS[player]}`, "data-at": cell }),
      s("text", { x, y, class: `ag-number ag-on-${COLOURS[player]}` }, i + 1));
  });
  return parts;
}
