// How much the other side of a game loses a move, for the level that follows its strength, as alphago/mcts/opponent.py
// estimates it, which says what the numbers mean.

import { chancesOf, moveLosses } from "./losing_moves.js";
import { TreeSearch } from "./tree_search.js";

/** @typedef {import("./losing_moves.js").Level} Level */
/** @typedef {import("./position.js").Position} Position */

/**
 * A level of the table: also what it was measured to lose a move, null if it was not.
 * @typedef {Level & {lost: number | null}} MeasuredLevel
 */

const [USUAL, USUAL_MOVES, FEWEST_MOVES, FADING, LATEST, READOUTS, WIDEST, LEAVES] = [5, 4, 5, 0.95, 40, 32, 2, 4];
/** @type {Record<string, number>} */
const MOST = { points: 20, "win rate": 1 };
/** @type {Record<string, number>} */
const UNFAIR = { points: 0.5, "win rate": 0.02 };

/**
 * A number of the table at a level between two.
 * @param {number[]} numbers of the levels from 1 on
 * @param {number} level
 */
const between = (numbers, level) => {
  const below = Math.min(Math.floor(level), numbers.length - 1);
  return numbers[below - 1] + (numbers[below] - numbers[below - 1]) * (level - below);
};

/**
 * How to play at a level between two; null at full strength.
 * @param {MeasuredLevel[]} levels
 * @param {number} level
 * @returns {Level | null}
 */
export const termsAt = (levels, level) => (level >= levels.length ? null : { unit: levels[0].unit,
  target: between(levels.map(({ target }) => target), level), readouts: Math.round(between(levels.map(({ readouts }) => readouts), level)) });

/**
 * What estimates the level of the opponent's strength; it remembers the moves that it has judged.
 * @param {import("./tree_search.js").Settings} settings
 * @param {import("./tree_search.js").Evaluate} evaluate
 * @param {number | null} pass
 */
export function evenLevel(settings, evaluate, pass) {
  /** @type {Map<string, number[]>} */
  const judged = new Map();

  /**
   * What a move loses by the search's estimate, followed by what each level would lose here.
   * @param {Position} before
   * @param {number} action
   * @param {MeasuredLevel[]} levels
   */
  const look = async (before, action, levels) => {
    const { unit } = levels[0];
    const search = new TreeSearch({ ...settings, leaves: LEAVES }, evaluate, before);
    for (let left = READOUTS; left > 0;) left -= await search.wave(left);
    const losses = await moveLosses(search, levels[WIDEST - 1], pass, action);
    const lost = Math.max(0, losses.best - losses.worth[action]);
    const expected = levels.map((level) => chancesOf(losses, level, pass)
      .reduce((sum, chance, move) => sum + chance * losses.lost[move], 0));
    return [Math.max(0, Math.min(lost, MOST[unit]) - UNFAIR[unit]), ...expected];
  };

  /**
   * The level that is as strong as the player who is not to move at the end of a game, and a sentence about it.
   * @param {Position} start
   * @param {number[]} moves
   * @param {MeasuredLevel[]} levels
   * @param {() => Promise<boolean>} goesOn whether the answer is still wanted
   */
  return async (start, moves, levels, goesOn) => {
    const end = moves.reduce((position, move) => position.play(move), start);
    const own = end.line.filter(({ toPlay }) => toPlay === end.toPlay).slice(-LATEST);
    const targets = levels.map(({ target }) => target);
    const totals = [targets[USUAL - 1], ...targets].map((target) => USUAL_MOVES * target);
    for (const [i, { parent, action, ply }] of own.entries()) {
      if (!await goesOn()) break;
      const key = `${JSON.stringify(start.game.options)} ${moves.slice(0, ply)}`;
      const found = judged.get(key) || await look(/** @type {Position} */ (parent), action, levels);
      judged.set(key, found);
      found.forEach((lost, which) => { totals[which] += FADING ** (own.length - 1 - i) * lost; });
    }
    const level = levelOf(totals);
    return { level, text: told(levels, level, own.length) };
  };
}

/**
 * The level that loses as much as the player, to a tenth.
 * @param {number[]} totals sums of what `look` returns: of the player's losses, then of each level's
 */
function levelOf([lost, ...expected]) {
  for (let i = expected.length - 2; i >= 0; i -= 1) expected[i] = Math.max(expected[i], expected[i + 1]);
  if (lost >= expected[0]) return 1;
  const next = expected.findIndex((each) => each < lost);
  if (next < 0) return expected.length;
  const share = (expected[next - 1] - lost) / (expected[next - 1] - expected[next]);
  return Math.round(10 * (next + share)) / 10;
}

/**
 * The sentence about a level.
 * @param {MeasuredLevel[]} levels
 * @param {number} level
 * @param {number} moves how many of the player's moves were judged
 */
function told(levels, level, moves) {
  if (!moves) return `You have not moved yet: level ${level}`;
  if (moves < FEWEST_MOVES) return `You have made ${moves} of ${FEWEST_MOVES} moves that tell your strength: level ${level}`;
  const known = levels.every(({ lost }) => lost !== null);
  const lost = between(levels.map((one) => (known ? Number(one.lost) : one.target)), level);
  const much = levels[0].unit === "points" ? `${lost.toFixed(1)} points` : `${Math.round(100 * lost)} % of the win rate`;
  return `You lose about ${much} a move (in ${moves} so far): level ${level}`;
}
