// A reply of KataGo's analysis protocol, in Black's view, as the page shows it.

import { evenPriors } from "./candidates.js";

export const LEAST_VISITS = 50; // fewer make a value rough: the mean of 50 random games is right within 7 % in two of three cases
const MOST_MOVES = 40;
const SMALL_PRIOR = 0.005; // moves without visits are shown if their prior is at least this
const ALIKE = 0.5; // a smaller prior is shown too if it is at least this share of the one before it: similar moves are shown together

/**
 * A reply as an analysis for the page. An engine with equal priors for all moves plays random games; its values count as
 * unknown while it has too few of them.
 * @param {SearchReply} reply
 * @param {string[]} names of the actions
 * @returns {AnalysisView}
 */
export function analysisOf({ moveInfos, rootInfo, policy, ownership = null }, names) {
  const mover = rootInfo.currentPlayer === "B" ? 1 : -1;
  const least = evenly(policy) ? LEAST_VISITS : 0;
  const action = (/** @type {string} */ text) => names.indexOf(text);
  const seen = moveInfos.map(({ move, visits, prior, winrate, scoreLead, pv }) => ({ move: action(move), visits, prior,
    win: visits < least ? null : mover > 0 ? winrate : 1 - winrate,
    score: visits < least || scoreLead === undefined ? null : mover * scoreLead, line: pv.map(action) }));
  const moves = [...seen, ...likely(policy, new Set(seen.map(({ move }) => move)))].slice(0, MOST_MOVES);
  const [best] = seen;
  const mean = /** @type {[number, number | null]} */ ([rootInfo.winrate, rootInfo.scoreLead ?? null]);
  // A position is worth what its best move is: the mean of all simulations is lower where most other moves lose at once.
  const [win, score] = best && best.win !== null ? [moveInfos[0].winrate, moveInfos[0].scoreLead ?? mean[1]] : mean;
  const known = rootInfo.visits >= least;
  return { mover, visits: rootInfo.visits, win: known ? win : null, score: known ? score : null, mean: known ? mean : null, moves,
    ownership: ownership && ownership.map((owner) => Math.round(100 * owner)) };
}

/** Whether all legal moves have the same prior. @param {number[]} policy below 0 for illegal moves */
const evenly = (policy) => evenPriors(policy.filter((prior) => prior > 0).map((prior) => ({ prior })));

/**
 * The moves without visits that are shown for their priors.
 * @param {number[]} policy by action
 * @param {Set<number>} seen actions with visits
 * @returns {MoveView[]}
 */
export function likely(policy, seen) {
  const ranked = Array.from(policy, (prior, move) => ({ prior, move })).filter(({ prior, move }) => prior > 0 && !seen.has(move))
    .sort((one, other) => other.prior - one.prior);
  const end = ranked.findIndex(({ prior }, i) => prior < SMALL_PRIOR && !(i && prior >= ALIKE * ranked[i - 1].prior));
  return ranked.slice(0, end < 0 ? ranked.length : end).map(({ prior, move }) => ({ move, visits: 0, prior, win: null, score: null, line: [move] }));
}
