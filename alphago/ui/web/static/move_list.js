// The moves of the current line with what each gave away; a click goes there.

import { kindOf, LOSSES } from "./candidates.js";
import { h } from "./elements.js";
import { COLOURS } from "./geometry.js";
import { button, dot } from "./icons.js";
import { isMistake, lossesOf, lossText, nextMistake } from "./losses.js";
import { fill, say } from "./words.js";

/** A dot in the colour of a loss. @param {Loss} loss */
export const dotOf = ({ win, points }) => dot(LOSSES[kindOf(win, points)]);

/** The list of the moves played. @param {App} app @param {boolean} judged whether it has what each move gave away */
export function moveList(app, judged) {
  const { tree, tree: { current, view } } = app.desk;
  const line = tree.line();
  const losses = new Map((judged ? lossesOf(line) : []).map((loss) => [loss.node, loss]));
  /** @param {string} name @param {number} by */
  const step = (name, by) => button(name, () => app.mistake(by), { disabled: nextMistake(line, current, by) === undefined });
  const rows = line.slice(1).map(({ node, mover, move }, i) => {
    const loss = losses.get(node);
    const isHere = node === current;
    const more = { class: isHere && "ag-here-row", "data-node": node, "aria-current": isHere && "step" };
    return h("li", h("button", { ...more, onclick: () => app.send("go", { node }) }, h("span.ag-small", i + 1),
      h(`span.ag-stone.ag-${COLOURS[mover]}`, { title: tree.side(mover) }), view.names[move],
      loss && isMistake(loss) && [h("span.ag-small", lossText(loss)), dotOf(loss)]));
  });
  return h("div.ag-list", { hidden: line.length < 2 },
    h("div.ag-row", !judged ? h("h2", say.moves) : [h("span.ag-small", meansOf([...losses.values()], tree)),
      step("previous", -1), h("span.ag-small", say.mistakes), step("next", 1)]),
    h("div.ag-fit", h(`ol.ag-played#${judged ? "played" : "so-far"}`, { tabindex: 0, "aria-label": say.moves }, rows)));
}

/** Put the move on the board in view, and the focus there if it is in the list. @param {HTMLElement} rows */
export function showHere(rows) {
  const here = /** @type {HTMLElement | null} */ (rows.querySelector(".ag-here-row"));
  if (!here) return;
  if (rows.querySelector(":focus")) here.focus({ preventScroll: true });
  rows.scrollTop = here.offsetTop - rows.offsetTop - (rows.clientHeight - here.offsetHeight) / 2;
}

/** What each side gave away a move on the average, as text; "" for fewer than four moves. @param {Loss[]} losses @param {Desk["tree"]} tree */
function meansOf(losses, tree) {
  if (losses.length < 4) return "";
  return fill(say.each, [1, -1].map((player) => {
    const own = losses.filter(({ mover }) => mover === player);
    const mean = (/** @type {(loss: Loss) => number | null} */ value) => own.reduce((sum, one) => sum + Number(value(one)), 0) / own.length;
    const points = own.some((loss) => loss.points === null) ? null : mean((loss) => loss.points);
    return own.length ? fill(say.per, tree.side(player)[0], lossText({ ...own[0], win: mean(({ win }) => win), points })) : "";
  }).filter(Boolean).join(" · "));
}
