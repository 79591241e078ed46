// The column while one plays: how strong the opponent is, a hint for the first games, and how the game ended.

import { tried } from "./effects.js";
import { h, percent } from "./elements.js";
import { box, button } from "./icons.js";
import { decisive, lossesOf, lossText } from "./losses.js";
import { dotOf, moveList } from "./move_list.js";
import { buttons, fill, say } from "./words.js";

const SEEN = "alphago-hints"; // where the browser keeps how many hints were read
const MOVES = [0, 2, 6]; // for each hint, the number of moves from which on it is shown
const RUNGS = [16, 100, 200, 800, 3200]; // readouts of a move for each step of the slider, where no levels are known
const LESSON = 2; // points: a move that loses more is explained
const EVEN = "even";
const MOMENTS = 3; // most moves that are said to have decided the game
const LEAST_MOVES = 8; // of a game whose positions are evaluated at its end

/** The pane for playing. @param {App} app */
export function playPane(app) {
  return h("section.ag-play", { "aria-label": buttons.play[0] },
    endingOf(app), opponentOf(app), hintOf(app), moveList(app, false));
}

/** The next hint for beginners, hidden if none is due. @param {App} app */
function hintOf(app) {
  const { desk, desk: { players, tree } } = app;
  const due = MOVES.filter((moves) => tree.position.moves >= moves).length - 1;
  const begins = due >= app.hintsRead && !tree.over && players.includes("engine") && app.isHumansTurn();
  const read = () => {
    app.hintsRead = keptHints(due + 1);
    app.draw();
  };
  return h("p.ag-hint", { hidden: !begins || Boolean(app.options.widget || desk.status) }, h("span", say.hints[due]), button("hint", read));
}

/** How many hints were read, by the browser's storage; a browser that stores nothing shows them again. @param {number} [read] to be stored @returns {number} */
export const keptHints = (read = 0) => tried(() => {
  if (read) localStorage.setItem(SEEN, String(read));
  return Number(localStorage.getItem(SEEN));
}) ?? read;

/** How strong the engine plays, in words; and whether it explains bad moves. @param {App} app */
function opponentOf(app) {
  const { desk, desk: { opponent, players, strength, teach, tree } } = app;
  const { levels } = tree.view;
  const steps = (levels || RUNGS).length;
  const readouts = strength.readouts || 0;
  const rung = RUNGS.findIndex((one) => readouts <= one) + 1 || RUNGS.length;
  const isEven = strength.level === EVEN;
  const step = app.step = levels ? isEven ? app.step : Number(strength.level ?? steps) : rung;
  const send = (/** @type {object} */ wishes) => desk.send({ type: "strength", tree: true, ...wishes });
  const word = say.strengths[Math.round((step - 1) * (say.strengths.length - 1) / (steps - 1))];
  const known = levels ? levels[step - 1].split(/: (?:full strength, )?/)[1] : fill(say.readoutsSoFar, RUNGS[step - 1]);
  return h("div.ag-opponent", { hidden: !players.includes("engine") || tree.over },
    h("div.ag-field", say.opponent, h("b", isEven ? buttons.even[0] : word)),
    h("input#level", { type: "range", min: 1, max: steps, step: 1, value: step, "aria-label": say.opponent, disabled: isEven,
      oninput: (/** @type {any} */ { target: { value } }) => send(levels ? { level: Number(value) } : { seconds: null, readouts: RUNGS[value - 1] }) }),
    h("p.ag-small", isEven ? opponent : known || strength.network),
    h("div.ag-row", { hidden: !levels },
      box("even", (checked) => send({ level: checked ? EVEN : step }), isEven),
      box("teach", (checked) => desk.send({ type: "teach", points: checked ? LESSON : null }), teach !== null)));
}

/** Whether a game is over and has positions without evaluations, which a review would need to find the mistakes. @param {Desk} desk */
export function isToBeLookedInto({ jobs, tree }) {
  const line = tree.line();
  return Boolean(tree.result) && !jobs.busy && line.length > LEAST_MOVES && line.slice(0, -1).some(({ win }) => win === null);
}

/** The end of the game in the column: how it was counted, the moves that decided it, and buttons for another game. @param {App} app */
export function endingOf(app) {
  const { desk: { jobs, players, tree, tree: { count, view } } } = app;
  if (!tree.result) return h("div.ag-ending", { hidden: true, "data-name": "ending" });
  const line = tree.line();
  const found = decisive(lossesOf(line).filter(({ move }) => move !== view.pass), MOMENTS);
  /** What a move lost, and who was ahead after it. @param {Loss} loss */
  const momentOf = (loss) => {
    const [win] = loss.after;
    return fill(say.moment, loss.number, tree.side(loss.mover), view.names[loss.move], lossText(loss, true), tree.side(win - 0.5),
      percent(Math.max(win, 1 - win)));
  };
  const moments = jobs.busy === "review" ? [h("li", say.counting)] : found.map((loss) => h("li", {},
    h("button", { "data-node": loss.node, onclick: () => app.send("go", { node: line[loss.number - 1].node }) }, dotOf(loss), momentOf(loss))));
  /** The same game again. @param {string[]} sides who plays */
  const again = ([black, white]) => app.send("new", { game: view.name, black, white, setup: tree.game.setup ?? tree.game.wishes,
    options: Object.fromEntries(view.options.flatMap(({ name, value, at_start: atStart }) => (atStart ? [] : [[name, value]]))) });
  const counted = count?.points.map((points, i) => {
    const bonus = count.bonuses[i];
    return fill(bonus ? say.sum : say.per, view.sides[i], points, bonus, points + bonus);
  });
  return h("div.ag-ending#ending",
    h("div", { hidden: !count }, h("p#count", counted?.join(" · ")), h("div.ag-field", h("p.ag-small", say.clickDead),
      button("all-alive", () => app.send("all-alive"), { hidden: !count?.dead.length }))),
    h("div.ag-row", button("again", () => again(players), { class: "ag-main" }),
      button("exchanged", () => again([...players].reverse()), { hidden: players[0] === players[1] }),
      button("study-game", () => app.choose("study"))),
    h("div", { hidden: line.length <= LEAST_MOVES || !moments.length }, h("h2", found.some(({ rough }) => rough) ? say.quick : say.decided),
      h("ol.ag-moments#moments", moments)));
}
