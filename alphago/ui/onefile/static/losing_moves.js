// Moves that lose a given amount on average, as alphago/mcts/level_choice.py chooses them, which says what the numbers mean.

import { meansBelow } from "./search_reply.js";
import { greatest, weigh, withoutRashPass } from "./move_choice.js";
import { outcome, passWins } from "./position.js";

/** @typedef {import("./tree_search.js").TreeSearch} TreeSearch */
/** @typedef {import("./position.js").Position} Position */

/**
 * How to play at a level: what to lose a move, in "points" or "win rate", with how many simulations.
 * @typedef {{target: number, unit: string, readouts: number}} Level
 */

/** @type {Record<string, number>} */
const WORTH = { points: 4, "win rate": 0.2 };
/** @type {Record<string, number>} */
const IDLE = { points: 0.75, "win rate": 0.01 };
const PASS_READOUTS = 400;
const [NO_HOPE, MOVING, EMPTY, OPEN] = [-0.8, 0.05, 0.25, 1 / 3];
const PRIOR_VISITS = 8;
const FEWEST = 4;
const [FIRST, MORE] = [0.1, 0.4];
const LEAST_SHARE = 1e-6;
const HALVINGS = 24;
const COLDEST = 1e-2;

/**
 * The probability of each move at a level.
 * @param {TreeSearch} search whose root is evaluated
 * @param {Level} level
 * @param {number | null} pass
 * @returns {Promise<number[]>}
 */
export async function levelChances(search, level, pass) {
  let losses = await moveLosses(search, level, pass);
  if (losses.passes && Math.abs(search.value) < -NO_HOPE) { // a game that is not decided
    for (let left = PASS_READOUTS - search.visits; left > 0;) left -= await search.wave(left);
    losses = neutralFirst(search, await moveLosses(search, level, pass), /** @type {number} */ (pass));
  }
  return chancesOf(losses, level, pass);
}

/**
 * The losses, with neutral points as the only candidates where the side would pass in a game that is not decided
 * (`take_neutral_points`).
 * @param {TreeSearch} search
 * @param {MoveLosses} losses
 * @param {number} pass
 */
function neutralFirst(search, losses, pass) {
  const { position } = search;
  if (!losses.passes || Math.abs(search.value) >= -NO_HOPE || passWins(position, pass)) return losses;
  const neutral = position.neutral();
  if (!neutral?.includes(1)) return losses;
  const shares = sharesOf(search).map((share, action) => (neutral[action] ? Math.max(share, LEAST_SHARE) : 0));
  return { ...losses, passes: false, lost: shares.map(() => 0), shares };
}

/**
 * The share of each move: its visits, mixed with its prior.
 * @param {TreeSearch} search
 */
function sharesOf(search) {
  const total = search.root.children.reduce((sum, { visits }) => sum + visits, PRIOR_VISITS);
  return weigh(search, PRIOR_VISITS).map((weight) => weight / total);
}

/**
 * What the candidates of a level lose, by the search's estimate.
 * @typedef {object} MoveLosses
 * @property {number[]} lost by action; 0 for moves that are no candidates
 * @property {number[]} shares by action; 0 for moves that are no candidates
 * @property {boolean} passes whether to pass at once
 * @property {number[]} worth of the moves; NaN if it is unknown
 * @property {number} best the worth of the best move
 */

/**
 * The losses of the moves at a level.
 * @param {TreeSearch} search whose root is evaluated
 * @param {Level} level
 * @param {number | null} pass
 * @param {number | null} [action] a move whose worth is wanted too
 * @returns {Promise<MoveLosses>}
 */
export async function moveLosses(search, { target, unit }, pass, action = null) {
  const shares = sharesOf(search);
  const sensible = search.position.sensible();
  const least = leastShare(shares.map((share, move) => (sensible[move] ? share : 0)), target / WORTH[unit]);
  const wanted = shares.map((share, move) => Boolean(sensible[move]) && (share >= least || move === pass));
  const worth = await worthOf(search, wanted.map((one, move) => one || move === action), unit);
  const prudent = withoutRashPass(search, shares, pass);
  let passes = pass !== null && shares[pass] > 0 && boardIsDone(search, prudent, worth, unit, pass);
  if (pass !== null) wanted[pass] = false;
  if (!wanted.includes(true)) {
    passes ||= pass !== null && prudent[pass] > 0;
    wanted[greatest(prudent)] = true; // the best move, though no person would play it
  }
  const own = shares.map((share, move) => (wanted[move] ? share : 0));
  const best = worth[greatest(own)];
  return { lost: worth.map((value, move) => (wanted[move] ? Math.max(best - value, 0) || 0 : 0)), shares: own, passes, worth, best: worth[greatest(shares)] };
}

