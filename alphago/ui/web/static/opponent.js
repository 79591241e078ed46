// How strong the engine plays, in words; and whether it explains bad moves.

import { h } from "./elements.js";
import { fill, say } from "./words.js";

const RUNGS = [16, 100, 200, 800, 3200]; // readouts of a move, where no levels are known
const LESSON = 2; // points, from which on a move is explained
const EVEN = "even";

export class Opponent {
  /** @param {import("./app.js").App} app */
  constructor(app) {
    this.app = app;
    this.slider = h("input", { type: "range", min: 1, step: 1, "data-name": "level", "aria-label": say.opponent,
      oninput: () => this.tell(Number(this.slider.value)), onchange: () => this.send() });
    this.word = h("b", {});
    this.text = h("p", { class: "ag-small" });
    this.even = h("input", { type: "checkbox", "data-name": "even", onchange: () => this.send() });
    this.teach = h("input", { type: "checkbox", "data-name": "teach",
      onchange: () => app.send("teach", { points: this.teach.checked ? LESSON : null }) });
    this.checks = h("div", { class: "ag-row" }, h("label", { class: "ag-check", title: say.evenTitle }, this.even, say.even),
      h("label", { class: "ag-check", title: say.teachTitle }, this.teach, say.teach));
    this.element = h("div", { class: "ag-opponent" }, h("div", { class: "ag-field" }, say.opponent, this.word), this.slider, this.text, this.checks);
  }

  send() {
    const step = Number(this.slider.value);
    const { levels } = this.app.known.game;
    if (!levels) this.app.send("strength", { tree: true, seconds: null, readouts: RUNGS[step - 1] });
    else this.app.send("strength", { tree: true, level: this.even.checked ? EVEN : step });
  }

  clear() {
    const { levels } = this.app.known.game;
    this.slider.max = (levels || RUNGS).length;
    this.checks.hidden = !levels;
  }

  /** @param {number} step of the slider */
  tell(step) {
    const { known: { game: { levels } }, state: { strength, opponent } } = this.app;
    this.word.textContent = this.even.checked ? say.even : say.strengths[Math.round((step - 1) * (say.strengths.length - 1) / (this.slider.max - 1))];
    const told = levels ? levels[step - 1].split(/: (?:full strength, )?/)[1] || "" : fill(say.readoutsSoFar, RUNGS[step - 1]);
    this.text.textContent = this.even.checked ? opponent : told || strength.network;
  }

  draw() {
    const { known: { game: { levels } }, state: { players, strength, teach, over } } = this.app;
    this.element.hidden = !players.includes("engine") || over;
    this.even.checked = strength.level === EVEN;
    this.teach.checked = teach !== null;
    const readouts = strength.readouts || 0;
    const rung = RUNGS.findIndex((one) => readouts <= one) + 1 || RUNGS.length;
    const step = !levels ? rung : strength.level === EVEN ? Number(this.slider.value) : strength.level ?? levels.length;
    this.slider.value = step;
    this.slider.disabled = this.even.checked;
    this.tell(step);
  }
}
