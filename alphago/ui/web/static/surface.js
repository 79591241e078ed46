// The board as its game describes it (alphago/env/board_view.py): cells, stones or seeds, and what is clicked.

import { countMarks } from "./count.js";
import { h, s } from "./elements.js";
import { overlays } from "./overlays.js";
import { COLOURS } from "./wire.js";

/** @typedef {import("./board.js").Board} Board */

export const UNIT = 40; // pixels from a cell to the next
const HOLD = 450; // milliseconds, after which a finger on the board shows a move's line and does not play it
const MOST_WORDS = 400; // buttons of actions that have no place on the board

export class Surface {
  /** @param {Board} board */
  constructor(board) {
    this.board = board;
    this.svg = s("svg", { role: "img", "aria-label": "the board", class: "ag-svg" });
    this.words = h("div", { class: "ag-words", hidden: true });
    this.element = h("div", { class: "ag-board",
      ondragover: (/** @type {Event} */ event) => event.preventDefault(),
      ondrop: (/** @type {DragEvent} */ event) => {
        event.preventDefault();
        board.read(event.dataTransfer?.files[0]);
      } }, this.svg, this.words);
    /** @type {string | undefined} */
    this.pressed = undefined; // the action that is pressed
    this.holding = 0;
    this.listen();
  }

  listen() {
    const { svg, board } = this;
    // The board is drawn anew while the engine thinks, perhaps between the press and its release.
    const under = (/** @type {PointerEvent} */ event) => {
      const target = svg.getRootNode().elementFromPoint(event.clientX, event.clientY);
      return target && svg.contains(target) ? target.dataset.action : undefined;
    };
    svg.addEventListener("pointerdown", (/** @type {PointerEvent} */ event) => {
      this.pressed = event.button === 0 ? under(event) : undefined;
      if (event.pointerType === "mouse" || !board.lineOf(Number(this.pressed))) return;
      this.holding = setTimeout(() => { // a finger that stays asks, and does not play
        board.hover(Number(this.pressed));
        this.pressed = undefined;
      }, HOLD);
    });
    const release = (/** @type {PointerEvent} */ event) => {
      clearTimeout(this.holding);
      if (event.pointerType !== "mouse") board.hover(null);
      this.pressed = undefined;
    };
    svg.addEventListener("pointercancel", release);
    svg.addEventListener("pointerup", (/** @type {PointerEvent} */ event) => {
      if (this.pressed !== undefined && under(event) === this.pressed) board.play(Number(this.pressed));
      release(event);
    });
    svg.addEventListener("contextmenu", (/** @type {PointerEvent} */ event) => {
      if (event.pointerType !== "mouse") event.preventDefault();
    });
    svg.addEventListener("pointerleave", () => board.hover(null));
  }

  // A new game's position may take a while, and the board of the game before takes no moves.
  clear() {
    this.element.dataset.surface = this.board.game.surface;
    this.svg.replaceChildren();
    this.words.replaceChildren();
  }

  /**
   * The cell in which an action's piece lands: the first free one of its cells, else the last; null for a pass.
   * @param {number} action
   * @param {number} player
   * @param {(cell: number) => boolean} isFree
   * @returns {number | null}
   */
  landing(action, player, isFree) {
    const cells = this.board.game.places[player > 0 ? 0 : 1][action] || [];
    return cells.find(isFree) ?? cells.at(-1) ?? null;
  }

  /**
   * The middle of a cell on the screen.
   * @param {number} cell
   * @returns {[number, number]}
   */
  at(cell) {
    const [x, y] = this.board.game.cells[cell];
    return [x * UNIT, y * UNIT];
  }

  // The actions that the side to move can click, each with the middles of its cells.
  areas() {
    const { cells, places } = this.board.game;
    const own = places[this.board.state.view.toPlay > 0 ? 0 : 1];
    return own.map((each, action) => ({ action, spots: each.map((cell) => cells[cell]) }))
      .filter(({ spots }) => spots.length);
  }

  // The actions that can be clicked, by rows from the top, each from the left.
  rows() {
    /** @type {Map<string, {x: number, action: number}[]>} */
    const rows = new Map();
    for (const { action, spots } of this.areas()) {
      const [x, y] = [0, 1].map((axis) => spots.reduce((sum, spot) => sum + spot[axis], 0) / spots.length);
      rows.set(y.toFixed(3), [...(rows.get(y.toFixed(3)) || []), { x, action }]);
    }
    const sorted = [...rows].sort(([one], [other]) => Number(one) - Number(other));
    return sorted.map(([, row]) => row.sort((one, other) => one.x - other.x).map(({ action }) => action));
  }

  draw() {
    const { surface, size, margin } = this.board.game;
    const text = surface === "text";
    this.svg.toggleAttribute("hidden", text);
    this.drawWords(text);
    if (text) return;
    const box = [-margin, -margin, size[0] + 2 * margin, size[1] + 2 * margin].map((length) => length * UNIT);
    this.svg.setAttribute("viewBox", box.join(" "));
    this.svg.replaceChildren(...this.ground(box), ...this.stones(), ...this.seeds(), ...this.stores(),
      ...overlays(this.board, this), ...countMarks(this.board, this), ...this.targets());
  }

