// A board to play and study on: what is known of the game, and what can be done. A page loads it, and so does a
// notebook's widget, with the modules that it imports in one text (alphago/ui/web/page_files.py).
//
//   mount(element, connection, options)
//
// Returns { send, destroy }.

import { click, download } from "./effects.js";
import { h } from "./elements.js";
import { Dialog } from "./dialog.js";
import { obeyKey } from "./keys.js";
import { Panel } from "./panel.js";
import { Study } from "./study.js";
import { Surface } from "./surface.js";

/** @typedef {import("./wire.js").NodeView & {children: number[], win: number | null, score: number | null}} Knot */
/** @typedef {import("./wire.js").Message} Message */
/** @typedef {import("./wire.js").StateMessage} StateMessage */
/** @typedef {import("./wire.js").GameView} GameView */

/**
 * @typedef {object} Options
 * @property {EventTarget} [keys] where keys are listened for, `document` on a page of its own (the element itself)
 * @property {() => boolean} [isShown] whether keys are meant for the board
 * @property {(link: string) => void} [onLink] called with the link of the position on the board
 * @property {boolean} [widget] whether it is a part of another page
 */

const LARGEST_FILE = 900000; // bytes

/**
 * @param {HTMLElement} element
 * @param {import("./wire.js").Connection} connection
 * @param {Options} [options]
 */
export function mount(element, connection, options = {}) {
  const board = new Board(element, connection, options);
  return { send: (/** @type {object} */ message) => connection.send(message), destroy: () => board.destroy() };
}

// What a notebook's widget (anywidget) calls.
export default {
  /** @param {{model: any, el: HTMLElement}} widget */
  render({ model, el }) {
    const board = mount(el, {
      send: (message) => model.send(message),
      listen: (callback) => {
        model.on("msg:custom", callback);
        return () => model.off("msg:custom", callback);
      },
    }, { widget: true });
    board.send({ type: "hello" });
    return () => board.destroy();
  },
};

export class Board {
  /**
   * @param {HTMLElement} element
   * @param {import("./wire.js").Connection} connection
   * @param {Options} options
   */
  constructor(element, connection, options) {
    this.root = element;
    this.connection = connection;
    this.options = options;
    /** @type {Pick<import("./wire.js").WelcomeMessage, "games">} */
    this.welcome = { games: [] };
    /** @type {GameView} */
    this.game = /** @type {any} */ (null); // until the first message that has one, as `state`
    this.names = ["", ""];
    /** @type {Map<number, Knot>} */
    this.nodes = new Map();
    /** @type {StateMessage} */
    this.state = /** @type {any} */ (null);
    /** @type {import("./wire.js").ThinkingMessage | null} */
    this.thought = null; // the latest message of the search
    this.look = { mode: "loss", ownership: true, numbers: false, sound: false };
    /** @type {number | null} */
    this.hovered = null; // the action whose line is shown
    /** @type {[number, number] | null} */
    this.cursor = null; // column and row of the area that the keyboard is on
    this.waiting = false; // whether it is drawn soon
    this.surface = new Surface(this);
    this.panel = new Panel(this);
    this.study = new Study(this);
    this.dialog = new Dialog(this);
    this.root.classList.add("ag");
    this.root.replaceChildren(this.surface.element,
      h("div", { class: "ag-side" }, this.panel.elements, this.study.element), this.dialog.element);
    if (options.widget) this.root.tabIndex = 0;
    this.root.addEventListener("click", (/** @type {any} */ event) => { // so that Space is the study key again
      if (event.detail) event.target.closest("button")?.blur();
    });
    this.keys = (/** @type {any} */ event) => obeyKey(this, event);
    this.keyTarget = options.keys || element;
    this.keyTarget.addEventListener("keydown", this.keys);
    this.unlisten = connection.listen((message) => this.receive(message));
  }

  destroy() {
    this.keyTarget.removeEventListener("keydown", this.keys);
    if (typeof this.unlisten === "function") this.unlisten();
    this.root.replaceChildren();
  }

  /**
   * @param {string} type
   * @param {object} [fields]
   */
  send(type, fields = {}) {
    this.connection.send({ type, ...fields });
  }

  // --- messages ---

  /** @param {Message} message */
  receive(message) {
    if (message.type === "welcome") this.welcome = message;
    else if (message.type === "game") this.setGame(message);
    else if (message.type === "notice") this.panel.say(message.text, message.kind);
    else if (message.type === "file") download(message.name, message.text);
    else if (message.type === "status") {
      this.panel.loading = message.text;
      this.panel.showStatus();
    } else if (this.game === null) return; // a notebook's board may be shown while a game goes on: its own begins later
    else if (message.type === "state") this.setState(message);
    else if (message.type === "thinking") this.setThought(message);
  }

  /** @param {import("./wire.js").GameMessage} message */
  setGame(message) {
    this.game = message.game;
    this.names = message.names;
    this.nodes.clear();
    this.state = /** @type {any} */ (null);
    this.thought = this.hovered = this.cursor = null;
    this.surface.clear();
    this.panel.clear();
    this.study.clear();
    this.panel.showStatus();
  }

