// What the colours, numbers and marks of a study mean.

import { LOSSES, POINT_STEPS, RATE_STEPS } from "./candidates.js";
import { h, s } from "./elements.js";
import { dot, swatch } from "./icons.js";
import { fill, legend } from "./words.js";

const INKS = ["#111", "#fff"];

/** @param {GameView} game */
export function legendOf(game) {
  const [steps, unit] = game.ownership ? [POINT_STEPS, legend.points] : [RATE_STEPS, "%"];
  const range = LOSSES.map((colour, i) => h("li", {}, dot(colour), fill(steps[i] ? legend.upTo : legend.more, steps[i] || steps[i - 1], unit)));
  const owners = game.sides.map((side, i) => h("li", {}, swatch(s("rect", { x: 4, y: 4, width: 12, height: 12, fill: INKS[i], stroke: INKS[1 - i],
    "stroke-width": 1.5 })), fill(legend.becomes, side)));
  return h("div", {}, h("p", {}, legend.discs), h("ul", {}, range),
    h("p", {}, legend.numbers), h("p", {}, legend.line),
    h("ul", {}, game.territory && owners,
    game.mark && h("li", {}, `□ ${game.mark}`), h("li", {}, legend.last), h("li", {}, legend.better)), h("p", {}, fill(legend.graph, game.sides[0])));
}
