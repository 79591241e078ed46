// The move at full strength, chosen as alphago/mcts/rule.py does: no idle move (which gains nothing), no rash pass (which might lose a won
// game), and no early pass (while a neutral point can be taken).

import { meansBelow } from "./search_reply.js";
import { outcome, passWins } from "./position.js";

/** @typedef {import("./tree_search.js").TreeSearch} TreeSearch */

const DECIDED = 0.8; // a value farther from 0 than this counts as a decided game
const CLEARLY = 0.5; // a value above it counts as a won game
const [LOST_TURNS, LEAST_PLIES, LEAST_BEHIND, CHANCES] = [3, 0.4, 0.5, 4]; // as in alphago/mcts/lost_turns.py

/**
 * The move to play: the most visited one, before any search the most probable one.
 * @param {TreeSearch} search whose root is evaluated
 * @param {number | null} pass
 */
export function moveOf(search, pass) {
  const move = search.visits > 1 ? unlessIdle(search, search.ranked()[0].action, pass) : greatest(withoutRashPass(search, search.priors(), pass));
  return unlessEarly(search, move, pass);
}

/**
 * Whether the side to move resigns, as `MCTSPlayer.should_resign`.
 * @param {TreeSearch} search
 * @param {number} threshold
 * @param {number} area
 * @param {import("./losing_moves.js").Level | null} level
 * @param {Set<number>} lost the plies of this game at which the mover's value was below the threshold; this one is added
 */
export function resigns({ position: { ply }, root, value }, threshold, area, level, lost) {
  if (value < threshold) lost.add(ply);
  else lost.delete(ply);
  const isLost = Array.from({ length: LOST_TURNS }, (_, turn) => ply - 2 * turn).every((turn) => lost.has(turn));
  const { score } = meansBelow(root, root.mover);
  const least = Math.max(LEAST_BEHIND * Math.sqrt(area), level?.unit === "points" ? CHANCES * level.target : 0);
  return isLost && ply >= LEAST_PLIES * area && (score === null || -score >= least);
}

/** The index of the greatest number. @param {number[]} numbers */
export const greatest = (numbers) => numbers.indexOf(Math.max(...numbers));

/**
 * The weights of moves, with 0 for a pass that might lose a game that the mover is winning (`without_rash_passes`).
 * @param {TreeSearch} search
 * @param {number[]} weights
 * @param {number | null} pass
 */
export function withoutRashPass({ position, value }, weights, pass) {
  const rash = value > Math.max(outcome(position) + CLEARLY, 0) && weights.some((weight, action) => weight > 0 && action !== pass);
  return weights.map((weight, action) => (rash && action === pass ? 0 : weight));
}

/**
 * The move, or what to play instead if it gains nothing (`without_idle_moves`).
 * @param {TreeSearch} search
 * @param {number} move
 * @param {number | null} pass
 */
function unlessIdle(search, move, pass) {
  const sensible = search.position.sensible();
  if (pass === null || sensible[move] || !sensible[pass]) return move;
  const weights = weigh(search).map((weight, action) => (sensible[action] ? weight : 0));
  weights[pass] = Math.abs(search.value) > DECIDED ? Infinity : 2 * Number.MIN_VALUE;
  weights[move] = Number.MIN_VALUE; // last of all
  return greatest(withoutRashPass(search, weights, pass));
}

/**
 * The move, but no pass in an open game while a neutral point can be taken at no risk (`without_early_passes`).
 * @param {TreeSearch} search
 * @param {number} move
 * @param {number | null} pass
 */
function unlessEarly(search, move, pass) {
  const { position, value } = search;
  if (pass === null || move !== pass || Math.abs(value) > DECIDED || passWins(position, pass)) return move;
  const neutral = position.neutral();
  const weights = weigh(search).map((weight, action) => (neutral?.[action] ? weight : 0));
  return weights.some((weight) => weight > 0) ? greatest(weights) : move;
}

/**
 * The visits of each move and its prior, which counts as so many visits.
 * @param {TreeSearch} search
 */
export function weigh(search, priorVisits = 1) {
  const weights = search.priors().map((prior) => priorVisits * prior);
  for (const { action, visits } of search.root.children) weights[action] += visits;
  return weights;
}
