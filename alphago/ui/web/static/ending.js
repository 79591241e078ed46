// The end of a game: the result, the moves that decided it, and what one may do next.

import { kindOf, LOSSES } from "./candidates.js";
import { h, percent } from "./elements.js";
import { button, dot } from "./icons.js";
import { decisive, lossesOf, lossText } from "./losses.js";
import { fill, say } from "./words.js";

const MOMENTS = 3;
const LEAST_MOVES = 8; // of a game that is looked into

/** A dot in the colour of a loss. @param {Loss} loss */
export const dotOf = ({ win, points }) => dot(LOSSES[kindOf(win, points)]);

/** Whether a game is over of which a look at each position would tell the mistakes. @param {Desk} desk */
export function isToBeLookedInto({ jobs, tree }) {
  const line = tree.line();
  return Boolean(tree.result) && !jobs.busy && line.length > LEAST_MOVES && line.slice(0, -1).some(({ win }) => win === null);
}

/** @param {App} app */
export function endingOf(app) {
  const { desk, desk: { jobs, players, tree, tree: { count, view } } } = app;
  if (!tree.result) return h("div", { class: "ag-ending", hidden: true, "data-name": "ending" });
  const line = tree.line();
  const found = decisive(lossesOf(line).filter(({ move }) => move !== view.pass), MOMENTS);
  /** What a move lost, and who was ahead after it. @param {Loss} loss */
  const momentOf = (loss) => fill(say.moment, loss.number, tree.side(loss.mover), view.names[loss.move], lossText(loss, true), tree.side(loss.after[0] - 0.5),
    percent(Math.max(loss.after[0], 1 - loss.after[0])));
  const moments = jobs.busy === "review" ? [h("li", {}, say.counting)] : found.map((loss) => h("li", {},
    h("button", { onclick: () => app.send("go", { node: line[loss.number - 1].node }) }, dotOf(loss), momentOf(loss))));
  /** The same game again. @param {string[]} sides who plays */
  const again = ([black, white]) => app.send("new", { game: view.name, black, white,
    options: Object.fromEntries(view.options.flatMap(({ name, value, at_start: atStart }) => (atStart ? [] : [[name, value]]))) });
  const counted = count?.points.map((points, i) => fill(count.bonuses[i] ? say.sum : say.per, view.sides[i], points, count.bonuses[i], points + count.bonuses[i]));
  return h("div", { class: "ag-ending", "data-name": "ending" },
    h("div", { hidden: !count }, h("p", { "data-name": "count" }, counted?.join(" · ")), h("div", { class: "ag-field" }, h("p", { class: "ag-small" }, say.clickDead),
      button("all-alive", () => desk.send({ type: "all-alive" }), { hidden: !count?.dead.length }))),
    h("div", { class: "ag-row" }, button("again", () => again(players), { class: "ag-main" }),
      button("exchanged", () => again([...players].reverse()), { hidden: players[0] === players[1] }), button("study-game", () => app.choose("study"))),
    h("div", { hidden: line.length <= LEAST_MOVES || !moments.length }, h("h2", {}, found.some(({ rough }) => rough) ? say.quick : say.decided),
      h("ol", { class: "ag-moments", "data-name": "moments" }, moments)));
}
