// What is done in a game: pass, undo, resign; and steps through it.

import { h, Part } from "./elements.js";
import { button } from "./icons.js";
import { FAR } from "./keys.js";

export class ActionBar extends Part {
  pass = button("pass", () => this.app.play(this.app.known.game.pass));
  undo = button("undo", () => this.app.send("undo"));
  redo = button("redo", () => this.app.send("redo"));
  resign = button("resign", () => this.app.send("resign"));
  back = [button("first", () => this.app.step(-FAR)), button("back", () => this.app.step(-1))];
  on = [button("on", () => this.app.step(1)), button("last", () => this.app.step(FAR))];
  element = h("div", { class: "ag-actions" },
    h("div", { class: "ag-steps" }, ...this.back, ...this.on),
    h("div", { class: "ag-verbs" }, this.pass, this.undo, this.redo, this.resign));

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
