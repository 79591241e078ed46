// Why a move is good or bad, in sentences.

import { h, Part } from "./elements.js";
import { button } from "./icons.js";
import { isMistake, lossesOf, lossText } from "./losses.js";
import { fill, say } from "./words.js";

const NONE = -2; // no node, nor the root's parent

export class Reasons extends Part {
  of = NONE; // the node before the move
  move = -1;
  best = -1;
  lost = { win: 0, points: /** @type {number | null} */ (null) }; // as the explanation has it
  head = h("b", {});
  text = h("div", {});
  choices = h("div", { class: "ag-row" }, button("lesson-undo", () => this.app.send("undo"), "ag-main"), button("lesson-move", () => this.app.send("move")));
  element = h("div", { class: "ag-why", "data-name": "reasons", role: "status", hidden: true }, this.head, this.text, this.choices);

  clear() {
    this.of = NONE;
  }

  /** @param {WhyMessage} message */
  tell({ node, move, best, points, rate, sentences }) {
    [this.of, this.move, this.best, this.lost] = [node, move, best, { win: rate, points }];
    this.text.replaceChildren(...sentences.map((text) => h("p", {}, text)));
    this.app.draw();
    this.element.parentElement.scrollTop = 0;
  }

  // The move that was better than the last one, if reasons tell so.
  better() {
    const { known, state } = this.app;
    const { parent, move } = known.nodes[state.node];
    return this.of === parent && this.move === move && this.best !== move ? this.best : null;
  }

  draw() {
    const { known, state } = this.app;
    this.element.hidden = ![state.node, known.nodes[state.node].parent].includes(this.of);
    this.choices.hidden = !state.lesson;
    if (!this.element.hidden) this.head.textContent = this.title();
  }

  // Which move the sentences are about, what it lost, by the list of moves if that has it, and what was better.
  title() {
    const { known, known: { game: { names } } } = this.app;
    const before = known.nodes[this.of];
    const played = before.children.map((child) => known.nodes[child]).find(({ move }) => move === this.move);
    if (!played) return names[this.move];
    const isWorse = this.best !== this.move;
    const [loss = isWorse ? this.lost : null] = lossesOf([before, played]).filter((one) => isWorse || isMistake(one));
    return fill(say.whyOf, known.path(played.node).length, known.side(played.mover), names[this.move])
      + (loss ? `: ${lossText(loss, true)}` : "") + (isWorse ? fill(say.better, names[this.best]) : "");
  }
}
