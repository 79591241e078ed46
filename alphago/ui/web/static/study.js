// The part of the page for studying: numbers, the best moves, the graph, the tree of variations, the legend.

import { LOSSES, MODES, lossOf } from "./candidates.js";
import { h, percent, s, short } from "./elements.js";
import { Graph } from "./graph.js";
import { legendOf } from "./legend.js";
import { Variations } from "./variations.js";

/** @typedef {import("./board.js").Board} Board */
/** @typedef {import("./wire.js").MoveView} MoveView */

export const ROWS = 6; // of the list of moves
const LINE = 8; // moves of an expected line

export class Study {
  /** @param {Board} board */
  constructor(board) {
    this.board = board;
    this.graph = new Graph(board);
    this.variations = new Variations(board);
    this.modes = h("select", { "aria-label": "numbers on the points", title: "numbers on the points (D)", "data-name": "mode",
      onchange: () => { board.look.mode = this.modes.value; board.render(); } },
      ...Object.entries(MODES).map(([name, text]) => h("option", { value: name }, text)));
    this.ownership = this.box("ownership", "small squares: whose each point becomes (O)", "ownership");
    this.numbers = this.box("move numbers", "the number of each stone's move (K)", "numbers");
    this.moves = h("ol", { class: "ag-moves", "data-name": "moves" });
    this.text = h("p", { class: "ag-small" });
    this.comment = h("p", { class: "ag-comment" });
    this.legend = h("details", { class: "ag-legend", "data-name": "legend" });
    this.element = h("section", { class: "ag-study", hidden: true },
      h("div", { class: "ag-row" }, h("label", {}, "numbers ", this.modes), this.ownership, this.numbers,
        h("button", { type: "button", title: "evaluate every position of this line (R)", "data-name": "review",
          onclick: () => board.review() }, "Review")),
      this.moves, this.graph.element, this.text, this.variations.element, this.comment, this.legend);
    this.listen();
  }

  /**
   * @param {string} text
   * @param {string} title
   * @param {"ownership" | "numbers"} name
   */
  box(text, title, name) {
    const { look } = this.board;
    return h("label", { title }, h("input", { type: "checkbox", checked: look[name],
      onchange: () => this.board.flip(name) }), text);
  }

  listen() {
    const { moves, board } = this;
    const rowOf = (/** @type {any} */ event) => event.target.closest("li");
    moves.addEventListener("pointerover", (/** @type {PointerEvent} */ event) => { // its rows are drawn anew too
      if (rowOf(event) && event.pointerType === "mouse") board.hover(Number(rowOf(event).dataset.action));
    });
    moves.addEventListener("pointerleave", (/** @type {PointerEvent} */ event) => event.pointerType === "mouse" && board.hover(null));
    moves.addEventListener("pointerdown", (/** @type {PointerEvent} */ event) => {
      if (!rowOf(event) || event.pointerType === "mouse") return;
      const action = Number(rowOf(event).dataset.action);
      board.hover(board.hovered === action ? null : action);
    });
  }

  // A new game.
  clear() {
    this.ownership.hidden = !this.board.game.ownership;
    this.legend.replaceChildren(h("summary", {}, "Legend"), legendOf(this.board.game));
  }

  nextMode() {
    const all = Object.keys(MODES);
    this.modes.value = this.board.look.mode = all[(all.indexOf(this.board.look.mode) + 1) % all.length];
    this.board.render();
  }

  /** @param {boolean} all whether to draw what does not change while the engine thinks, too */
  draw(all) {
    const { state, look } = this.board;
    if (all) {
      this.element.hidden = !state.study;
      this.ownership.querySelector("input").checked = look.ownership;
      this.numbers.querySelector("input").checked = look.numbers;
      this.comment.textContent = state.comment;
      this.comment.hidden = !state.comment;
      if (state.study) this.variations.draw();
    }
    if (!state.study) return;
    const moves = this.board.analysis()?.moves.slice(0, ROWS) || [];
    this.moves.replaceChildren(...moves.map((move) => this.row(move, moves[0])));
    this.graph.draw();
    this.text.textContent = this.graph.text();
  }

  /**
   * @param {MoveView} move
   * @param {MoveView} best
   */
  row(move, best) {
    const { names } = this.board.game;
    const kind = move.visits ? lossOf(move, best).kind : null;
    const words = [move.win === null ? "" : `${percent(move.win, 1)} %`,
      move.score === null ? "" : `${move.score > 0 ? "+" : move.score < 0 ? "−" : ""}${Math.abs(move.score)}`,
      `${short(move.visits)} visits`, `prior ${percent(move.prior, 1)} %`].filter(Boolean).join(", ");
    const dot = s("svg", { viewBox: "0 0 20 20", class: "ag-swatch" },
      s("circle", { cx: 10, cy: 10, r: 8, fill: kind === null ? "#999" : LOSSES[kind] }));
    return h("li", { class: this.board.hovered === move.move ? "ag-chosen" : "", "data-action": move.move },
      dot, h("b", {}, names[move.move]), ` ${words}`,
      h("span", { class: "ag-small" }, ` ${move.line.slice(0, LINE).map((one) => names[one]).join(" ")}`));
  }
}
