// How strong the engine plays, in words.

import { h } from "./elements.js";
import { say } from "./words.js";

/** @type {[string, {tree: boolean, readouts?: number}][]} */
const RUNGS = [["quick", { tree: false }], ["light", { tree: true, readouts: 16 }], ["usual", { tree: true, readouts: 200 }],
  ["strong", { tree: true, readouts: 800 }], ["strongest", { tree: true, readouts: 3200 }]];
const OWN = "own";

export class Opponent {
  /** @param {import("./app.js").App} app */
  constructor(app) {
    this.app = app;
    this.choose = h("select", { "data-name": "rung", onchange: () => this.send() },
      RUNGS.map(([name]) => h("option", { value: name }, say.rungs[name])), h("option", { value: OWN, hidden: true }, say.own));
    this.text = h("span", { class: "ag-small" });
    this.element = h("label", { class: "ag-opponent" }, h("span", {}, say.opponent), this.choose, this.text);
  }

  send() {
    const rung = RUNGS.find(([name]) => name === this.choose.value);
    if (rung) this.app.send("strength", { seconds: null, readouts: 200, ...rung[1] });
  }

  // A new game.
  clear() {
    this.choose.setAttribute("aria-label", say.opponent);
  }

  draw() {
    const { state } = this.app;
    const { tree, readouts, seconds, network } = state.strength;
    this.element.hidden = !state.players.includes("engine") || state.over;
    const rung = RUNGS.find(([, one]) => one.tree === tree && (!tree || (seconds === null && one.readouts === readouts)));
    this.choose.value = rung ? rung[0] : OWN;
    this.text.textContent = network === "playouts" ? say.playouts : network;
  }
}
