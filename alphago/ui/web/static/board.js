// The board: draws a position of any game, and says what was clicked.

import { h, renew, s } from "./elements.js";
import { areasOf, inPixels, landingOf, numbersOfMoves, rowsOf, squarePath, UNIT } from "./geometry.js";
import { boxOf, frameOf, groundOf, paints } from "./ground.js";
import { marksOf, overlays } from "./overlays.js";
import { Pieces } from "./pieces.js";
import { say } from "./words.js";

const HOLD = 450; // milliseconds, after which a finger on the board shows a move's line and does not play it
const SMALL = 40; // pixels from a point to the next, below which discs are small
const MOST_WORDS = 400; // most buttons of actions without a place on the board
let boards = 0; // number of boards so far, for their names in the document

export class Board {
  /** @param {BoardListener} listener */
  constructor(listener) {
    this.listener = listener;
    this.id = `ag${boards += 1}`;
    /** @type {GameView} */
    this.game = /** @type {any} */ (null);
    /** @type {Scene | null} */
    this.scene = null;
    /** @type {number | null} */
    this.hovered = null; // the action under the pointer or the cursor, or chosen in a list
    /** @type {[number, number] | null} */
    this.cursor = null; // column and row of the area that the keyboard is on
    this.small = false; // whether a disc has room for one short number
    this.walked = ""; // the line that was walked through last, so that it is walked once
    /** @type {Pieces} */
    this.pieces = /** @type {any} */ (null);
    this.marks = s("g.ag-marks");
    this.over = s("g.ag-over");
    this.targets = s("g");
    // Two drawings: what a search changes ten times a second does not paint the stones again.
    this.below = s("svg", { "aria-hidden": "true" });
    this.svg = s("svg.ag-svg", { role: "img", "aria-label": say.board }, this.over, this.targets);
    this.stack = h("div.ag-stack", this.below, this.svg);
    this.words = h("div.ag-words", { hidden: true });
    this.element = h("div.ag-board", this.stack, this.words);
    /** @type {string | undefined} */
    this.pressed = undefined; // the action that is pressed
    this.holding = 0;
    this.listen();
  }

  /** Listen to the pointer. */
  listen() {
    const { svg } = this;
    /** @type {(kind: string, act: (event: PointerEvent) => void) => void} */
    const on = (kind, act) => svg.addEventListener(kind, act);
    const under = (/** @type {PointerEvent} */ event) => { // what is drawn anew between press and release still counts
      const target = svg.getRootNode().elementFromPoint(event.clientX, event.clientY);
      return target && svg.contains(target) ? target.dataset.action : undefined;
    };
    on("pointerdown", (event) => {
      this.pressed = event.button === 0 ? under(event) : undefined;
      if (event.pointerType === "mouse" || !this.lineOf(Number(this.pressed))) return;
      this.holding = setTimeout(() => { // a finger that stays asks, and does not play
        this.hover(Number(this.pressed));
        this.pressed = undefined;
      }, HOLD);
    });
    const release = (/** @type {PointerEvent} */ event) => {
      clearTimeout(this.holding);
      if (event.pointerType !== "mouse") this.hover(null);
      this.pressed = undefined;
    };
    on("pointercancel", release);
    on("pointerup", (event) => {
      if (this.pressed !== undefined && under(event) === this.pressed) this.click(Number(this.pressed));
      release(event);
    });
    on("contextmenu", (event) => {
      if (event.pointerType !== "mouse") event.preventDefault();
    });
    on("pointermove", (event) => { // entering would not do: what is drawn anew under a pointer at rest is entered too
      const { action } = /** @type {SVGElement} */ (event.target).dataset;
      if (event.pointerType === "mouse" && action !== undefined) this.hover(Number(action));
    });
    on("pointerleave", () => this.hover(null));
  }

  /** Draw another game's empty board. @param {GameView} game */
  setGame(game) {
    if (String(game.names) !== String(this.game?.names)) this.cursor = null;
    this.game = game;
    this.scene = this.hovered = null;
    this.element.dataset.surface = game.surface;
    const box = boxOf(game);
    for (const drawing of [this.below, this.svg]) drawing.setAttribute("viewBox", box.join(" "));
    this.element.style.setProperty("--ratio", game.surface === "text" ? "1" : String(box[2] / box[3]));
    this.element.style.setProperty("--ground", game.ground);
    this.element.toggleAttribute("data-ground", Boolean(game.ground));
    for (const [i, name] of ["--black", "--white", "--last"].entries()) {
      this.element.style.setProperty(name, game.colours ? [...game.colours, "#111"][i] : "");
    }
    this.pieces = new Pieces(this.id);
    this.below.replaceChildren(paints(this.id), s("g", game.surface !== "text" && groundOf(game, this.id)), this.pieces.element,
      s("g", frameOf(game)), this.pieces.counts, this.marks);
  }

