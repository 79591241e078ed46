// The column while one studies: what the overlay shows, best moves, graph, moves that were played, tree.

import { colourOf, evenPriors, isHeld, modeOf, priorText, shownMoves } from "./candidates.js";
import { choicesOf, h, margin, Part, percent, renew, short } from "./elements.js";
import { Graph } from "./graph.js";
import { box, button, dot } from "./icons.js";
import { MoveList } from "./move_list.js";
import { Variations } from "./variations.js";
import { buttons, fill, legend, say } from "./words.js";

/**
 * Texts of a move: chance and lead are the first side's.
 * @type {Record<string, (move: MoveView, mover: number, sides: [string, string]) => string>}
 */
const CELLS = {
  win: ({ win }, mover) => (win === null ? "" : percent(mover > 0 ? win : 1 - win, 1)),
  score: ({ score }, mover, sides) => (score === null ? "" : margin(mover * score, sides)),
  visits: ({ visits }) => (visits ? short(visits) : ""),
  prior: ({ prior }) => priorText(prior),
};

export class Study extends Part {
  graph = new Graph(this.app);
  variations = new Variations(this.app);
  list = new MoveList(this.app, true);
  analyse = button("analyse", () => this.app.send("toggle", { what: "analysing" }));
  review = button("review", () => this.app.review());
  modes = h("select", { "aria-label": say.numbersTitle, title: say.numbersTitle, "data-name": "mode",
    onchange: () => this.app.setMode(this.modes.value) }, choicesOf(say.modes));
  ownership = box("ownership", () => this.app.flip("ownership"), this.app.look.ownership);
  numbers = box("numbers", () => this.app.flip("numbers"), this.app.look.numbers);
  why = button("why", () => this.app.why());
  show = (/** @type {any} */ event) => this.point(event);
  moves = h("tbody", { class: "ag-moves", "data-name": "moves", onpointermove: this.show, onpointerleave: this.show, onpointerdown: this.show });
  heads = Object.fromEntries(Object.entries(say.columns).map(([name, text]) => [name, h("th", { scope: "col" }, text)]));
  table = h("table", { class: "ag-table", "aria-label": say.candidates }, h("thead", {}, h("tr", {}, Object.values(this.heads))), this.moves);
  fit = h("div", { class: "ag-fit" }, h("div", {}, this.table));
  element = h("section", { class: "ag-study", hidden: true, "aria-label": buttons.study[0] },
    h("div", { class: "ag-row" }, this.analyse, this.review, this.why, button("shows", () => this.element.toggleAttribute("data-open"), "ag-shows")), h("div", { class: "ag-row ag-tools" }, this.modes, this.ownership, this.numbers),
    this.graph.element, this.fit, this.list.element, this.variations.element);

  /** Show the line of the row under the pointer; its rows are drawn anew too. @param {any} event */
  point({ type, pointerType, target }) {
    const { board } = this.app;
    const action = Number(target.closest("tr")?.dataset.action ?? NaN);
    if ((pointerType === "mouse") === (type === "pointerdown")) return;
    if (type === "pointerleave") board.hover(null);
    else if (action >= 0) board.hover(type === "pointerdown" && board.hovered === action ? null : action);
  }

  clear() {
    const { territory, surface, sides } = this.app.known.game;
    this.heads.win.textContent = fill(say.columns.win, sides[0]);
    this.ownership.hidden = !territory;
    this.numbers.hidden = surface === "houses"; // no piece there came with one move
  }

  nextMode() {
    const all = Object.keys(say.modes);
    this.app.setMode(all[(all.indexOf(this.app.look.mode) + 1) % all.length]);
  }

  /** @param {boolean} all also what does not change while the engine thinks */
  draw(all) {
    const { state, look } = this.app;
    if (!state?.study) return;
    if (all) {
      this.analyse.setAttribute("aria-pressed", String(state.analysing));
      this.ownership.control.checked = look.ownership;
      this.numbers.control.checked = look.numbers;
      this.review.disabled = state.line.length < 2;
      this.why.hidden = state.node === 0 || !this.app.known.game.levels;
      this.variations.draw();
    }
    if (all || state.busy === "review") this.list.draw();
    this.modes.value = modeOf(this.app.known.analysis(), look.mode);
    this.drawMoves();
    this.graph.draw(all);
  }

  drawMoves() {
    const found = this.app.known.analysis();
    const listed = found ? shownMoves(found) : [];
    if (found) {
      const even = evenPriors(found.moves);
      for (const [name, text] of Object.entries(CELLS)) this.heads[name].hidden = !listed.some((move) => text(move, 1, this.app.known.game.sides));
      this.heads.prior.hidden = even;
      for (const mode of this.modes.options) mode.hidden = even && /prior|sum/.test(mode.value);
      this.ownership.hidden = !found.ownership || !this.app.known.game.territory;
    }
    this.fit.hidden = !listed.length;
    this.fit.style.setProperty("--rows", listed.length + 1);
    renew(this.moves, listed.map((move) => this.row(move, listed[0], /** @type {AnalysisView} */ (found).mover)));
  }

  /** @param {MoveView} move @param {MoveView} best @param {number} mover */
  row(move, best, mover) {
    const { names, sides } = this.app.known.game;
    return h("tr", { class: this.app.board.hovered === move.move && "ag-chosen", "data-action": move.move, title: move.line.map((one) => names[one]).join(" ") },
      h("td", {}, dot(colourOf(move, best)), h("b", {}, names[move.move])),
      Object.entries(CELLS).map(([name, text]) => {
        const held = /win|score/.test(name) && isHeld(move, best, name);
        return h("td", { hidden: this.heads[name].hidden, title: held && legend.held }, held && "≈", text(move, mover, sides));
      }));
  }
}
