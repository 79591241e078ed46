// What is done in a game: pass, undo, resign; and steps through it.

import { h } from "./elements.js";
import { button } from "./icons.js";
import { FAR } from "./keys.js";

export class ActionBar {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.pass = button("pass", () => app.play(app.known.game.pass));
    this.undo = button("undo", () => app.send("undo"));
    this.redo = button("redo", () => app.send("redo"));
    this.resign = button("resign", () => app.send("resign"));
    this.back = [button("first", () => app.step(-FAR)), button("back", () => app.step(-1))];
    this.on = [button("on", () => app.step(1)), button("last", () => app.step(FAR))];
    this.element = h("div", { class: "ag-actions" },
      h("div", { class: "ag-steps" }, ...this.back, ...this.on),
      h("div", { class: "ag-verbs" }, this.pass, this.undo, this.redo, this.resign));
  }

  draw() {
    const { known: { game }, state } = this.app;
    this.pass.hidden = game.pass === null;
    this.pass.disabled = state.over;
    this.pass.setAttribute("aria-disabled", String(state.busy === "move" || !state.view.legal.includes(game.pass ?? -1))); // a click is told why
    this.resign.disabled = state.over;
    const isLast = state.line.at(-1) === state.node;
    for (const step of this.back) step.disabled = state.node === 0;
    for (const step of [...this.on, this.redo]) step.disabled = isLast;
    this.undo.disabled = state.node === 0 && !state.over;
  }
}