  /** @param {StateMessage} message */
  setState(message) {
    const before = this.state;
    for (const node of message.added) {
      this.nodes.set(node.node, { ...node, children: [], win: null, score: null });
      this.nodes.get(node.parent)?.children.push(node.node);
    }
    message.evaluations.forEach((known) => this.evaluate(known));
    this.state = message;
    if (!before || before.node !== message.node) {
      this.hovered = null;
      if (before && this.look.sound && message.view.moves > before.view.moves) click();
      if (before) this.panel.hideNotice("error");
    }
    if (!message.busy) this.thought = null;
    if (this.options.onLink) this.options.onLink(message.link);
    this.render();
  }

  /** @param {import("./wire.js").ThinkingMessage} message */
  setThought(message) {
    if (!this.state) return;
    this.thought = message;
    this.evaluate(message.evaluation);
    if (message.node === this.state.node) this.state.analysis = message.analysis;
    this.renderSoon();
  }

  /** @param {import("./wire.js").EvaluationView} known */
  evaluate({ node, win, score }) {
    const knot = this.nodes.get(node);
    if (knot) [knot.win, knot.score] = [win, score];
  }

  // --- what is known ---

  /** @param {number} player */
  side(player) {
    return this.game.sides[player > 0 ? 0 : 1];
  }

  /**
   * A node that the page has been told of.
   * @param {number} number
   * @returns {Knot}
   */
  knot(number) {
    return /** @type {Knot} */ (this.nodes.get(number));
  }

  // The nodes that lead to the one on the board, without the root.
  path() {
    const path = [];
    for (let node = this.nodes.get(this.state.node); node && node.parent >= 0; node = this.nodes.get(node.parent)) {
      path.unshift(node);
    }
    return path;
  }

  // The analysis to show.
  analysis() {
    return this.state.study && !this.state.over ? this.state.analysis : null;
  }

  /**
   * The analysed move of an action, whose line can be shown.
   * @param {number} action
   */
  lineOf(action) {
    return this.analysis()?.moves.find(({ move }) => move === action);
  }

  // --- actions ---

  /** @param {number | null} action */
  play(action) {
    if (action === null || !this.state) return;
    if (this.state.count && action !== this.game.pass) this.send("dead", { point: action });
    else this.send("play", { move: action });
  }

  /** @param {"study" | "analysing"} what */
  toggle(what) {
    if (this.state) this.send("toggle", { what });
  }

  /** @param {number} count */
  step(count) {
    if (this.state) this.send("step", { count });
  }

  /** @param {number} direction */
  sibling(direction) {
    if (this.state) this.send("variation", { direction });
  }

  review() {
    const { study, strength } = this.state;
    if (study) this.send("review", { readouts: strength.tree ? strength.readouts || 100 : 1 });
  }

  stop() {
    this.hover(null);
    this.send("stop");
  }

  async copyLink() {
    const link = `${location.origin}${location.pathname}#${this.state.link}`;
    try {
      await navigator.clipboard.writeText(link);
      this.panel.say("The link is in the clipboard.", "hint");
    } catch {
      this.panel.say(link, "hint");
    }
  }

  /** @param {File} [file] */
  async read(file) {
    if (!file) return;
    if (file.size > LARGEST_FILE) this.panel.say("A file must have at most 900 kB.", "error");
    else this.send("open", { text: await file.text() });
  }

  /**
   * Show the line of a listed move; the same again hides it.
   * @param {number} row
   */
  showLine(row) {
    const shown = this.analysis()?.moves[row];
    if (shown) this.hover(this.hovered === shown.move ? null : shown.move);
  }

  /** @param {"ownership" | "numbers"} name */
  flip(name) {
    this.look[name] = !this.look[name];
    this.render();
  }

  /**
   * @param {number} dx
   * @param {number} dy
   */
  moveCursor(dx, dy) {
    const rows = this.surface.rows();
    if (!rows.length) return;
    const middle = Math.floor(rows.length / 2);
    const [x, y] = this.cursor || [Math.floor(rows[middle].length / 2), middle];
    const row = this.cursor ? (y + dy + rows.length) % rows.length : y;
    this.cursor = [this.cursor ? (x + dx + rows[row].length) % rows[row].length : x, row];
    this.hovered = this.cursorAction(); // so that the cursor shows a move's line, as the mouse does
    this.render();
  }

  cursorAction() {
    if (!this.cursor) return null;
    const [x, y] = this.cursor;
    return this.surface.rows()[y]?.[x] ?? null;
  }

  playCursor() {
    this.play(this.cursorAction());
  }

  /** @param {number | null} action */
  hover(action) {
    if (this.hovered === action) return;
    this.hovered = action;
    if (this.state) this.render(false);
  }

  // --- rendering ---

  /** @param {boolean} [all] whether to draw what does not change while the engine thinks, too */
  render(all = true) {
    if (!this.state) return;
    this.panel.showStatus();
    this.surface.draw();
    if (all) this.panel.draw();
    this.study.draw(all);
  }

  renderSoon() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      this.render(false);
    });
  }
}
