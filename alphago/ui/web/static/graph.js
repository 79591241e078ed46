// The graph of a line: the first player's chance to win and lead, by move; a click goes there.

import { kindOf, LOSSES } from "./candidates.js";
import { margin, renew, s } from "./elements.js";
import { curvesOf, isMistake, lossesOf } from "./losses.js";
import { fill, say } from "./words.js";

const [LEFT, RIGHT, TOP, BOTTOM] = [34, 38, 5, 15]; // pixels
const LEAST_LEAD = 5; // points: the axis of leads reaches at least so far
const DOTTED = 5; // known positions have dots if each has so many pixels of the width
const STEEPEST = 0.4; // height of the bar of a mistake of the worst class, as a share of the graph's height

/** @param {number} x @param {number} y @param {string} text @param {string} anchor */
const label = (x, y, text, anchor, kind = "") => s("text", { x, y, "text-anchor": anchor, class: `ag-axis ${kind}` }, text);

/** Draw the graph of the line on the board. @param {App} app @param {HTMLElement} place */
export function drawGraph(app, place) {
  const { tree, tree: { node, view: { sides } } } = app.desk;
  const all = tree.line();
  const known = all.filter(({ win }) => win !== null).length;
  const { width, height: high } = place.getBoundingClientRect();
  if (!high) return; // not shown
  const right = width - RIGHT;
  const height = (/** @type {number} */ share) => TOP + (high - TOP - BOTTOM) * (1 - share);
  const x = (/** @type {number} */ i) => LEFT + (right - LEFT) * (all.length > 1 ? i / (all.length - 1) : 0);
  const { moves, wins, leads } = curvesOf(all);
  const most = Math.max(LEAST_LEAD, ...leads.map(([, lead]) => Math.abs(lead)));
  const path = (/** @type {Point[]} */ points) => points.map(([i, share], at) => `${at ? "L" : "M"}${x(i).toFixed(1)} ${height(share).toFixed(1)}`).join("");
  const lines = [path(wins), path(leads.map(([i, lead]) => [i, 0.5 + lead / most / 2])), moves.map(path).join("")];
  const dots = known * DOTTED < width ? all.flatMap((one, i) => (one.win === null ? []
    : [s("circle.ag-win-dot", { cx: x(i), cy: height(one.win), r: 1.8 })])) : [];
  const wide = Math.min(0.8 * (x(1) - LEFT), 5);
  const mistakes = lossesOf(all).filter(isMistake).map(({ number, win, points }) => {
    const kind = kindOf(win, points);
    const top = height(STEEPEST * kind / (LOSSES.length - 1));
    return s("rect", { x: x(number) - wide / 2, y: top, width: wide, height: height(0) - top, fill: LOSSES[kind], class: wide > 3 && "ag-mistake" });
  });
  const here = all.indexOf(node);
  const { score } = node;
  if (score !== null) dots.push(s("circle.ag-score-axis", { cx: x(here), cy: height(0.5 + score / most / 2), r: 3 }));
  const scored = all.some((one) => one.score !== null);
  place.onclick = ({ clientX }) => { // go to the position under a click
    const share = (clientX - place.getBoundingClientRect().left - LEFT) / (right - LEFT);
    app.send("go", { node: all[Math.round(Math.min(Math.max(share, 0), 1) * (all.length - 1))].node });
  };
  renew(place, [s("svg", { width: "100%", height: "100%", "aria-hidden": "true" },
    s("rect.ag-plot", { x: LEFT, y: TOP, width: right - LEFT, height: high - TOP - BOTTOM }),
    s("path", { d: `M${LEFT} ${height(0.5)}H${right}`, class: "ag-even" }),
    s("path", { d: `M${x(here)} ${TOP}V${high - BOTTOM}`, class: "ag-here" }),
    ...mistakes, ...lines.map((d, i) => s("path", { d, class: `ag-${["faint", "score", "win"][i]}-line` })), ...dots,
    ...[1, 0.5, 0].map((share) => label(LEFT - 3, height(share) + 7 * share, `${100 * share}%`, "end")),
    ...(scored ? [1, 0].map((share) => label(right + 6, height(share) + 7 * share, margin(most * (2 * share - 1), sides, 0), "start", "ag-score-axis")) : []),
    s("text.ag-axis", { x: 2, y: high - 3 }, s("tspan.ag-win-axis", fill(say.winKey, sides[0])),
      scored && s("tspan.ag-score-axis", say.leadKey), mistakes.length > 0 && [s("tspan", { fill: LOSSES[4] }, " ▮"), say.barKey]),
    label(width - 2, high - 3, String(all.length - 1), "end"))]);
}
