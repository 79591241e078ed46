// What the colours, numbers and marks of a study mean.

import { LOSSES, POINT_STEPS, RATE_STEPS } from "./candidates.js";
import { h, s } from "./elements.js";
import { dot, swatch } from "./icons.js";
import { fill } from "./words.js";

const INKS = ["#111", "#fff"];

/** @param {GameView} game @param {typeof import("./words.js").legend} words */
export function legendOf(game, words) {
  const [steps, unit] = game.ownership ? [POINT_STEPS, words.points] : [RATE_STEPS, "%"];
  const range = LOSSES.map((colour, i) => h("li", {}, dot(colour), fill(steps[i] ? words.upTo : words.more, steps[i] || steps[i - 1], unit)));
  const owners = game.sides.map((side, i) => h("li", {}, swatch(s("rect", { x: 4, y: 4, width: 12, height: 12, fill: INKS[i], stroke: INKS[1 - i],
    "stroke-width": 1.5 })), fill(words.becomes, side)));
  return h("div", {}, h("p", {}, words.discs), h("ul", {}, range),
    h("p", {}, words.numbers), h("p", {}, words.line),
    h("ul", {}, game.ownership && owners,
    game.mark && h("li", {}, `□ ${game.mark}`), h("li", {}, words.last), h("li", {}, words.better)), h("p", {}, fill(words.graph, game.sides[0])));
}
