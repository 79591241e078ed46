// Why a move is good or bad, in sentences.

import { h } from "./elements.js";
import { button } from "./icons.js";
import { isMistake, lossesOf, lossText } from "./losses.js";
import { fill, say } from "./words.js";

/** The sentences about the last move or the next one, if the engine has explained it; after a bad move with buttons. @param {App} app */
export function reasonsOf({ desk, desk: { lesson, reasons, tree, tree: { current, node } } }) {
  const shown = reasons && [current, node.parent].includes(reasons.node) ? reasons : null;
  return h("div.ag-why#reasons", { role: "status", hidden: !shown }, h("b", shown && titleOf(tree, shown)),
    h("div", shown?.sentences.map((text) => h("p", text))), h("div.ag-row", { hidden: lesson !== current },
      button("lesson-undo", () => desk.send({ type: "undo" }), { class: "ag-main" }), button("lesson-move", () => desk.send({ type: "move" }))));
}

/** The move that was better than the last one, if the reasons shown name one; else null. @param {Desk} desk */
export function betterMove({ reasons, tree: { node: { parent, move } } }) {
  return reasons && reasons.node === parent && reasons.move === move && reasons.best !== move ? reasons.best : null;
}

/**
 * Which move the sentences are about, what it lost, and what was better. The loss is that in the list of moves, if the move is there.
 * @param {Desk["tree"]} tree @param {Explanation} reasons
 */
function titleOf(tree, { node, move, best, points, rate }) {
  const { names } = tree.view;
  const before = tree.nodes[node];
  const played = before.children.map((child) => tree.nodes[child]).find((one) => one.move === move);
  if (!played) return names[move];
  const isWorse = best !== move;
  const [loss = isWorse ? { win: rate, points } : null] = lossesOf([before, played]).filter((one) => isWorse || isMistake(one));
  return fill(say.whyOf, tree.path(played.node).length - 1, tree.side(played.mover), names[move])
    + (loss ? `: ${lossText(loss, true)}` : "") + (isWorse ? fill(say.better, names[best]) : "");
}
