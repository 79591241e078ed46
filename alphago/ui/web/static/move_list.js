// The moves of the current line with what each gave away; a click goes there.

import { dotOf } from "./ending.js";
import { h, renew } from "./elements.js";
import { button } from "./icons.js";
import { isMistake, lossesOf, lossText, nextMistake } from "./losses.js";
import { fill, say } from "./words.js";

export class MoveList {
  /**
   * @param {App} app
   * @param {boolean} judged whether it tells what moves gave away
   */
  constructor(app, judged) {
    this.app = app;
    this.judged = judged;
    this.rows = h("ol", { class: "ag-played", "data-name": judged ? "played" : "so-far", tabindex: 0, "aria-label": say.moves });
    this.means = h("span", { class: "ag-small" });
    this.steps = ["previous", "next"].map((name, i) => button(name, () => app.mistake(2 * i - 1)));
    this.element = h("div", { class: "ag-list" }, h("div", { class: "ag-row" }, judged ? [this.means,
      this.steps[0], h("span", { class: "ag-small" }, say.mistakes), this.steps[1]] : h("h2", {}, say.moves)), h("div", { class: "ag-fit" }, this.rows));
    new ResizeObserver(() => this.scroll()).observe(this.rows);
  }

  draw() {
    const { known, state } = this.app;
    const line = known.line();
    this.element.hidden = line.length < 2;
    const losses = new Map((this.judged ? lossesOf(line) : []).map((loss) => [loss.node, loss]));
    const { rows } = this;
    this.steps.forEach((step, i) => { step.disabled = nextMistake(line, state.node, 2 * i - 1) === undefined; });
    const held = rows.matches(":focus-within");
    renew(rows, line.slice(1).map(({ node, mover, move }, i) => {
      const loss = losses.get(node);
      return h("li", {}, h("button", { "data-node": node, class: node === state.node ? "ag-here-row" : "",
        "aria-current": node === state.node ? "step" : null, onclick: () => this.app.send("go", { node }) },
        h("span", { class: "ag-small" }, i + 1), h("span", { class: `ag-stone ag-${mover > 0 ? "black" : "white"}`, title: known.side(mover) }),
        known.game.names[move], loss && isMistake(loss) ? [h("span", { class: "ag-small" }, lossText(loss)), dotOf(loss)] : null));
    }));
    this.means.textContent = meansOf([...losses.values()], known);
    const here = rows.querySelector(".ag-here-row");
    if (here && held && !rows.matches(":focus-within")) here.focus();
    this.scroll();
  }

  // Put the move on the board in view.
  scroll() {
    const { rows } = this;
    const here = rows.querySelector(".ag-here-row");
    if (here) rows.scrollTop = here.offsetTop - rows.offsetTop - (rows.clientHeight - here.offsetHeight) / 2;
  }
}

/** What each side gave away in the mean. @param {Loss[]} losses @param {import("./game_state.js").GameState} known */
function meansOf(losses, known) {
  if (losses.length < 4) return "";
  return fill(say.each, [1, -1].map((player) => {
    const own = losses.filter(({ mover }) => mover === player);
    const points = own.some((loss) => loss.points === null) ? null : own.reduce((sum, one) => sum + Number(one.points), 0) / own.length;
    const win = own.reduce((sum, one) => sum + one.win, 0) / own.length;
    return own.length ? fill(say.per, known.side(player)[0], lossText({ ...own[0], win, points })) : "";
  }).filter(Boolean).join(" · "));
}
