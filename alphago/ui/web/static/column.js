// Beside the board: the game, who plays, what goes on, and one of three panes: play, study, menu.

import { ActionBar } from "./action_bar.js";
import { h, Part } from "./elements.js";
import { button } from "./icons.js";
import { Menu } from "./menu.js";
import { PlayPane } from "./play_pane.js";
import { Players } from "./players.js";
import { Reasons } from "./reasons.js";
import { StatusLine } from "./status_line.js";
import { Study } from "./study.js";
import { say } from "./words.js";

/** @typedef {"play" | "study" | "menu"} Pane */

/** @type {Pane[]} */
const PANES = ["play", "study", "menu"];

const SHOWN = 12000; // milliseconds

export class Column extends Part {
  menuOpen = false;
  title = h(this.app.options.widget ? "h2" : "h1", { class: "ag-game" });
  about = h("p", { class: "ag-small", "data-name": "about" });
  tabs = Object.fromEntries(PANES.map((name) => [name, button(name, () => this.choose(name))]));
  players = new Players(this.app);
  status = new StatusLine(this.app);
  notice = new Notice();
  comment = h("p", { class: "ag-comment", "data-name": "comment", hidden: true });
  reasons = new Reasons(this.app);
  play = new PlayPane(this.app);
  study = new Study(this.app);
  menu = new Menu(this.app);
  /** @type {Record<string, {element: any}>} */
  panes = { play: this.play, study: this.study, menu: this.menu };
  actions = new ActionBar(this.app);
  element = h("div", { class: "ag-side" },
    h("div", { class: "ag-bar" }, h("div", { class: "ag-tabs", role: "group" }, this.tabs.play, this.tabs.study, this.app.options.beside, this.tabs.menu),
      h("div", { class: "ag-title" }, this.title, this.about)),
    this.players.element, this.status.element, this.notice.element, this.comment,
    h("div", { class: "ag-pane" }, this.reasons.element, this.play.element, this.study.element, this.menu.element), this.actions.element);

  /** @param {Pane} pane */
  choose(pane) {
    const { app } = this;
    this.menuOpen = pane === "menu" && !this.menuOpen;
    if (pane !== "menu" && app.state) app.send("study", { study: pane === "study" });
    this.draw(true);
  }

  clear() {
    const { game } = this.app.known;
    this.title.textContent = game.title;
    this.menuOpen = false;
    for (const part of [this.players, this.study, this.menu, this.play.ending, this.reasons]) part.clear();
    this.status.draw();
  }

  tick() {
    this.players.tick();
    this.status.draw();
  }

  hovered() {
    this.study.drawMoves();
    this.status.tellCursor();
  }

  /** @param {boolean} all also what does not change while the engine thinks */
  draw(all) {
    const { app } = this;
    this.status.draw();
    this.players.drawThought();
    if (all) {
      const pane = !app.state ? "play" : this.menuOpen ? "menu" : app.state.study ? "study" : "play";
      app.root.dataset.pane = pane;
      for (const [name, tab] of Object.entries(this.tabs)) {
        tab.setAttribute("aria-pressed", String(name === pane));
        this.panes[name].element.hidden = name !== pane;
      }
      if (!app.state) return;
      this.comment.textContent = app.state.comment;
      this.comment.hidden = !app.state.comment;
      this.about.textContent = aboutOf(app);
      for (const part of [this.players, this.reasons, this.actions, this.menu, this.play]) part.draw();
    }
    this.study.draw(all);
  }
}

/** The game's options in a few words; those that its title names already, or that need a sentence, are left out. @param {App} app */
function aboutOf({ known: { game } }) {
  return game.options.filter(({ at_start: atStart, title, value }) => !atStart && value !== "" && !/ |^(size|height|width)$/i.test(title))
    .map(({ title, value, choices }) => (choices.length ? `${value} ${title.toLowerCase()}` : `${title.toLowerCase()} ${value}`)).join(" · ");
}

// A sentence that is shown for a while.
class Notice {
  timer = 0;
  text = h("span", {});
  element = h("p", { class: "ag-notice", role: "alert", hidden: true }, this.text,
    h("button", { "aria-label": say.close, onclick: () => this.hide() }, "×"));

  /** @param {string} text @param {string} kind */
  say(text, kind) {
    this.text.textContent = text;
    this.element.dataset.kind = kind;
    this.element.hidden = false;
    clearTimeout(this.timer);
    if (kind !== "refused") this.timer = setTimeout(() => this.hide(), SHOWN);
  }

  /** @param {string} [kind] of the sentences to hide; all without it */
  hide(kind) {
    if (!kind || this.element.dataset.kind === kind) this.element.hidden = true;
  }
}
