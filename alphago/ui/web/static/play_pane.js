// The column while one plays: the opponent, a hint for the first games, and how the game ended.

import { Ending } from "./ending.js";
import { h } from "./elements.js";
import { button } from "./icons.js";
import { MoveList } from "./move_list.js";
import { Opponent } from "./opponent.js";
import { buttons, say } from "./words.js";

const SEEN = "alphago-hints"; // where the browser keeps how many hints were read
const MOVES = [0, 2, 6]; // moves of a game, from which on each hint is shown

export class PlayPane {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.opponent = new Opponent(app);
    this.ending = new Ending(app);
    this.list = new MoveList(app, false);
    this.seen = kept();
    this.due = 0; // the hint that is due
    this.hintText = h("span", {});
    this.hint = h("p", { class: "ag-hint", hidden: true }, this.hintText, button("hint", () => this.read()));
    this.element = h("section", { class: "ag-play", "aria-label": buttons.play[0] }, this.ending.element, this.opponent.element, this.hint, this.list.element);
  }

  clear() {
    this.ending.clear();
  }

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