/**
 * The probability of each move at a level.
 * @param {MoveLosses} losses
 * @param {Level} level
 * @param {number | null} pass
 */
export const chancesOf = ({ lost, shares, passes }, { target, unit }, pass) => (passes ? shares.map((_, move) => Number(move === pass))
  : weights(shares, lost.map((loss) => loss / WORTH[unit]), target / WORTH[unit]));

/**
 * The least share of a candidate.
 * @param {number[]} shares
 * @param {number} goal the target in units of WORTH
 */
function leastShare(shares, goal) {
  const most = Math.min(Math.max(FEWEST, Math.floor((FIRST + MORE * goal) * shares.length)), shares.length);
  return [...shares].sort((one, other) => other - one)[most - 1];
}

/**
 * What each move is worth for the mover: a score, or a win rate 0 .. 1; NaN if it is unknown.
 * @param {TreeSearch} search
 * @param {boolean[]} wanted moves whose worth is computed although they have no visits
 * @param {string} unit
 */
async function worthOf(search, wanted, unit) {
  const { root, position } = search;
  const points = unit === "points";
  /** @type {number[]} */
  const worth = wanted.map(() => NaN);
  for (const child of root.children) {
    if (child.visits) worth[child.action] = points ? meansBelow(child, root.mover).score ?? NaN : (1 + child.sum / child.visits) / 2;
  }
  const unseen = Array.from(wanted.keys()).filter((action) => wanted[action] && Number.isNaN(worth[action]));
  const after = unseen.map((action) => position.play(action));
  const evaluations = await search.evaluate(after.filter(({ over }) => !over));
  let at = 0;
  after.forEach((next, i) => {
    const { value, score } = next.over ? { value: outcome(next), score: next.margin * next.toPlay } : evaluations[at++];
    const sign = next.toPlay === position.toPlay ? 1 : -1;
    worth[unseen[i]] = points ? sign * Number(score) : (1 + sign * value) / 2;
  });
  return worth;
}

/**
 * Whether the mover passes, since the board is done.
 * @param {TreeSearch} search
 * @param {number[]} shares of the moves, 0 for a rash pass
 * @param {number[]} worth
 * @param {string} unit
 * @param {number} pass
 */
function boardIsDone(search, shares, worth, unit, pass) {
  const { position, root } = search;
  const first = greatest(shares);
  if (passWins(position, pass)) return true;
  const expected = meansBelow(root, root.mover, true).owners;
  const owners = position.owners();
  if (!expected || !owners) return first === pass;
  const moving = owners.reduce((sum, owner, point) => sum + Math.abs(owner - expected[point]), 0) / 2;
  const idle = IDLE[unit] * (Math.abs(search.value) < -NO_HOPE ? OPEN : 1);
  const empty = owners.reduce((count, owner) => count + Number(owner === 0), 0);
  return moving <= MOVING * owners.length && empty <= EMPTY * owners.length && worth[first] - worth[pass] <= idle && (outcome(position) > 0 || search.value < NO_HOPE)
    && shares[pass] > 0;
}

/**
 * The probabilities with which the expected loss is the target, or as near to it as can be.
 * @param {number[]} shares 0 for moves that are no candidates
 * @param {number[]} lost in units of WORTH
 * @param {number} goal
 */
function weights(shares, lost, goal) {
  let logits = shares.map((share, action) => (share > 0 ? Math.log(Math.max(share, LEAST_SHARE)) - lost[action] : -Infinity));
  const top = Math.max(...logits);
  logits = logits.map((logit) => logit - top);
  let [low, high] = [COLDEST, Math.max(COLDEST, Math.min(2 + 8 * goal, 20 * goal))];
  for (let i = 0; i < HALVINGS; i += 1) {
    const middle = Math.sqrt(low * high);
    const expected = softmax(logits, middle).reduce((sum, chance, action) => sum + chance * lost[action], 0);
    if (expected > goal) high = middle;
    else low = middle;
  }
  return softmax(logits, Math.sqrt(low * high));
}

/**
 * The softmax of logits at a temperature.
 * @param {number[]} logits the greatest is 0
 * @param {number} temperature
 */
function softmax(logits, temperature) {
  const shares = logits.map((logit) => Math.exp(logit / temperature));
  const total = shares.reduce((sum, share) => sum + share, 0);
  return shares.map((share) => share / total);
}

/**
 * A move drawn by its probability.
 * @param {number[]} chances
 * @param {number} chance 0 .. 1
 */
export function drawn(chances, chance) {
  let left = chance * chances.reduce((sum, one) => sum + one, 0);
  return chances.findIndex((one) => (left -= one) < 0);
}
