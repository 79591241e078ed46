// What the colours, numbers and keys of the page mean.

import { LOSSES, POINT_STEPS, RATE_STEPS } from "./candidates.js";
import { h, s } from "./elements.js";

/** @typedef {import("./wire.js").GameView} GameView */

/** @param {GameView} game */
export function legendOf(game) {
  const [first, second] = game.sides;
  const swatch = (/** @type {string} */ colour) => s("svg", { viewBox: "0 0 20 20", class: "ag-swatch" },
    s("circle", { cx: 10, cy: 10, r: 8, fill: colour }));
  const range = (/** @type {number[]} */ steps, /** @type {string} */ unit) => LOSSES.map((colour, i) => h("li", {}, swatch(colour),
    i < steps.length ? `up to ${steps[i]} ${unit}` : `more than ${steps[i - 1]} ${unit}`));
  const owner = (/** @type {string} */ fill, /** @type {string} */ stroke) => s("svg", { viewBox: "0 0 20 20", class: "ag-swatch" },
    s("rect", { x: 4, y: 4, width: 12, height: 12, fill, stroke, "stroke-width": 1.5 }));
  return h("div", {},
    h("p", {}, "A coloured disc is a move that the engine has tried; the ring is around the best one. ",
      "A faint disc has few visits; with less than a hundredth of the best one's there is none. Its colour is what the move gives away against the best:"),
    h("ul", {}, range(POINT_STEPS, "points")),
    h("p", {}, `where no score is known, the chance to win, in steps of ${RATE_STEPS.join(", ")} %.`),
    h("p", {}, "Numbers, from the view of the side to move: ", h("b", {}, "difference"),
      " in points (else in % of the chance to win), visits below it; ", h("b", {}, "visits"),
      ", simulations through the move; ", h("b", {}, "prior"), ", what the network alone gives it, in %; ",
      h("b", {}, "Q"), ", the mean value of its simulations, −1 to 1; ", h("b", {}, "Q + prior"), ", their sum."),
    h("p", {}, "Point at a move to see the line that is expected, numbered: with the mouse, with a finger that stays on it, ",
      "by a tap in the list, with the cursor, or with the keys 1 to 6 in the list's order."),
    h("ul", {}, h("li", {}, owner("#111", "#fff"), `becomes ${first}'s`), h("li", {}, owner("#fff", "#111"),
      `becomes ${second}'s; a larger square is surer`), game.mark && h("li", {}, `□ ${game.mark}`),
      h("li", {}, "○ in the stone: the last move")),
    h("p", {}, `Graph: the line is ${first}'s chance to win, 100 % on top; the dashed line is ${first}'s lead in points. `,
      `Click it to go there. Chances and leads are always ${first}'s, whoever is to move.`),
    h("p", {}, "Keys: ← → a move back or on, Home End first and last, ↑ ↓ other variations, Space study, A analyse, ",
      "Escape stop, M engine moves, P pass, U undo, Y redo, N new game, R review, D other numbers, O ownership, ",
      "K move numbers, 1 to 6 the lines of the listed moves, S save, L copy the link, / type a move; ",
      "Shift and arrows move a cursor on the board, Enter plays there."));
}
