// What the colours, numbers and marks of a study mean.

import { LOSSES, POINT_STEPS } from "./candidates.js";
import { h, s } from "./elements.js";
import { dot, swatch } from "./icons.js";
import { fill } from "./words.js";

/**
 * @param {import("../wire.js").GameView} game
 * @param {typeof import("./words.js").legend} words
 */
export function legendOf(game, words) {
  const [first, second] = game.sides;
  const range = LOSSES.map((colour, i) => h("li", {}, dot(colour),
    i < POINT_STEPS.length ? fill(words.upTo, POINT_STEPS[i], words.points) : fill(words.more, POINT_STEPS[i - 1], words.points)));
  const owner = (/** @type {string} */ colour, /** @type {string} */ stroke) => swatch(s("rect", { x: 4, y: 4, width: 12, height: 12, fill: colour, stroke,
    "stroke-width": 1.5 }));
  return h("div", {}, h("p", {}, words.discs), h("ul", {}, range),
    h("p", {}, words.numbers), h("p", {}, words.line),
    h("ul", {}, game.ownership && [h("li", {}, owner("#111", "#fff"), fill(words.becomes, first)),
      h("li", {}, owner("#fff", "#111"), fill(words.becomes, second))],
    game.mark && h("li", {}, `□ ${game.mark}`), h("li", {}, words.last), h("li", {}, words.better)), h("p", {}, fill(words.graph, first)));
}
