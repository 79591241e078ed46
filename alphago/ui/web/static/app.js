// A board to play and study on, with all that belongs to it, of a page or a notebook's widget.

import { Board } from "./board.js";
import { column } from "./column.js";
import { bytesOf, click, download } from "./effects.js";
import { h, renew } from "./elements.js";
import { drawGraph } from "./graph.js";
import { obeyKey } from "./keys.js";
import { asPlayed, nextMistake } from "./losses.js";
import { showHere } from "./move_list.js";
import { isToBeLookedInto, keptHints } from "./play_pane.js";
import { Clock } from "./players.js";
import { betterMove } from "./reasons.js";
import { told, toldOf } from "./status_line.js";
import { showNode } from "./variations.js";
import { buttons, say } from "./words.js";

const LARGEST_FILE = 900000; // bytes
const REVIEW = 100; // readouts of a position in a review, where a move is limited by seconds
const SHOWN = 12000; // milliseconds of a notice

export class App {
  look = { mode: "loss", ownership: true, numbers: false, tools: false, sound: false, letters: true };
  menuOpen = false;
  /** @type {{text: string, kind: string} | null} */
  notice = null; // a sentence that is shown for a while
  noticed = 0; // the timer of the notice
  said = ""; // what screen readers are told
  hintsRead = keptHints();
  step = 1; // of the slider of strength, which stays where it is while the engine follows the person's
  clock = new Clock();
  side = h("div.ag-side");
  dialog = h("dialog.ag-dialog#dialog", { "aria-label": buttons.new[0] });
  file = h("input", { type: "file", accept: ".sgf,.json,text/plain", hidden: true, "data-name": "file", onchange: () => {
    this.read(this.file.files[0]);
    this.file.value = "";
  } });
  board = new Board({ play: (action) => this.play(action), toggle: (point) => this.send("dead", { point }), hover: () => {
    const action = this.board.cursorAction();
    if (action !== null && this.desk.tree) this.said = toldOf(this.desk, action);
    this.drawColumn(false);
  } });
  /** The state that was drawn last. @type {{tree: Desk["tree"] | null, node: number, moves: number, reasons: Explanation | null}} */
  drawn = { tree: null, node: -1, moves: 0, reasons: null };
  /** @type {Desk["tree"] | null} */
  lookedInto = null; // the game whose positions were evaluated at its end
  frame = 0; // the animation frame in which `drawSoon` draws
  gone = new AbortController(); // of the listener of keys

  /** @param {HTMLElement} element @param {Desk} desk @param {Options} options */
  constructor(element, desk, options) {
    this.root = element;
    this.desk = desk;
    this.options = options;
    element.classList.add("ag");
    element.classList.toggle("ag-widget", Boolean(options.widget));
    element.replaceChildren(this.board.element, this.side, this.dialog, this.file);
    if (options.widget) element.tabIndex = 0;
    element.addEventListener("click", (/** @type {any} */ event) => { // Space is the study key again
      if (event.detail) event.target.closest("button, [type=range], [type=checkbox]")?.blur();
    });
    this.board.element.ondragover = (/** @type {Event} */ event) => event.preventDefault();
    this.board.element.ondrop = (/** @type {DragEvent} */ event) => {
      event.preventDefault();
      this.read(event.dataTransfer?.files[0]);
    };
    const { signal } = this.gone;
    (options.widget ? element : document).addEventListener("keydown", (event) => obeyKey(this, event), { signal });
    this.ticks = setInterval(() => this.drawColumn(false), 1000);
    desk.tell = (message) => this.receive(message);
    this.resized = new ResizeObserver(() => this.draw());
    this.resized.observe(element);
  }

  /** Remove the app from its element, with all listeners. */
  destroy() {
    this.gone.abort();
    clearInterval(this.ticks);
    this.resized.disconnect();
    this.desk.tell = () => {};
    this.root.replaceChildren();
  }

  /** Send a command to the desk. @param {string} type @param {object} [fields] */
  send(type, fields = {}) {
    this.desk.send({ type, ...fields });
  }

  /** Take a message of the desk. @param {Message} message */
  receive(message) {
    if (message.type === "notice") this.notify(message.text, message.kind);
    else if (message.type === "file") download(message.name, message.text);
    else if (message.type === "thinking") this.drawSoon();
    else this.show();
  }

  // Draw the desk's present state, with a motion or sound for a move.
  show() {
    const { desk, desk: { reasons, tree }, drawn } = this;
    if (!tree) return this.draw();
    const { current: node, position: { moves } } = tree;
    const begins = tree !== drawn.tree;
    const steps = begins || node !== drawn.node;
    const isNear = !begins && steps && Math.abs(moves - drawn.moves) < 3;
    this.drawn = { tree, node, moves, reasons };
    this.clock.look(desk, steps, begins);
    if (begins) {
      for (const [i, name] of ["--black", "--white"].entries()) this.root.style.setProperty(name, tree.view.colours?.[i] ?? "");
      this.board.setGame(tree.view);
      this.menuOpen = false;
    }
    if (steps) this.said = told(desk);
    if (steps && drawn.tree && this.notice?.kind === "error") this.notice = null;
    if (this.look.sound && !begins && moves > drawn.moves) click();
    this.options.onLink?.(tree.linkHere());
    if (tree !== this.lookedInto && isToBeLookedInto(desk)) {
      this.lookedInto = tree;
      this.send("review", { readouts: 1 });
    }
    this.draw(isNear);
    if (reasons !== drawn.reasons && reasons) this.side.querySelector(".ag-pane").scrollTop = 0;
    return undefined;
  }

