// The column while one plays: how strong the opponent is, a hint for the first games, and how the game ended.

import { tried } from "./effects.js";
import { endingOf } from "./ending.js";
import { h } from "./elements.js";
import { box, button } from "./icons.js";
import { moveList } from "./move_list.js";
import { buttons, fill, say } from "./words.js";

const SEEN = "alphago-hints"; // where the browser keeps how many hints were read
const MOVES = [0, 2, 6]; // for each hint, the number of moves from which on it is shown
const RUNGS = [16, 100, 200, 800, 3200]; // readouts of a move for each step of the slider, where no levels are known
const LESSON = 2; // points: a move that loses more is explained
const EVEN = "even";

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
