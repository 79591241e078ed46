// What is going on, in a line; screen readers are told each move, and where the cursor is.

import { button } from "./icons.js";
import { h, margin, Part, percent, short } from "./elements.js";
import { landingOf } from "./geometry.js";
import { buttons, fill, say } from "./words.js";

const ENDLESS = 1e5; // readouts: no limit
const LONG = 5; // seconds of a search, from which on the line says how many are left
const USUAL_WAIT = 2000; // milliseconds until the engine's first thought, after which it is being loaded

/** @param {number} seconds */
const span = (seconds) => (seconds < 100 ? `${10 * Math.ceil(seconds / 10)} s` : seconds < 6000 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`);

export class StatusLine extends Part {
  loading = ""; // what the line says instead of its usual text
  told = -1; // the node that screen readers were told of
  text = h("span", {});
  rest = h("span", { class: "ag-small", "data-name": "known" });
  bar = h("progress", { max: 1, hidden: true, "aria-hidden": "true" });
  said = h("p", { class: "ag-unseen", "aria-live": "polite" });
  now = button("move", () => this.app.send("move"));
  stop = button("stop", () => this.app.stop());
  element = h("div", { class: "ag-line" }, h("p", { class: "ag-status", role: "status", "aria-live": "off" }, this.text, " ", this.rest), this.now,
    this.stop, this.bar, this.said);

  draw() {
    const { root, state } = this.app;
    const { text, rest = "", share = 0 } = this.words();
    if (this.text.textContent !== text) this.text.textContent = text;
    this.rest.textContent = rest;
    root.classList.toggle("ag-ended", Boolean(state?.result));
    root.classList.toggle("ag-busy", Boolean(state?.busy || this.loading || !state));
    root.classList.toggle("ag-waits", Boolean(this.loading)); // never inert: a field in which one types would lose its focus
    root.classList.toggle("ag-lost", this.loading === say.lost);
    this.bar.hidden = !share;
    this.bar.value = share;
    const isMoving = state?.busy === "move";
    this.stop.hidden = this.stop.disabled = !state || (!state.busy && !state.analysing);
    this.stop.lastChild.textContent = isMoving ? say.pause : buttons.stop[0];
    this.now.hidden = !isMoving && !this.isPaused();
    this.now.lastChild.textContent = buttons[isMoving ? "move" : "lesson-move"][0];
    if (state && state.node !== this.told) this.tell();
  }

  tell() {
    const { known, state } = this.app;
    this.told = state.node;
    const { move, mover } = known.nodes[state.node];
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

  // Whether the engine is to move, and waits.
  isPaused() {
    const { state } = this.app;
    return state && !(state.busy || state.study || state.over || state.lesson || this.app.isHumansTurn());
  }

  turn() {
    const { known, state: { view } } = this.app;
    return fill(say.move, view.moves + 1, known.side(view.toPlay));
  }

  // What the line says, what stands below it, and the share of a long search that is done.
  words() {
    const { known, known: { thought }, state } = this.app;
    if (this.loading) return { text: this.loading };
    if (!state) return { text: say.connecting };
    if (state.result) return { text: fill(say.ends, state.result.text), rest: state.busy === "count" ? say.countingStones : "" };
    const text = this.turn();
    const usual = state.study ? this.evaluation() : this.app.isHumansTurn() ? say.yours : say.engines;
    if (!state.busy) return { text, rest: usual };
    if (!thought) return { text, rest: known.ready || Date.now() - known.since < USUAL_WAIT ? say.thinking : say.begins };
    const { analysis, limit, purpose, rate, readouts } = thought;
    const done = short(analysis.visits > 1 ? readouts : 0);
    const isLimited = limit && limit < ENDLESS;
    const isLong = isLimited && purpose === "move" && rate && limit > LONG * rate;
    const told = state.study ? usual : isLimited ? fill(say.readoutsOf, done, short(limit)) : fill(say.readoutsSoFar, done);
    const more = purpose !== "move" ? fill(say.rate, short(rate)) : isLong ? fill(say.timeLeft, span((limit - readouts) / rate)) : "";
    return { text, rest: [told, more, purpose === "review" ? fill(say.left, thought.left) : ""].filter(Boolean).join(" · "),
      share: isLong ? readouts / limit : 0 };
  }

  // What is known of the position on the board.
  evaluation() {
    const { known, state: { node, analysis } } = this.app;
    const { win, score } = known.nodes[node];
    if (win === null) return analysis && analysis.visits > 1 ? fill(say.few, short(analysis.visits)) : say.unknown;
    const unclear = score && (win - 0.5) * score < 0;
    return (unclear ? say.unclear : "") + [fill(say.chance, known.side(1), percent(win, 1)), score === null ? "" : margin(score, known.game.sides),
      analysis ? analysis.visits > 1 ? fill(say.readoutsSoFar, short(analysis.visits)) : say.netAlone : ""].filter(Boolean).join(", ");
  }
}