  /** What the column shows. @returns {"play" | "study" | "menu"} */
  get pane() {
    return this.menuOpen ? "menu" : this.desk.study ? "study" : "play";
  }

  /** Show a pane; to choose the menu again closes it. @param {"play" | "study" | "menu"} pane */
  choose(pane) {
    this.menuOpen = pane === "menu" && !this.menuOpen;
    if (pane !== "menu" && this.desk.tree) this.send("study", { study: pane === "study" });
    this.draw();
  }

  // Open the menu, with the focus in the field for a typed move.
  type() {
    if (!this.menuOpen) this.choose("menu");
    this.side.querySelector("[data-name=typed]").focus();
  }

  /** Show a sentence for a while, or none. @param {string} [text] @param {string} [kind] */
  notify(text, kind = "hint") {
    this.notice = text ? { text, kind } : null;
    clearTimeout(this.noticed);
    if (text) this.noticed = setTimeout(() => this.notify(), SHOWN);
    this.drawColumn(false);
  }

  /** The analysis to show, in which a move that was played loses what the list of moves says. */
  analysis() {
    const { study, tree, tree: { node: { analysis } } } = this.desk;
    return !study || tree.over || !analysis ? null : asPlayed(analysis, tree.node, tree.nodes);
  }

  /** Whether a person is to move on the board. */
  isHumansTurn() {
    return this.desk.isHuman(this.desk.tree.position.toPlay);
  }

  /** Play an action; null does nothing. @param {number | null} action */
  play(action) {
    if (action !== null && this.desk.tree) this.send("play", { move: action });
  }

  /** Search all positions of the line, and show the study pane. */
  review() {
    const { strength } = this.desk;
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
    const node = nextMistake(this.desk.tree.line(), this.desk.tree.current, direction);
    if (node !== undefined) this.send("go", { node });
  }

  why() {
    this.send("study", { study: true });
    this.send("why");
  }

  async copyLink() {
    const link = `${location.origin}${location.pathname}#${this.desk.tree.linkHere()}`;
    this.notify(await navigator.clipboard?.writeText(link).then(() => say.copied, () => link) ?? link);
  }

  /** Open a file of a game. @param {File} [file] */
  read(file) {
    if (file && file.size > LARGEST_FILE) this.notify(say.tooLarge, "error");
    else if (file) this.desk.soon(async () => this.send("open", { text: await bytesOf(file) }));
  }

  /** Show the line of a listed move; the same again hides it. @param {number} row */
  showLine(row) {
    const shown = this.analysis()?.moves[row];
    if (shown) this.board.hover(this.board.hovered === shown.move ? null : shown.move);
  }

  /** Turn a setting of what is shown on or off. @param {"ownership" | "numbers" | "tools"} name */
  flip(name) {
    this.look[name] = !this.look[name];
    this.draw();
  }

  /** Set which numbers the discs have. @param {string} [mode] the next mode if none is given */
  setMode(mode) {
    const all = Object.keys(say.modes);
    this.look.mode = mode || all[(all.indexOf(this.look.mode) + 1) % all.length];
    this.draw();
  }

  /** Draw everything. @param {boolean} [moves] whether changes on the board are shown as motion */
  draw(moves = false) {
    const { board, desk, desk: { jobs, status, tree }, look } = this;
    if (tree && tree === this.drawn.tree) {
      board.show({ view: tree.position, count: tree.count, open: !tree.over && jobs.busy !== "move" && !status, analysis: this.analysis(),
        better: betterMove(desk), path: look.numbers ? tree.path().slice(1) : undefined, mode: look.mode, ownership: look.ownership }, moves);
    }
    this.drawColumn(true);
  }

  /** Draw the column. @param {boolean} all also what does not change while the engine thinks */
  drawColumn(all) {
    const { desk: { jobs, status, tree }, root: { classList, dataset }, side } = this;
    if (tree) dataset.pane = this.pane;
    classList.toggle("ag-ended", Boolean(tree?.result));
    classList.toggle("ag-busy", Boolean(jobs.busy || status || !tree));
    classList.toggle("ag-waits", Boolean(status)); // never inert: a field in which one types would lose its focus
    classList.toggle("ag-lost", status === say.lost);
    renew(side, column(this, all));
    for (const rows of all ? side.querySelectorAll(".ag-played") : []) showHere(rows);
    for (const shown of all ? side.querySelectorAll(".ag-tree") : []) showNode(shown);
    for (const place of side.querySelectorAll(".ag-graph")) drawGraph(this, place);
  }

  /** Draw what a search changes, at most once a frame. */
  drawSoon() {
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => {
      this.board.showAnalysis(this.analysis());
      this.drawColumn(false);
    });
  }
}
