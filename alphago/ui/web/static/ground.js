// What of a board never changes: wood or felt, lines, stars, names, the frame of holes; and its paints.

import { inPixels, middleOf, UNIT } from "./geometry.js";
import { s } from "./elements.js";

/** @typedef {[number, string, number]} Stop offset, colour, opacity */

/** The box of the drawing: left, top, width, height. @param {GameView} game */
export const boxOf = ({ size, margin }) => inPixels([-margin, -margin, size[0] + 2 * margin, size[1] + 2 * margin]);

/** The light on pieces, their shadow, and the grain of wood, as gradients named by `id`: a document may hold several boards. @param {string} id */
export function paints(id) {
  const stop = (/** @type {Stop} */ [offset, colour, opacity]) => s("stop", { offset, "stop-color": colour, "stop-opacity": opacity });
  /** @type {(name: string, circle: number[], ...stops: Stop[]) => any} */
  const radial = (name, [cx, cy, r], ...stops) => s("radialGradient", { id: `${id}-${name}`, cx, cy, r }, stops.map(stop));
  return s("defs", {},
    radial("black", [0.36, 0.3, 0.75], [0, "#fff", 0.34], [0.25, "#fff", 0.12], [0.6, "#fff", 0], [1, "#000", 0.35]),
    radial("white", [0.36, 0.3, 0.8], [0, "#fff", 0.95], [0.45, "#fff", 0.25], [0.75, "#8a8374", 0.1], [1, "#5d5646", 0.5]),
    radial("shadow", [0.5, 0.5, 0.5], [0.55, "#1a1204", 0.5], [0.8, "#1a1204", 0.22], [1, "#1a1204", 0]),
    radial("hollow", [0.5, 0.4, 0.62], [0, "#000", 0.05], [0.7, "#000", 0.2], [1, "#000", 0.5]),
    radial("seed", [0.35, 0.3, 0.8], [0, "#fff", 0.7], [0.5, "#fff", 0.05], [1, "#000", 0.4]),
    s("linearGradient", { id: `${id}-sheen`, y2: 1 }, /** @type {Stop[]} */ ([[0, "#fff", 0.16], [0.5, "#fff", 0], [1, "#3a2200", 0.12]]).map(stop)));
}

/** What lies below the pieces. @param {GameView} game @param {string} id of the paints */
export function groundOf(game, id) {
  const { surface, size, cells, lines, edges, labels, stars, stone, stores } = game;
  const [x, y, width, height] = boxOf(game);
  const parts = surface === "holes" ? [s("rect.ag-back", { width: size[0] * UNIT, height: size[1] * UNIT, rx: 12 })]
    : [s("rect.ag-wood", { x, y, width, height }), s("rect", { x, y, width, height, fill: `url(#${id}-sheen)` })];
  const path = (/** @type {number[][]} */ all) => all.map(inPixels).map(([a, b, c, d]) => `M${a} ${b}L${c} ${d}`).join("");
  if (lines.length) parts.push(s("path.ag-lines", { d: path(lines) }));
  parts.push(...edges.map((own, side) => s("path", { d: path(own), class: `ag-edge ag-${side ? "white" : "black"}-edge` })));
  parts.push(...stars.map((cell) => middleOf(game, cell)).map(([cx, cy]) => s("circle.ag-star", { cx, cy, r: 3 })));
  if (surface === "houses") {
    const hollow = (/** @type {object} */ form, /** @type {string} */ tag) => [s(tag, { ...form, class: "ag-house" }),
      s(tag, { ...form, fill: `url(#${id}-hollow)`, class: "ag-deep" })];
    parts.push(...cells.map(inPixels).flatMap(([cx, cy]) => hollow({ cx, cy, r: stone * UNIT }, "circle")),
      ...stores.map(inPixels).flatMap(([left, top, wide, high]) => hollow({ x: left, y: top, width: wide, height: high, rx: high / 2 }, "rect")));
  }
  return [...parts, ...labels.map(([left, top, text]) => s("text.ag-label", { x: left * UNIT, y: top * UNIT }, text))];
}

/** What lies above the pieces: the frame with its holes. @param {GameView} game */
export function frameOf({ surface, size, cells, stone }) {
  if (surface !== "holes") return [];
  const r = stone * UNIT;
  const middles = cells.map(inPixels);
  const holes = middles.map(([x, y]) => `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`);
  const [wide, high] = inPixels(size).map((length) => length - 24);
  const edge = `M12 0h${wide}q12 0 12 12v${high}q0 12-12 12h${-wide}q-12 0-12-12v${-high}q0-12 12-12z`;
  return [s("path.ag-frame", { d: edge + holes.join(""), "fill-rule": "evenodd" }),
    ...middles.map(([cx, cy]) => s("circle.ag-rim", { cx, cy, r }))];
}