  /** Show a scene. @param {Scene} scene @param {boolean} [moves] whether changes on the board are shown as motion */
  show(scene, moves = false) {
    const { game } = this;
    const isOther = this.scene?.view !== scene.view;
    this.scene = scene;
    if (isOther) this.hovered = this.cursorAction();
    const text = game.surface === "text";
    this.stack.hidden = text;
    this.showWords(text);
    if (text) return;
    this.measure();
    this.pieces.draw(game, scene.view, moves);
    this.marks.replaceChildren(...marksOf(game, scene, scene.path ? numbersOfMoves(game, scene.path) : new Map()));
    renew(this.targets, this.areas());
    this.showOver();
  }

  // Texts keep a size on the screen that can be read.
  measure() {
    const scale = this.stack.clientWidth / this.below.viewBox.baseVal.width;
    if (!scale) return; // not shown yet
    this.small = scale * UNIT < SMALL;
    const size = Math.min(Math.max(11 * scale, 9.5), 15) / scale;
    this.element.style.setProperty("--label-size", `${size.toFixed(1)}px`);
  }

  /** What a search has found meanwhile. @param {AnalysisView | null} analysis */
  showAnalysis(analysis) {
    if (this.scene) this.scene.analysis = analysis;
    this.showOver();
  }

  /** Draw what lies over the pieces. */
  showOver() {
    const { game, scene, hovered } = this;
    if (!scene || game.surface === "text") return;
    const line = hovered === null ? null : this.lineOf(hovered)?.line;
    const walks = Boolean(line) && this.walked !== String(line);
    this.walked = String(line || "");
    renew(this.over, overlays(game, scene, { hovered, line: line || null, chosen: this.cursorAction(), walks, small: this.small }));
  }

  /** Play an action that was clicked; in a count, change the state of its cell's stones instead. @param {number} action */
  click(action) {
    if (this.scene?.count) {
      const cell = landingOf(this.game, action, 1, () => false);
      if (cell !== null && this.listener.toggle) this.listener.toggle(cell);
    } else this.listener.play(action);
  }

  /** The invisible areas that can be clicked. */
  areas() {
    const { view, open = true, count } = /** @type {Scene} */ (this.scene);
    const legal = new Set(open ? view.legal : []);
    const { names, reach } = this.game;
    const side = reach * UNIT;
    return areasOf(this.game, view.toPlay).map(({ action, spots }) => s("path", { d: spots.map((spot) => squarePath(inPixels(spot), side)).join(""),
      class: legal.has(action) || count ? "ag-target ag-open" : "ag-target", "data-action": action, "data-point": names[action] }));
  }

  /** Buttons for the actions that have no place on the board, and the board in letters where it has no cells. @param {boolean} text */
  showWords(text) {
    const { view, open = true } = /** @type {Scene} */ (this.scene);
    const { names, pass } = this.game;
    const clicked = new Set(areasOf(this.game, view.toPlay).map(({ action }) => action));
    const others = open ? view.legal.filter((action) => !clicked.has(action) && (text || action !== pass)) : [];
    this.words.hidden = !text && !others.length;
    this.element.classList.toggle("ag-worded", !this.words.hidden && !text);
    this.words.replaceChildren(...(text ? [h("pre", view.drawing)] : []), h("div.ag-row",
      others.slice(0, MOST_WORDS).map((action) => h("button", { "data-action": action,
        onclick: () => this.listener.play(action) }, names[action]))));
  }

  /** The analysed move of an action, whose line can be shown. @param {number} action */
  lineOf(action) {
    return this.scene?.analysis?.moves.find(({ move }) => move === action);
  }

  /** Set the action whose line or preview is shown. @param {number | null} action */
  hover(action) {
    if (this.hovered === action) return;
    this.hovered = action;
    this.showOver();
    if (this.listener.hover) this.listener.hover(action);
  }

  /** Move the cursor by columns and rows; the first call puts it in the middle. @param {number} dx @param {number} dy */
  moveCursor(dx, dy) {
    const rows = rowsOf(this.game, /** @type {Scene} */ (this.scene).view.toPlay);
    if (!rows.length) return;
    const middle = Math.floor(rows.length / 2);
    const [x, y] = this.cursor || [Math.floor(rows[middle].length / 2), middle];
    const row = this.cursor ? (y + dy + rows.length) % rows.length : y;
    this.cursor = [this.cursor ? (x + dx + rows[row].length) % rows[row].length : x, row];
    this.hovered = null;
    this.hover(this.cursorAction()); // so that the cursor shows a move's line, as the mouse does
  }

  /** The action that the cursor is on; null without a cursor. */
  cursorAction() {
    if (!this.cursor) return null;
    const [x, y] = this.cursor;
    return rowsOf(this.game, /** @type {Scene} */ (this.scene).view.toPlay)[y]?.[x] ?? null;
  }

  /** Click the action that the cursor is on. */
  playCursor() {
    const action = this.cursorAction();
    if (action !== null) this.click(action);
  }
}
