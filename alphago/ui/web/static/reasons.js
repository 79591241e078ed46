// Why a move is good or bad, in sentences.

import { h } from "./elements.js";
import { say } from "./words.js";

const NONE = -2; // no node, nor the root's parent

export class Reasons {
  /** @param {import("./app.js").App} app */
  constructor(app) {
    this.app = app;
    this.of = NONE; // the node before the move
    this.move = this.best = -1;
    this.text = h("div", {});
    const choice = (/** @type {string} */ name, /** @type {string} */ text, kind = "") => h("button", { class: kind,
      "data-name": `lesson-${name}`, onclick: () => app.send(name) }, text);
    this.choices = h("div", { class: "ag-row" }, choice("undo", say.takeBack, "ag-main"), choice("move", say.goOn));
    this.element = h("div", { class: "ag-why", "data-name": "reasons", role: "status", hidden: true }, this.text, this.choices);
  }

  clear() {
    this.of = NONE;
  }

  /** @param {import("../wire.js").WhyMessage} message */
  tell({ node, move, best, sentences }) {
    [this.of, this.move, this.best] = [node, move, best];
    this.text.replaceChildren(...sentences.map((text) => h("p", {}, text)));
    this.app.draw();
  }

  // The move that was better than the last one, if reasons tell so.
  better() {
    const { known, state } = this.app;
    const { parent, move } = known.knot(state.node);
    return this.of === parent && this.move === move && this.best !== move ? this.best : null;
  }

  draw() {
    const { known, state } = this.app;
    this.element.hidden = ![state.node, known.knot(state.node).parent].includes(this.of);
    this.choices.hidden = !state.lesson;
  }
}
