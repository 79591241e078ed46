// Icons, each drawn in a square of 24; a word always stands beside or in the title.

import { h, s } from "./elements.js";
import { buttons } from "./words.js";

/** @type {Record<string, string>} */
const PATHS = {
  pass: "M5 12h10M11 7l5 5-5 5M19 6v12",
  undo: "M9 7L4 12l5 5M4 12h10a5 5 0 0 1 0 10h-2",
  redo: "M15 7l5 5-5 5M20 12H10a5 5 0 0 0 0 10h2",
  resign: "M6 21V4M6 5h11l-2 3.5L17 12H6",
  first: "M18 6l-7 6 7 6zM7 6v12",
  back: "M16 5l-9 7 9 7z",
  on: "M8 5l9 7-9 7z",
  last: "M6 6l7 6-7 6zM17 6v12",
  new: "M12 5v14M5 12h14",
  open: "M3 18V6h6l2 3h10v9z",
  save: "M12 4v11M7 11l5 5 5-5M4 20h16",
  take: "M11 13L3 10l17-6-6 17zl9-9",
  link: "M10 14a4 4 0 0 0 6 0l3-3a4 4 0 0 0-6-6l-1 1M14 10a4 4 0 0 0-6 0l-3 3a4 4 0 0 0 6 6l1-1",
  analyse: "M4 19l5-7 4 4 7-10",
  shows: "M4 8h16M4 16h16M15 5v6M9 13v6",
  review: "M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM16 16l5 5",
};

/** @param {any} shape in a square of 20 */
export const swatch = (shape) => s("svg", { viewBox: "0 0 20 20", class: "ag-swatch", "aria-hidden": "true" }, shape);

/** @param {string} fill */
export const dot = (fill) => swatch(s("circle.ag-dot", { cx: 10, cy: 10, r: 8, fill }));

/** A button with an icon, a word, or both. @param {string} name @param {() => void} action @param {Record<string, any>} [more] attributes, and another `word` */
export function button(name, action, { word = buttons[name][0], ...more } = {}) {
  const [, title] = buttons[name];
  return h("button", { title, onclick: action, "data-name": name, "aria-label": /\w/.test(word) ? null : title, ...more },
    PATHS[name] && s("svg", { viewBox: "0 0 24 24", class: "ag-icon", "aria-hidden": "true" }, s("path", { d: PATHS[name] })), word && h("span", word));
}

/** A box to tick, in its label. @param {string} name @param {(checked: boolean) => void} action @param {boolean} checked @param {boolean} [hidden] */
export function box(name, action, checked, hidden) {
  const [text, title] = buttons[name];
  return h("label.ag-check", { title, hidden }, h("input", { type: "checkbox", "data-name": name, checked,
    onchange: (/** @type {any} */ { target }) => action(target.checked) }), text);
}