  /**
   * Buttons for the actions that have no place on the board, and the board in letters where it has no cells.
   * @param {boolean} text
   */
  drawWords(text) {
    const { view } = this.board.state;
    const { names, pass } = this.board.game;
    const clicked = new Set(this.areas().map(({ action }) => action));
    const others = view.legal.filter((action) => !clicked.has(action) && (text || action !== pass)).slice(0, MOST_WORDS);
    this.words.hidden = !text && !others.length;
    this.words.replaceChildren(...(text ? [h("pre", {}, view.drawing)] : []), h("div", { class: "ag-row" },
      ...others.map((action) => h("button", { type: "button", "data-action": action,
        onclick: () => this.board.play(action) }, names[action]))));
  }

  /** @param {number[]} box */
  ground([left, top, wide, high]) {
    const { surface, size, cells, lines, labels, stars, stone } = this.board.game;
    const { stones = "" } = this.board.state.view;
    const parts = [s("rect", { x: left, y: top, width: wide, height: high, class: "ag-wood" })];
    if (surface === "holes") {
      parts.push(s("rect", { x: 0, y: 0, width: size[0] * UNIT, height: size[1] * UNIT, class: "ag-frame" }),
        ...cells.filter((_, cell) => stones[cell] === ".").map(([x, y]) => s("circle", { cx: x * UNIT, cy: y * UNIT,
          r: stone * UNIT, class: "ag-hole" })));
    }
    const path = lines.map((ends) => ends.map((length) => length * UNIT)).map(([x, y, u, v]) => `M${x} ${y}L${u} ${v}`);
    if (path.length) parts.push(s("path", { d: path.join(""), class: "ag-lines" }));
    for (const [cx, cy] of stars.map((cell) => this.at(cell))) parts.push(s("circle", { cx, cy, r: 4, class: "ag-star" }));
    return [...parts, ...labels.map(([x, y, text]) => s("text", { x: x * UNIT, y: y * UNIT, class: "ag-label" }, text))];
  }

  stones() {
    const { stones = "", last, ko } = this.board.state.view;
    if (!stones) return [];
    const parts = [];
    const numbers = this.board.look.numbers ? this.moveNumbers() : new Map();
    for (const [cell, sign] of [...stones].entries()) {
      if (sign === ".") continue;
      const [x, y] = this.at(cell);
      const colour = COLOURS[sign === "X" ? 1 : -1];
      parts.push(s("circle", { cx: x, cy: y, r: this.board.game.stone * UNIT, class: `ag-piece ag-${colour}` }));
      if (numbers.has(cell)) parts.push(s("text", { x, y, class: `ag-number ag-on-${colour}` }, numbers.get(cell)));
    }
    if (last !== null && !numbers.has(last)) {
      const [cx, cy] = this.at(last);
      parts.push(s("circle", { cx, cy, r: 11.5, class: stones[last] === "X" ? "ag-last ag-on-black" : "ag-last" }));
    }
    for (const [x, y] of ko.map((cell) => this.at(cell))) {
      parts.push(s("rect", { x: x - 8, y: y - 8, width: 16, height: 16, class: "ag-ko" }));
    }
    return parts;
  }

  // The number of the move that each stone came with, by cell.
  moveNumbers() {
    /** @type {Map<number, number>} */
    const numbers = new Map();
    this.board.path().forEach(({ move, mover }, i) => {
      const cell = this.landing(move, mover, (each) => !numbers.has(each));
      if (cell !== null) numbers.set(cell, i + 1);
    });
    return numbers;
  }

  seeds() {
    const { legal, toPlay, seeds = [] } = this.board.state.view;
    const live = new Set(legal.map((action) => this.landing(action, toPlay, () => true)));
    return seeds.flatMap((count, cell) => {
      const [x, y] = this.at(cell);
      const group = [s("circle", { cx: x, cy: y, r: this.board.game.stone * UNIT,
        class: live.has(cell) ? "ag-house ag-live" : "ag-house" })];
      for (let i = 0; i < Math.min(count, 24); i += 1) {
        const turn = i * 2.4;
        const far = 4.3 * Math.sqrt(i);
        group.push(s("circle", { cx: x + far * Math.cos(turn), cy: y + far * Math.sin(turn), r: 3.6, class: "ag-seed" }));
      }
      return [...group, s("text", { x: x + 21, y: y + 21, class: "ag-count" }, count)];
    });
  }

  stores() {
    const { stores, sides } = this.board.game;
    return stores.flatMap((lengths, i) => {
      const [x, y, width, height] = lengths.map((length) => length * UNIT);
      return [s("rect", { x, y, width, height, rx: 20, class: "ag-house" }),
        s("text", { x: x + width / 2, y: y + height / 2, class: "ag-store" }, this.board.state.view.captures?.[i]),
        s("text", { x: x + width / 2, y: y + height + 0.3 * UNIT, class: "ag-label" }, sides[i])];
    });
  }

  // Transparent areas that are clicked.
  targets() {
    const { view, over } = this.board.state;
    const legal = new Set(view.legal);
    const reach = this.board.game.reach * UNIT;
    /** @param {number[]} middle */
    const square = ([x, y]) => `M${x * UNIT - reach} ${y * UNIT - reach}h${2 * reach}v${2 * reach}h${-2 * reach}z`;
    return this.areas().map(({ action, spots }) => s("path", { d: spots.map(square).join(""),
      class: over || !legal.has(action) ? "ag-target" : "ag-target ag-open",
      "data-action": action, "data-point": this.board.game.names[action],
      onpointerenter: (/** @type {PointerEvent} */ event) => event.pointerType === "mouse" && this.board.hover(action) }));
  }
}
