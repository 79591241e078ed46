// What is going on, in a line; screen readers are told each move, and where the cursor is.

import { button } from "./icons.js";
import { h, margin, percent, short } from "./elements.js";
import { landingOf } from "./geometry.js";
import { fill, say } from "./words.js";

const ENDLESS = 1e5; // readouts: no limit

export class StatusLine {
  /** @param {import("./app.js").App} app */
  constructor(app) {
    this.app = app;
    this.loading = ""; // what the line says instead of its usual text
    this.told = -1; // the node that screen readers were told of
    this.text = h("span", {});
    this.rest = h("span", { class: "ag-small", "data-name": "known" });
    this.said = h("p", { class: "ag-unseen", "aria-live": "polite" });
    this.now = button("move", say.now, say.nowTitle, () => app.send("move"));
    this.stop = button("stop", say.stop, say.stopTitle, () => app.stop());
    this.element = h("div", { class: "ag-line" }, h("p", { class: "ag-status", role: "status", "aria-live": "off" }, this.text, " ", this.rest), this.now,
      this.stop, this.said);
  }

  /** @param {string} text */
  load(text) {
    this.loading = text;
    this.draw();
  }

  draw() {
    const { root, state } = this.app;
    const [text, rest = ""] = this.words();
    if (this.text.textContent !== text) this.text.textContent = text;
    this.rest.textContent = rest;
    root.classList.toggle("ag-ended", Boolean(state?.result));
    root.classList.toggle("ag-busy", Boolean(state?.busy || this.loading || !state));
    this.stop.disabled = !state || (!state.busy && !state.analysing);
    this.stop.hidden = this.stop.disabled;
    this.now.hidden = state?.busy !== "move";
    if (state && state.node !== this.told) this.tell();
  }

  tell() {
    const { known, state } = this.app;
    this.told = state.node;
    const { move, mover } = known.knot(state.node);
    const turn = state.result ? fill(say.ends, state.result.text) : this.turn();
    this.said.textContent = mover ? `${fill(say.played, known.side(mover), known.game.names[move])} ${turn}` : turn;
  }

  tellCursor() {
    const { board, known, state } = this.app;
    const action = board.cursorAction();
    if (action === null) return;
    const { stones } = state.view;
    const cell = landingOf(known.game, action, state.view.toPlay, () => false);
    const sign = stones && cell !== null ? stones[cell] : ".";
    const what = sign !== "." ? fill(say.taken, known.side(sign === "X" ? 1 : -1)) : state.view.legal.includes(action) ? say.free : say.barred;
    this.said.textContent = fill(say.cursor, known.game.names[action], what);
  }

  turn() {
    const { known, state: { view } } = this.app;
    return fill(say.move, view.moves + 1, known.side(view.toPlay));
  }

  // What the line says, and what stands below it.
  words() {
    const { coming, known: { thought }, state } = this.app;
    if (this.loading) return [this.loading];
    if (!state) return [coming ? say.setting : say.connecting];
    if (state.result) return [fill(say.ends, state.result.text), state.busy === "count" ? say.countingStones : ""];
    const turn = this.turn();
    const usual = state.study ? this.evaluation() : this.app.isHumansTurn() ? say.yours : say.engines;
    if (!state.busy) return [turn, usual];
    if (!thought) return [turn, say.thinking];
    const { analysis, limit, purpose } = thought;
    const done = short(analysis.visits > 1 ? thought.readouts : 0);
    const told = state.study ? usual : limit && limit < ENDLESS ? fill(say.readoutsOf, done, short(limit)) : fill(say.readoutsSoFar, done);
    return [turn, [told, purpose === "move" ? "" : fill(say.rate, short(thought.rate)), purpose === "review" ? fill(say.left, thought.left) : ""].filter(Boolean).join(" · ")];
  }

  // What is known of the position on the board.
  evaluation() {
    const { known, state: { node, analysis } } = this.app;
    const { win, score } = known.knot(node);
    if (win === null) return say.unknown;
    return [fill(say.chance, known.side(1), percent(win, 1)), score === null ? "" : margin(score, known.game.sides),
      analysis ? analysis.visits > 1 ? fill(say.visitsHere, short(analysis.visits)) : say.netAlone : ""].filter(Boolean).join(", ");
  }
}
