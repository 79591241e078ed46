// A board to play and study on, with all that belongs to it, of a page or a notebook's widget.

import { Board } from "./board.js";
import { Column } from "./column.js";
import { click, download } from "./effects.js";
import { GameDialog } from "./game_dialog.js";
import { GameState } from "./game_state.js";
import { obeyKey } from "./keys.js";
import { nextMistake } from "./losses.js";
import { say } from "./words.js";

const LARGEST_FILE = 900000; // bytes
const REVIEW = 100; // readouts of a position in a review, where a move is limited by seconds

/** @param {HTMLElement} element @param {Desk} desk @param {Options} [options] */
export const mount = (element, desk, options = {}) => new App(element, desk, options);

export class App {
  /** @param {HTMLElement} element @param {Desk} desk @param {Options} options */
  constructor(element, desk, options) {
    this.root = element;
    this.desk = desk;
    this.options = options;
    /** @type {Pick<WelcomeMessage, "games">} */
    this.welcome = { games: [] };
    this.known = new GameState();
    this.look = { mode: "loss", ownership: true, numbers: false, sound: false, letters: true };
    this.waiting = false; // whether it is drawn soon
    this.board = new Board({ play: (action) => this.play(action), hover: () => this.state && this.column.hovered(),
      toggle: (point) => this.send("dead", { point }) });
    this.column = new Column(this);
    this.dialog = new GameDialog(this);
    this.root.classList.add("ag");
    this.root.classList.toggle("ag-widget", Boolean(options.widget));
    this.root.replaceChildren(this.board.element, this.column.element, this.dialog.element);
    this.column.status.draw();
    if (options.widget) this.root.tabIndex = 0;
    this.listen();
    this.keys = (/** @type {any} */ event) => obeyKey(this, event);
    this.keyTarget = options.widget ? element : document;
    this.keyTarget.addEventListener("keydown", this.keys);
    this.clock = setInterval(() => this.column.tick(), 1000);
    this.unlisten = desk.listen((message) => this.receive(message));
    this.resized = new ResizeObserver(() => this.draw());
    this.resized.observe(element);
  }

  listen() {
    this.root.addEventListener("click", (/** @type {any} */ event) => { // Space is the study key again
      if (event.detail) event.target.closest("button")?.blur();
    });
    this.board.element.ondragover = (/** @type {Event} */ event) => event.preventDefault();
    this.board.element.ondrop = (/** @type {DragEvent} */ event) => {
      event.preventDefault();
      this.read(event.dataTransfer?.files[0]);
    };
  }

  destroy() {
    this.keyTarget.removeEventListener("keydown", this.keys);
    clearInterval(this.clock);
    this.resized.disconnect();
    this.unlisten();
    this.root.replaceChildren();
  }

  /** @param {string} type @param {object} [fields] */
  send(type, fields = {}) {
    this.desk.send({ type, ...fields });
  }

  /** @param {Message} message */
  receive(message) {
    if (message.type === "welcome") this.welcome = message;
    else if (message.type === "game") this.setGame(message);
    else if (message.type === "notice") this.column.notice.say(message.text, message.kind);
    else if (message.type === "file") download(message.name, message.text);
    else if (message.type === "status") this.setStatus(message.text);
    else if (message.type === "state") this.setState(message);
    else if (message.type === "why") this.column.reasons.tell(message);
    else if (message.type === "thinking" && this.known.state) {
      this.known.setThought(message);
      this.drawSoon();
    }
  }

  /** @param {string} text */
  setStatus(text) {
    this.column.status.loading = text;
    this.column.status.draw();
    this.draw();
  }

  /** @param {GameMessage} message */
  setGame(message) {
    if (this.state) this.column.notice.hide("error");
    this.known.setGame(message);
    this.board.setGame(message.game);
    this.column.clear();
  }

  /** @param {StateMessage} message */
  setState(message) {
    const before = this.known.state;
    this.known.setState(message);
    const other = !before || before.node !== message.node;
    if (other && before) {
      if (this.look.sound && message.view.moves > before.view.moves) click();
      this.column.notice.hide("error");
    }
    if (this.options.onLink) this.options.onLink(message.link);
    const near = Boolean(before) && other && Math.abs(message.view.moves - before.view.moves) < 3;
    this.draw(near);
  }

  get state() {
    return this.known.state;
  }

  isHumansTurn() {
    return this.state.players[this.state.view.toPlay > 0 ? 0 : 1] === "human";
  }

  /** @param {number | null} action */
  play(action) {
    if (action !== null && this.state) this.send("play", { move: action });
  }

  /** @param {number} count */
  step(count) {
    this.send("step", { count });
  }

  review() {
    const { strength } = this.state;
    this.send("study", { study: true });
    this.send("review", { readouts: strength.tree ? strength.readouts || REVIEW : 1 });
  }

  stop() {
    this.board.hover(null);
    this.send("stop");
  }

  /**
   * Go to the next mistake of the line, or to the previous one.
   * @param {number} direction 1 or -1
   */
  mistake(direction) {
    const node = nextMistake(this.known.line(), this.state.node, direction);
    if (node !== undefined) this.send("go", { node });
  }

  why() {
    this.send("study", { study: true });
    this.send("why");
  }

  async copyLink() {
    const link = `${location.origin}${location.pathname}#${this.state.link}`;
    try {
      await navigator.clipboard.writeText(link);
      this.column.notice.say(say.copied, "hint");
    } catch {
      this.column.notice.say(link, "hint");
    }
  }

  /** @param {File} [file] */
  async read(file) {
    if (!file) return;
    if (file.size > LARGEST_FILE) this.column.notice.say(say.tooLarge, "error");
    else this.send("open", { text: await file.text() });
  }

  /** Show the line of a listed move; the same again hides it. @param {number} row */
  showLine(row) {
    const shown = this.known.analysis()?.moves[row];
    if (shown) this.board.hover(this.board.hovered === shown.move ? null : shown.move);
  }

  /** @param {"ownership" | "numbers"} name */
  flip(name) {
    this.look[name] = !this.look[name];
    this.draw();
  }

  /** @param {string} mode */
  setMode(mode) {
    this.look.mode = mode;
    this.draw();
  }

  /** @param {boolean} [moves] whether what changes on the board moves */
  draw(moves = false) {
    if (!this.state) return;
    const { view, over, count, busy } = this.state;
    const { reasons, status } = this.column;
    this.board.show({ view, count, open: !over && busy !== "move" && !status.loading, analysis: this.known.analysis(), better: reasons.better(),
      path: this.look.numbers ? this.known.path() : undefined, mode: this.look.mode, ownership: this.look.ownership }, moves);
    this.column.draw(true);
  }

  drawSoon() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      if (!this.state) return;
      this.board.showAnalysis(this.known.analysis());
      this.column.draw(false);
    });
  }
}
