// The column while one studies: what the overlay shows, best moves, graph, moves that were played, tree.

import { colourOf, evenPriors, isHeld, modeOf, priorText, shownMoves } from "./candidates.js";
import { h, margin, percent, same, select, short } from "./elements.js";
import { box, button, dot } from "./icons.js";
import { moveList } from "./move_list.js";
import { variations } from "./variations.js";
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

/** The pane for studying. @param {App} app @param {boolean} all also what does not change while the engine thinks */
export function studyPane(app, all) {
  const { desk: { analysing, jobs, tree, tree: { view } }, look } = app;
  const found = app.analysis();
  const even = found !== null && evenPriors(found.moves);
  const line = tree.line();
  const modes = Object.fromEntries(Object.entries(say.modes).filter(([mode]) => !even || mode === look.mode || !/prior|sum/.test(mode)));
  return h("section.ag-study", { "aria-label": buttons.study[0], "data-open": look.tools },
    h("div.ag-row", button("analyse", () => app.send("toggle", { what: "analysing" }), { "aria-pressed": String(analysing) }),
      button("review", () => app.review(), { disabled: line.length < 2 }),
      button("why", () => app.why(), { hidden: tree.current === 0 || !view.levels }),
      button("shows", () => app.flip("tools"), { class: "ag-shows" })),
    h("div.ag-row.ag-tools",
      select({ "data-name": "mode", title: say.numbersTitle, "aria-label": say.numbersTitle, onchange: (/** @type {any} */ { target }) => app.setMode(target.value) },
        modes, modeOf(found, look.mode)),
      box("ownership", () => app.flip("ownership"), look.ownership, !view.territory || Boolean(found && !found.ownership)),
      box("numbers", () => app.flip("numbers"), look.numbers, view.surface === "houses")), // no piece there came with one move
    h("div.ag-graph", { role: "img", "aria-label": say.graph, hidden: line.filter(({ win }) => win !== null).length < 2 }, same()),
    table(app, found, even), all || jobs.busy === "review" ? moveList(app, true) : same(), all ? variations(app) : same());
}

/** The table of the best moves. @param {App} app @param {AnalysisView | null} found @param {boolean} even whether all priors are equal */
function table(app, found, even) {
  const { board, desk: { tree: { view: { names, sides } } } } = app;
  const listed = found ? shownMoves(found) : [];
  const unknown = Object.keys(CELLS).filter((name) => (even && name === "prior") || !listed.some((move) => CELLS[name](move, 1, sides)));
  /** Show the line of the move whose row is under the pointer, and mark the row. @param {any} event */
  const point = ({ type, pointerType, target }) => {
    const action = Number(target.closest("tr")?.dataset.action ?? NaN);
    if ((pointerType === "mouse") === (type === "pointerdown")) return;
    if (type === "pointerleave") board.hover(null);
    else if (action >= 0) board.hover(type === "pointerdown" && board.hovered === action ? null : action);
  };
  const heads = Object.entries(say.columns).map(([name, text]) => h("th", { scope: "col", hidden: unknown.includes(name) }, fill(text, sides[0])));
  const rows = listed.map((move) => h("tr", { class: board.hovered === move.move && "ag-chosen", "data-action": move.move,
    title: move.line.map((one) => names[one]).join(" ") }, h("td", dot(colourOf(move, listed[0])), h("b", names[move.move])),
  Object.entries(CELLS).map(([name, text]) => {
    const held = /win|score/.test(name) && isHeld(move, listed[0], name);
    return h("td", { hidden: unknown.includes(name), title: held && legend.held }, held && "≈", text(move, found?.mover || 1, sides));
  })));
  return h("div.ag-fit", { hidden: !listed.length, style: `--rows: ${listed.length + 1}` },
    h("div", h("table.ag-table", { "aria-label": say.candidates }, h("thead", h("tr", heads)),
      h("tbody.ag-moves#moves", { onpointermove: point, onpointerleave: point, onpointerdown: point }, rows))));
}
