// What is going on, in a line; screen readers are told each move, and where the cursor is.

import { button } from "./icons.js";
import { h, margin, percent, short } from "./elements.js";
import { landingOf } from "./geometry.js";
import { buttons, fill, say } from "./words.js";

const ENDLESS = 1e5; // so many readouts count as no limit
const LONG = 5; // seconds of a search, from which on the line says how many are left
const USUAL_WAIT = 2000; // milliseconds: if the first reply takes longer, the line says that the engine is being loaded

/** A time as text, in a suitable unit. @param {number} seconds */
const span = (seconds) => (seconds < 100 ? `${10 * Math.ceil(seconds / 10)} s` : seconds < 6000 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`);

/** The line, with its buttons and a bar for a long search. @param {App} app */
export function statusLine(app) {
  const { desk, desk: { jobs, tree } } = app;
  const { text, rest = "", share = 0 } = wordsOf(app);
  const isMoving = jobs.busy === "move";
  const isPaused = tree && !(jobs.busy || desk.study || tree.over || desk.lesson === tree.current || app.isHumansTurn());
  const rests = !tree || (!jobs.busy && !desk.analysing);
  return h("div.ag-line",
    h("p.ag-status", { role: "status", "aria-live": "off" }, h("span", text), " ", h("span.ag-small#known", rest)),
    button("move", () => app.send("move"), { hidden: !isMoving && !isPaused, word: buttons[isMoving ? "move" : "lesson-move"][0] }),
    button("stop", () => app.stop(), { hidden: rests, disabled: rests, word: isMoving ? say.pause : buttons.stop[0] }),
    h("progress", { max: 1, value: share, hidden: !share, "aria-hidden": "true" }),
    h("p.ag-unseen", { "aria-live": "polite" }, app.said));
}

/** What screen readers are told of the move that led to the board. @param {Desk} desk */
export function told({ tree, tree: { node: { move, mover }, result, view } }) {
  const turn = result ? fill(say.ends, result.text) : turnOf(tree);
  return mover ? `${fill(say.played, tree.side(mover), view.names[move])} ${turn}` : turn;
}

/** What they are told of a point that the cursor is on. @param {Desk} desk @param {number} action */
export function toldOf({ tree, tree: { position: { legal, stones, toPlay }, view } }, action) {
  const cell = landingOf(view, action, toPlay, () => false);
  const sign = stones && cell !== null ? stones[cell] : ".";
  const what = sign !== "." ? fill(say.taken, tree.side(sign === "X" ? 1 : -1)) : legal.includes(action) ? say.free : say.barred;
  return fill(say.cursor, view.names[action], what);
}

/** Whose turn it is, and the number of the move. @param {Desk["tree"]} tree */
const turnOf = (tree) => fill(say.move, tree.position.moves + 1, tree.side(tree.position.toPlay));

/** What the line says, what stands below it, and the share of a long search that is done. @param {App} app */
export function wordsOf(app) {
  const { desk: { jobs: { busy, found, job }, status, study, tree } } = app;
  if (status) return { text: status };
  if (!tree) return { text: say.connecting };
  if (tree.result) return { text: fill(say.ends, tree.result.text), rest: busy === "count" ? say.countingStones : "" };
  const text = turnOf(tree);
  const usual = study ? evaluationOf(tree) : app.isHumansTurn() ? say.yours : say.engines;
  if (!job) return { text, rest: usual };
  const { began, limit, nodes, thought } = job;
  if (!thought) return { text, rest: found || performance.now() - began < USUAL_WAIT ? say.thinking : say.begins };
  const { rate, readouts } = thought;
  const isLimited = limit && limit < ENDLESS;
  const isLong = isLimited && busy === "move" && rate && limit > LONG * rate;
  const known = study ? usual : isLimited ? fill(say.readoutsOf, short(readouts), short(limit)) : fill(say.readoutsSoFar, short(readouts));
  const more = busy !== "move" ? fill(say.rate, short(rate)) : isLong ? fill(say.timeLeft, span((limit - readouts) / rate)) : "";
  const left = busy === "review" ? fill(say.left, nodes.length - 1) : "";
  return { text, rest: [known, more, left].filter(Boolean).join(" · "), share: isLong ? readouts / limit : 0 };
}

/** What is known of the position on the board. @param {Desk["tree"]} tree */
function evaluationOf({ node: { analysis, score, win }, view: { sides } }) {
  if (win === null) return analysis && analysis.visits > 1 ? fill(say.few, short(analysis.visits)) : say.unknown;
  const unclear = score && (win - 0.5) * score < 0;
  return (unclear ? say.unclear : "") + [fill(say.chance, sides[0], percent(win, 1)), score === null ? "" : margin(score, sides),
    analysis ? analysis.visits > 1 ? fill(say.readoutsSoFar, short(analysis.visits)) : say.netAlone : ""].filter(Boolean).join(", ");
}
