// Beside the board: who plays, what is going on, and the buttons.

import { allAliveButton, countText } from "./count.js";
import { click } from "./effects.js";
import { h, percent, short } from "./elements.js";
import { FAR } from "./keys.js";
import { COLOURS } from "./wire.js";

/** @typedef {import("./board.js").Board} Board */

const NOTICE = 12000; // milliseconds for which a sentence is shown
const LINE = 6; // moves of the best line in the status line
const USUAL = { readouts: 200, seconds: 2 }; // where a limit is empty

export class Panel {
  /** @param {Board} board */
  constructor(board) {
    this.board = board;
    this.loading = ""; // what the status line says instead of its usual text
    this.noticeTimer = 0;
    this.title = h("h2", {});
    this.cards = [1, -1].map((player) => this.card(player));
    this.status = h("p", { class: "ag-status", role: "status", "aria-live": "polite" });
    this.notice = h("p", { class: "ag-notice", role: "alert", hidden: true, onclick: () => this.hideNotice() });
    this.file = h("input", { type: "file", accept: ".sgf,.json,text/plain", hidden: true, "data-name": "file",
      onchange: () => { board.read(this.file.files[0]); this.file.value = ""; } });
    this.typed = h("input", { type: "text", size: 5, placeholder: "move", "aria-label": "type a move",
      title: "type a move, such as D4, and Enter (/)", "data-name": "typed", autocomplete: "off",
      onkeydown: (/** @type {KeyboardEvent} */ event) => { if (event.key === "Enter") this.playTyped(); } });
    /** @type {Record<string, any>} */
    this.buttons = {};
    const rows = [this.playRow(), this.stepRow(), this.engineRow(), this.fileRow()];
    this.allAlive = allAliveButton(board);
    this.elements = [h("div", { class: "ag-head" }, this.title, this.cards.map((card) => card.element)), this.status,
      this.notice, this.allAlive, ...rows];
  }

  /**
   * @param {string} name
   * @param {string} text
   * @param {string} title
   * @param {() => void} action
   */
  button(name, text, title, action) {
    return this.buttons[name] = h("button", { type: "button", title, onclick: action, "data-name": name }, text);
  }

  playRow() {
    const { board } = this;
    return h("div", { class: "ag-row" },
      this.button("pass", "Pass", "pass (P)", () => board.play(board.game.pass)),
      this.button("undo", "Undo", "take back (U)", () => board.send("undo")),
      this.button("redo", "Redo", "play again what was taken back (Y)", () => board.send("redo")),
      this.button("resign", "Resign", "give the game up", () => board.send("resign")),
      this.button("move", "Move now", "let the engine move now, for either side (M)", () => board.send("move")), this.typed);
  }

  stepRow() {
    const { board } = this;
    return h("div", { class: "ag-row ag-steps" },
      this.button("first", "◀◀", "first position (Home)", () => board.step(-FAR)),
      this.button("back", "◀", "a move back (←)", () => board.step(-1)),
      this.button("on", "▶", "a move on (→)", () => board.step(1)),
      this.button("last", "▶▶", "last position (End)", () => board.step(FAR)),
      this.button("study", "Study", "numbers on the board (Space)", () => board.toggle("study")),
      this.button("analyse", "Analyse", "think about every position that is shown (A)", () => board.toggle("analysing")),
      this.button("stop", "Stop", "stop thinking (Escape)", () => board.stop()));
  }

  fileRow() {
    const { board } = this;
    const sound = h("input", { type: "checkbox", "data-name": "sound",
      onchange: () => { board.look.sound = sound.checked; if (sound.checked) click(); } });
    return h("div", { class: "ag-row" },
      this.button("new", "New game", "another game, its options, your colour (N)", () => board.dialog.open()),
      this.button("open", "Open", "open an SGF file, or drop one on the board", () => this.file.click()),
      this.button("save", "Save", "save the game as a file, with variations and analysis (S)", () => board.send("save")),
      this.button("link", "Copy link", "a link that restores this position (L)", () => board.copyLink()),
      this.file, h("label", { title: "a sound at each move" }, sound, "sound"));
  }

  /** @param {number} player */
  card(player) {
    const colour = COLOURS[player];
    const who = h("select", { "data-name": colour, onchange: () => this.board.send("players", { [colour]: who.value }) },
      h("option", { value: "human" }, "you"), h("option", { value: "engine" }, "engine"));
    const side = h("b", {});
    const captures = h("span", { class: "ag-small" });
    const name = h("span", { class: "ag-small" });
    const element = h("div", { class: "ag-card" }, h("span", { class: `ag-stone ag-${colour}` }), side, who, captures, name);
    return { element, side, who, captures, name };
  }

  engineRow() {
    const change = () => this.board.send("strength", this.wishes());
    const number = (/** @type {string} */ name, /** @type {string} */ title, /** @type {number} */ least) => h("input", { type: "number",
      min: least, step: least, title, "data-name": name, onchange: change });
    const select = (/** @type {string} */ name, /** @type {string} */ meaning, /** @type {Record<string, string>} */ choices) => h("select",
      { "aria-label": meaning, "data-name": name, onchange: change },
      ...Object.entries(choices).map(([value, text]) => h("option", { value }, text)));
    this.strength = {
      network: select("network", "network", {}),
      how: select("how", "how the engine chooses", { tree: "network and tree", net: "network alone" }),
      by: select("by", "limit of a move", { readouts: "readouts", seconds: "seconds" }),
      readouts: number("readouts", "simulations for each move", 1),
      seconds: number("seconds", "seconds for each move", 0.1),
    };
    return h("div", { class: "ag-row ag-engine" }, h("span", {}, "Engine"), ...Object.values(this.strength));
  }

