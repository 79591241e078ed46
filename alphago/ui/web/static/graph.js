// The graph of a line: the first player's chance to win and lead, by move; a click goes there.

import { kindOf, LOSSES } from "./candidates.js";
import { margin, percent, renew, s, short } from "./elements.js";
import { isMistake, lossesOf } from "./losses.js";
import { fill, say } from "./words.js";

/** @typedef {import("./game_state.js").Knot} Knot */

const [WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [360, 96, 32, 36, 5, 13];
const LEAST_LEAD = 5; // points, the least that the axis of leads reaches to
const DOTTED = 60; // fewer positions than this have a dot each

/** @param {number} share */
const height = (share) => TOP + (HEIGHT - TOP - BOTTOM) * (1 - share);

/**
 * @param {number} x
 * @param {number} y
 * @param {string} text
 * @param {string} anchor
 */
const label = (x, y, text, anchor, kind = "") => s("text", { x, y, "text-anchor": anchor, class: `ag-axis ${kind}` }, text);

export class Graph {
  /** @param {import("./app.js").App} app */
  constructor(app) {
    this.app = app;
    this.element = s("svg", { class: "ag-graph", role: "img", "aria-label": say.graph,
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`, onclick: (/** @type {MouseEvent} */ event) => this.click(event) });
  }

  draw() {
    const all = this.app.known.line();
    const { node } = this.app.state;
    const x = (/** @type {number} */ i) => LEFT + (WIDTH - LEFT - RIGHT) * (all.length > 1 ? i / (all.length - 1) : 0);
    const most = Math.max(LEAST_LEAD, ...all.map((one) => Math.abs(one.score ?? 0)));
    const path = (/** @type {(one: Knot) => number | null} */ value) => all.map(value)
      .flatMap((share, i) => (share === null ? [] : [`${x(i).toFixed(1)} ${height(share).toFixed(1)}`])).join("L");
    const lines = [
      { kind: "ag-score-line", points: path((one) => (one.score === null ? null : 0.5 + one.score / (2 * most))) },
      { kind: "ag-win-line", points: path((one) => one.win) },
    ];
    const known = all.filter((one) => one.win !== null).length;
    const dots = known < DOTTED ? all.flatMap((one, i) => (one.win === null ? []
      : [s("circle", { cx: x(i), cy: height(one.win), r: 1.8, class: "ag-win-dot" })])) : [];
    const mistakes = lossesOf(all).filter(isMistake).map((loss) => s("circle", { cx: x(loss.number), cy: height(all[loss.number].win ?? 0.5),
      r: 3.4, fill: LOSSES[kindOf(loss.win, loss.points)], class: "ag-mistake" }));
    const scored = all.some((one) => one.score !== null);
    renew(this.element, [
      s("rect", { x: LEFT, y: TOP, width: WIDTH - LEFT - RIGHT, height: HEIGHT - TOP - BOTTOM, class: "ag-plot" }),
      s("path", { d: `M${LEFT} ${height(0.5)}H${WIDTH - RIGHT}`, class: "ag-even" }),
      s("path", { d: `M${x(all.findIndex((one) => one.node === node))} ${TOP}V${HEIGHT - BOTTOM}`, class: "ag-here" }),
      ...lines.map(({ kind, points }) => s("path", { d: points && `M${points}`, class: kind })), ...dots, ...mistakes,
      label(LEFT - 3, height(1) + 7, "100%", "end"), label(LEFT - 3, height(0.5) + 3, "50%", "end"),
      label(LEFT - 3, height(0), "0%", "end"),
      ...(scored ? [label(WIDTH - RIGHT + 3, height(1) + 7, `B+${most.toFixed(0)}`, "start", "ag-score-axis"),
        label(WIDTH - RIGHT + 3, height(0), `W+${most.toFixed(0)}`, "start", "ag-score-axis")] : []),
      label(LEFT, HEIGHT - 3, "0", "middle"), label(WIDTH - RIGHT, HEIGHT - 3, String(all.length - 1), "middle")]);
  }

  // What is known of the position on the board.
  text() {
    const { known, state: { node, analysis } } = this.app;
    const here = known.knot(node);
    if (here.win === null) return say.unknown;
    return [fill(say.chance, known.side(1), percent(here.win, 1)), here.score === null ? "" : margin(here.score),
      analysis ? analysis.visits > 1 ? fill(say.visitsHere, short(analysis.visits)) : say.netAlone : ""].filter(Boolean).join(", ");
  }

  /** @param {MouseEvent} event */
  click(event) {
    const { line } = this.app.state;
    const box = this.element.getBoundingClientRect();
    const share = ((event.clientX - box.left) / box.width * WIDTH - LEFT) / (WIDTH - LEFT - RIGHT);
    const index = Math.round(Math.min(Math.max(share, 0), 1) * (line.length - 1));
    this.app.send("go", { node: line[index] });
  }
}
