// The column while one plays: how strong the opponent is, a hint for the first games, and how the game ended.

import { Ending } from "./ending.js";
import { h, Part } from "./elements.js";
import { box, button } from "./icons.js";
import { MoveList } from "./move_list.js";
import { buttons, fill, say } from "./words.js";

const SEEN = "alphago-hints"; // where the browser keeps how many hints were read
const MOVES = [0, 2, 6]; // moves of a game, from which on each hint is shown
const RUNGS = [16, 100, 200, 800, 3200]; // readouts of a move, where no levels are known
const LESSON = 2; // points, from which on a move is explained
const EVEN = "even";

export class PlayPane extends Part {
  opponent = new Opponent(this.app);
  ending = new Ending(this.app);
  list = new MoveList(this.app, false);
  seen = kept();
  due = 0; // the hint that is due
  hintText = h("span", {});
  hint = h("p", { class: "ag-hint", hidden: true }, this.hintText, button("hint", () => this.read()));
  element = h("section", { class: "ag-play", "aria-label": buttons.play[0] }, this.ending.element, this.opponent.element, this.hint, this.list.element);

  draw() {
    const { state } = this.app;
    this.due = MOVES.filter((moves) => state.view.moves >= moves).length - 1;
    const alone = !state.players.includes("engine") || Boolean(this.app.options.widget);
    this.hint.hidden = this.due < this.seen || state.over || alone || !this.app.isHumansTurn() || Boolean(this.app.column.status.loading);
    this.hintText.textContent = say.hints[this.due];
    this.opponent.draw();
    this.ending.draw();
    this.list.draw();
  }

  read() {
    this.seen = this.due + 1;
    kept(this.seen);
    this.draw();
  }
}

/** How many hints were read; a browser that keeps nothing shows them again. @param {number} [seen] to be kept */
function kept(seen) {
  try {
    if (seen) localStorage.setItem(SEEN, String(seen));
    return Number(localStorage.getItem(SEEN));
  } catch {
    return 0;
  }
}

// How strong the engine plays, in words; and whether it explains bad moves.
class Opponent extends Part {
  slider = h("input", { type: "range", min: 1, step: 1, "data-name": "level", "aria-label": say.opponent,
    oninput: () => this.tell(Number(this.slider.value)), onchange: () => this.send() });
  word = h("b", {});
  text = h("p", { class: "ag-small" });
  even = box("even", () => this.send());
  teach = box("teach", (checked) => this.app.send("teach", { points: checked ? LESSON : null }));
  checks = h("div", { class: "ag-row" }, this.even, this.teach);
  element = h("div", { class: "ag-opponent" }, h("div", { class: "ag-field" }, say.opponent, this.word), this.slider, this.text, this.checks);

  send() {
    const step = Number(this.slider.value);
    const { levels } = this.app.known.game;
    if (!levels) this.app.send("strength", { tree: true, seconds: null, readouts: RUNGS[step - 1] });
    else this.app.send("strength", { tree: true, level: this.even.control.checked ? EVEN : step });
  }

  /** @param {number} step of the slider */
  tell(step) {
    const { known: { game: { levels } }, state: { strength, opponent } } = this.app;
    this.word.textContent = this.even.control.checked ? buttons.even[0] : say.strengths[Math.round((step - 1) * (say.strengths.length - 1) / (this.slider.max - 1))];
    const told = levels ? levels[step - 1].split(/: (?:full strength, )?/)[1] || "" : fill(say.readoutsSoFar, RUNGS[step - 1]);
    this.text.textContent = this.even.control.checked ? opponent : told || strength.network;
  }

  draw() {
    const { known: { game: { levels } }, state: { players, strength, teach, over } } = this.app;
    this.element.hidden = !players.includes("engine") || over;
    this.checks.hidden = !levels;
    this.slider.max = (levels || RUNGS).length;
    this.even.control.checked = strength.level === EVEN;
    this.teach.control.checked = teach !== null;
    const readouts = strength.readouts || 0;
    const rung = RUNGS.findIndex((one) => readouts <= one) + 1 || RUNGS.length;
    const step = !levels ? rung : strength.level === EVEN ? Number(this.slider.value) : strength.level ?? levels.length;
    this.slider.value = step;
    this.slider.disabled = this.even.control.checked;
    this.tell(step);
  }
}
