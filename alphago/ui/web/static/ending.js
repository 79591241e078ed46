// The end of a game: the result, the moves that decided it, and what one may do next.

import { kindOf, LOSSES } from "./candidates.js";
import { h, Part, percent } from "./elements.js";
import { button, dot } from "./icons.js";
import { decisive, lossesOf, lossText } from "./losses.js";
import { fill, say } from "./words.js";

const MOMENTS = 3;
const LEAST_MOVES = 8; // of a game that is looked into

/** A dot in the colour of a loss. @param {Loss} loss */
export const dotOf = ({ win, points }) => dot(LOSSES[kindOf(win, points)]);

export class Ending extends Part {
  asked = false; // whether the positions of this game are being evaluated
  count = h("p", { "data-name": "count" });
  alive = button("all-alive", () => this.app.send("all-alive"));
  counted = h("div", {}, this.count, h("div", { class: "ag-field" }, h("p", { class: "ag-small" }, say.clickDead), this.alive));
  moments = h("ol", { class: "ag-moments", "data-name": "moments" });
  heading = h("h2", {});
  decided = h("div", {}, this.heading, this.moments);
  exchanged = button("exchanged", () => this.again(true));
  element = h("div", { class: "ag-ending", hidden: true, "data-name": "ending" }, this.counted,
    h("div", { class: "ag-row" }, button("again", () => this.again(false), "ag-main"), this.exchanged, button("study-game", () => this.app.column.choose("study"))), this.decided);

  clear() {
    this.asked = false;
    this.element.hidden = true;
  }

  draw() {
    const { known, state, state: { count } } = this.app;
    this.element.hidden = !state.result;
    if (!state.result) return;
    this.counted.hidden = !count;
    this.exchanged.hidden = state.players[0] === state.players[1];
    this.count.textContent = (count ? count.points.map((points, i) => {
      const bonus = count.bonuses[i];
      return fill(bonus ? say.sum : say.per, known.game.sides[i], points, bonus, points + bonus);
    }) : []).join(" · ");
    this.alive.hidden = !count?.dead.length;
    const path = known.line();
    const unknown = path.slice(0, -1).some(({ win }) => win === null);
    if (unknown && !this.asked && !state.busy && path.length > LEAST_MOVES) {
      this.asked = true;
      this.app.send("review", { readouts: 1 });
    }
    const found = decisive(lossesOf(path).filter(({ move }) => move !== known.game.pass), MOMENTS);
    this.heading.textContent = found.some(({ rough }) => rough) ? say.quick : say.decided;
    this.moments.replaceChildren(...(state.busy === "review" ? [h("li", {}, say.counting)] : found.map((loss) => h("li", {},
      h("button", { onclick: () => this.app.send("go", { node: path[loss.number - 1].node }) }, dotOf(loss), this.moment(loss))))));
    this.decided.hidden = path.length <= LEAST_MOVES || !this.moments.children.length;
  }

  /** What a move lost, and who was ahead after it. @param {Loss} loss */
  moment(loss) {
    const { known } = this.app;
    const [win] = loss.after;
    return fill(say.moment, loss.number, known.side(loss.mover), known.game.names[loss.move], lossText(loss, true), known.side(win - 0.5), percent(Math.max(win, 1 - win)));
  }

  /**
   * The same game again.
   * @param {boolean} exchanged whether the players change sides
   */
  again(exchanged) {
    const { known: { game }, state } = this.app;
    const options = Object.fromEntries(game.options.flatMap(({ name, value, at_start: atStart }) => (atStart ? [] : [[name, value]])));
    const [black, white] = exchanged ? [...state.players].reverse() : state.players;
    this.app.send("new", { game: game.name, options, black, white });
  }
}
