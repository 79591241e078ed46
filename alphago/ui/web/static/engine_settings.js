// The engine in figures: its network, how it chooses, and the limit of a move.

import { choicesOf, h } from "./elements.js";
import { say } from "./words.js";

const USUAL = { readouts: 200, seconds: 2 }; // where a limit is empty

export class EngineSettings {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    const change = () => app.send("strength", this.wishes());
    /** @type {(name: string, title: string, least: number) => any} */
    const number = (name, title, least) => h("input", { type: "number", min: least, step: least, title, "aria-label": title, "data-name": name, onchange: change });
    const select = (/** @type {string} */ name, /** @type {Record<string, string>} */ choices) => h("select", { "data-name": name, onchange: change }, choicesOf(choices));
    this.network = select("network", {});
    this.how = select("how", { tree: say.tree, net: say.net });
    this.by = select("by", { readouts: say.readouts, seconds: say.seconds });
    this.by.setAttribute("aria-label", say.by);
    this.readouts = number("readouts", say.readoutsTitle, 1);
    this.seconds = number("seconds", say.secondsTitle, 0.1);
    this.chooses = h("label", { class: "ag-field" }, say.how, this.how);
    this.limit = h("div", { class: "ag-field" }, say.by, h("span", {}, this.readouts, this.seconds, this.by));
    this.element = h("div", { class: "ag-engine" }, h("h2", {}, say.engineTitle), h("label", { class: "ag-field" }, say.network, this.network),
      this.chooses, this.limit);
  }

  wishes() {
    const bySeconds = this.by.value === "seconds";
    return {
      network: this.network.value,
      tree: this.how.value === "tree",
      seconds: bySeconds ? Number(this.seconds.value) || USUAL.seconds : null,
      readouts: bySeconds ? null : Math.round(Number(this.readouts.value)) || USUAL.readouts,
    };
  }

  clear() {
    const { game } = this.app.known;
    this.network.replaceChildren(...game.networks.map((name) => h("option", { value: name }, name === "playouts" ? say.playouts : name)));
    this.readouts.max = game.mostReadouts;
  }

  draw() {
    const { strength } = this.app.state;
    this.network.value = strength.network;
    this.how.value = strength.tree ? "tree" : "net";
    this.by.value = strength.seconds ? "seconds" : "readouts";
    this.chooses.hidden = strength.network === "playouts";
    this.limit.hidden = !strength.tree;
    this.readouts.hidden = this.by.value === "seconds";
    this.seconds.hidden = !this.readouts.hidden;
    this.readouts.value = strength.readouts || USUAL.readouts;
    this.seconds.value = strength.seconds || USUAL.seconds;
  }
}