  // What the engine's row says.
  wishes() {
    const { network, how, by, readouts, seconds } = /** @type {Record<string, any>} */ (this.strength);
    const bySeconds = by.value === "seconds";
    return {
      network: network.value,
      tree: how.value === "tree",
      seconds: bySeconds ? Number(seconds.value) || USUAL.seconds : null,
      readouts: bySeconds ? null : Math.round(Number(readouts.value)) || USUAL.readouts,
    };
  }

  playTyped() {
    const text = this.typed.value.trim();
    if (text && this.board.state) this.board.send("play", { move: text });
    this.typed.value = "";
  }

  // A new game.
  clear() {
    const { game, root } = this.board;
    const { network, readouts } = /** @type {Record<string, any>} */ (this.strength);
    const shown = (/** @type {string} */ name) => (name === "playouts" ? "random playouts" : name);
    network.replaceChildren(...game.networks.map((name) => h("option", { value: name }, shown(name))));
    readouts.max = game.mostReadouts;
    this.title.textContent = game.title;
    this.buttons.pass.hidden = game.pass === null;
    for (const [i, { side, who }] of this.cards.entries()) {
      side.textContent = game.sides[i];
      who.setAttribute("aria-label", `who plays ${game.sides[i]}`);
      root.style.setProperty(`--${COLOURS[i ? -1 : 1]}`, game.colours ? game.colours[i] : "");
    }
  }

  draw() {
    const { game, names, state } = this.board;
    for (const [i, card] of this.cards.entries()) {
      card.who.value = state.players[i];
      card.element.classList.toggle("ag-turn", !state.over && state.view.toPlay === (i ? -1 : 1));
      card.captures.hidden = !state.view.captures || game.stores.length > 0;
      if (state.view.captures) card.captures.textContent = `${state.view.captures[i]} captured`;
      card.name.textContent = names[i];
    }
    const { network, how, by, readouts, seconds } = /** @type {Record<string, any>} */ (this.strength);
    network.value = state.strength.network;
    how.value = state.strength.tree ? "tree" : "net";
    by.value = state.strength.seconds ? "seconds" : "readouts";
    how.hidden = network.value === "playouts";
    by.hidden = !state.strength.tree;
    readouts.hidden = by.hidden || by.value === "seconds";
    seconds.hidden = by.hidden || by.value !== "seconds";
    readouts.value = state.strength.readouts || USUAL.readouts;
    seconds.value = state.strength.seconds || USUAL.seconds;
    const { study, analyse, stop, pass, move, resign, redo, undo } = this.buttons;
    this.allAlive.hidden = !state.count?.dead.length;
    study.setAttribute("aria-pressed", state.study);
    analyse.setAttribute("aria-pressed", state.analysing);
    stop.disabled = !state.busy && !state.analysing;
    pass.disabled = game.pass === null || !state.view.legal.includes(game.pass) || state.over;
    move.disabled = resign.disabled = state.over;
    redo.disabled = state.line.at(-1) === state.node;
    undo.disabled = state.node === 0 && !state.over;
  }

  showStatus() {
    this.status.textContent = this.statusText();
    this.board.root.classList.toggle("ag-busy", Boolean(this.board.state?.busy));
  }

  statusText() {
    const { game, state, thought } = this.board;
    if (this.loading) return this.loading;
    if (!state) return game ? "Setting up the board …" : "Connecting …";
    if (state.result) return countText(state) || `${state.result.text}.`;
    const turn = state.players[state.view.toPlay > 0 ? 0 : 1] === "human" ? "your move" : "the engine's move";
    const text = [`Move ${state.view.moves + 1}: ${this.board.side(state.view.toPlay)} to play, ${turn}`];
    if (thought && state.busy) {
      const { analysis, limit, purpose } = thought;
      const of = purpose !== "analyse" && limit && limit < 1e5 ? ` of ${limit}` : "";
      text.push(`thinking: ${analysis.visits > 1 ? short(thought.readouts) + of : "0"} readouts`, `${short(thought.rate)}/s`);
      if (purpose === "review") text.push(`${thought.left} positions left`);
      else text.push(`${this.board.side(1)} wins with ${percent(analysis.win)} %`,
        (analysis.moves[0]?.line || []).slice(0, LINE).map((one) => game.names[one]).join(" "));
    } else if (state.busy) text.push("thinking …");
    return text.filter(Boolean).join(" · ");
  }

  /**
   * Show a sentence for a while.
   * @param {string} text
   * @param {string} kind
   */
  say(text, kind) {
    this.notice.textContent = text;
    this.notice.dataset.kind = kind;
    this.notice.hidden = false;
    clearTimeout(this.noticeTimer);
    if (kind !== "refused") this.noticeTimer = setTimeout(() => this.hideNotice(), NOTICE);
  }

  /** @param {string} [kind] of the sentences to hide; all without it */
  hideNotice(kind) {
    if (!kind || this.notice.dataset.kind === kind) this.notice.hidden = true;
  }
}
