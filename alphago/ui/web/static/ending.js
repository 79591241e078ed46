// The end of a game: the result, the moves that decided it, and what one may do next.

import { kindOf, LOSSES } from "./candidates.js";
import { h, percent } from "./elements.js";
import { button, dot } from "./icons.js";
import { decisive, lossesOf, lossText } from "./losses.js";
import { fill, say } from "./words.js";

const MOMENTS = 3; // most moves that are said to have decided the game
const LEAST_MOVES = 8; // of a game whose positions are evaluated at its end

/** A dot in the colour of a loss. @param {Loss} loss */
export const dotOf = ({ win, points }) => dot(LOSSES[kindOf(win, points)]);

/** Whether a game is over and has positions without evaluations, which a review would need to find the mistakes. @param {Desk} desk */
export function isToBeLookedInto({ jobs, tree }) {
  const line = tree.line();
  return Boolean(tree.result) && !jobs.busy && line.length > LEAST_MOVES && line.slice(0, -1).some(({ win }) => win === null);
}

/** The end of the game in the column: how it was counted, the moves that decided it, and buttons for another game. @param {App} app */
export function endingOf(app) {
  const { desk: { jobs, players, tree, tree: { count, view } } } = app;
  if (!tree.result) return h("div.ag-ending", { hidden: true, "data-name": "ending" });
  const line = tree.line();
  const found = decisive(lossesOf(line).filter(({ move }) => move !== view.pass), MOMENTS);
  /** What a move lost, and who was ahead after it. @param {Loss} loss */
  const momentOf = (loss) => {
    const [win] = loss.after;
    return fill(say.moment, loss.number, tree.side(loss.mover), view.names[loss.move], lossText(loss, true), tree.side(win - 0.5),
      percent(Math.max(win, 1 - win)));
  };
  const moments = jobs.busy === "review" ? [h("li", say.counting)] : found.map((loss) => h("li", {},
    h("button", { "data-node": loss.node, onclick: () => app.send("go", { node: line[loss.number - 1].node }) }, dotOf(loss), momentOf(loss))));
  /** The same game again. @param {string[]} sides who plays */
  const again = ([black, white]) => app.send("new", { game: view.name, black, white, setup: tree.game.setup ?? tree.game.wishes,
    options: Object.fromEntries(view.options.flatMap(({ name, value, at_start: atStart }) => (atStart ? [] : [[name, value]]))) });
  const counted = count?.points.map((points, i) => {
    const bonus = count.bonuses[i];
    return fill(bonus ? say.sum : say.per, view.sides[i], points, bonus, points + bonus);
  });
  return h("div.ag-ending#ending",
    h("div", { hidden: !count }, h("p#count", counted?.join(" · ")), h("div.ag-field", h("p.ag-small", say.clickDead),
      button("all-alive", () => app.send("all-alive"), { hidden: !count?.dead.length }))),
    h("div.ag-row", button("again", () => again(players), { class: "ag-main" }),
      button("exchanged", () => again([...players].reverse()), { hidden: players[0] === players[1] }),
      button("study-game", () => app.choose("study"))),
    h("div", { hidden: line.length <= LEAST_MOVES || !moments.length }, h("h2", found.some(({ rough }) => rough) ? say.quick : say.decided),
      h("ol.ag-moments#moments", moments)));
}
