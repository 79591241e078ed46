// What a move of an analysis gives away against the best one: its colour, and the numbers on its disc.

import { percent, short } from "./elements.js";

// From the best move to a blunder: blue for good moves, yellow to orange for mistakes.
export const LOSSES = ["#0b5fa5", "#6db1e4", "#fdf0b0", "#f9c565", "#ef953c", "#cf5510"];
const UNSEEN = "#a9aeb3"; // no loss is known
export const POINT_STEPS = [0.5, 1.5, 3, 6, 12]; // points lost, as in KaTrain
export const RATE_STEPS = [1, 5, 8, 15, 25]; // percent of the chance to win
export const MISTAKE = 2; // the first class of losses that are mistakes

/** What a move gives away against the best one: its class, an index of LOSSES (null if unknown), and the loss as text. @param {MoveView} move @param {MoveView} best */
function lossOf(move, best) {
  const scored = move.score !== null && best.score !== null;
  if (!scored && (move.win === null || best.win === null)) return { kind: null, text: "" };
  const gain = scored ? Number(move.score) - Number(best.score) : Number(move.win) - Number(best.win);
  return { kind: kindOf(-gain, scored ? -gain : null), text: scored ? gain.toFixed(1) : `${percent(gain)}%` };
}

/** @type {(move: MoveView, best: MoveView) => string} the colour of a move, on its disc and in the table */
export const colourOf = (move, best) => LOSSES[move.visits && best.visits > FEW ? lossOf(move, best).kind ?? -1 : -1] || UNSEEN;

/**
 * The class of a loss, an index of LOSSES.
 * @param {number} win chance to win that was lost, 0 .. 1
 * @param {number | null} points that were lost; null if no score is known
 */
export const kindOf = (win, points) => (points === null ? RATE_STEPS.filter((step) => 100 * win > step)
  : POINT_STEPS.filter((step) => points > step)).length;

/** @type {(moves: Pick<MoveView, "prior">[]) => boolean} whether all priors are equal: they tell nothing then */
export const evenPriors = (moves) => moves.length > 1 && moves.every(({ prior }) => prior === moves[0].prior);

export const FEW = 4; // visits of the best move, up to which moves are shown by their priors
export const ROWS = 6; // most moves that are shown
const [LEAST_VISITS, LEAST_SHARE] = [2, 1 / 30]; // of a move that is shown: one visit has seen no answer; the share is of the best move's visits

/** The moves to show of an analysis, the best first: the same on the board and in the table. @param {AnalysisView} found */
export function shownMoves({ moves }) {
  const least = moves[0]?.visits > FEW ? Math.max(LEAST_VISITS, LEAST_SHARE * moves[0].visits) : 0;
  return moves.filter(({ visits }) => visits >= least).slice(0, ROWS);
}

/** The mode that an analysis can be shown in: a key of `say.modes`. @param {AnalysisView | null} found @param {string} chosen */
export const modeOf = (found, chosen) => (chosen !== "none" && found?.moves.length && found.moves[0].visits <= FEW && !evenPriors(found.moves) ? "prior" : chosen);

/**
 * The upper and the lower text on a move's disc; if it is small, there is room for one short number only.
 * @type {(move: MoveView, best: MoveView, mode: string, small: boolean) => [string, string]}
 */
export function numbersOf(move, best, mode, small) {
  const [first, second] = textsOf(move, best, mode).map((text) => (small ? text.replace("%", "") : text));
  const text = small && mode === "loss" ? lossWord(first.replace(/[\d.]+/, (loss) => Number(loss).toFixed())) : first;
  return [/loss|q/.test(mode) && isHeld(move, best, mode === "loss" && move.score !== null ? "score" : "win") ? `≈${text}` : text, small ? "" : second];
}

/** Whether a move has exactly the best one's value, as where its own, better value was lowered to it. @type {(move: any, best: any, value: string) => boolean} */
export const isHeld = (move, best, value) => move !== best && move[value] !== null && move[value] === best[value];

/** A prior as a percentage, without its sign. @param {number} prior */
export const priorText = (prior, digits = 1) => (prior < 5e-4 ? "<0.1" : percent(prior, digits));

/** The two texts on the disc of a move before they are shortened. @param {MoveView} move @param {MoveView} best @param {string} mode @returns {[string, string]} */
function textsOf(move, best, mode) {
  const q = move.win === null ? null : 2 * move.win - 1;
  if (mode === "prior") return [`${priorText(move.prior, move.prior < 0.095 ? 1 : 0)}%`, ""];
  if (mode === "loss") {
    const loss = lossWord(lossOf(move, best).text);
    return [loss, loss && short(move.visits)];
  }
  if (mode === "visits") return [move.visits ? short(move.visits) : "", ""];
  if (mode === "none" || q === null) return ["", ""];
  return [signed(mode === "sum" ? q + move.prior : q), ""];
}

/** A number's text with a true minus, and without a sign if it is 0. @param {string} text */
export const lossWord = (text) => text.replace("-", "−").replace(/^−?0(\.0)?[\s%]*$/, "0");

/** A value as text, without the 0 before the point. @param {number} value */
const signed = (value) => (value < 0 ? "−" : "") + Math.abs(value).toFixed(2).replace(/^0\./, ".");
