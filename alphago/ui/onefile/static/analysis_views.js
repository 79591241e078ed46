// What a search has found, as the board draws it (alphago/ui/web/wire.py, `analysis_view`).

/** @typedef {import("./tree_search.js").TreeSearch} TreeSearch */
/** @typedef {import("./tree_search.js").TreeNode} TreeNode */

const LINE = 12; // plies of an expected line
const MOST_MOVES = 40;
const SMALL_PRIOR = 0.005; // moves without visits are told from this prior on,
const ALIKE = 0.5; // or this share of the prior of the last one that is

/**
 * @param {number} number
 * @param {number} digits
 */
const rounded = (number, digits) => Number(number.toFixed(digits));

/**
 * The sums of scores and ownership over all simulations below a node, for the player to move at the root.
 * @param {TreeNode} top
 * @param {number} mover
 * @param {number} points of the board; 0 for no ownership
 */
function sums(top, mover, points) {
  const found = { weight: 0, score: 0, ownership: new Float64Array(points) };
  const stack = [top];
  while (stack.length) {
    const node = /** @type {TreeNode} */ (stack.pop());
    stack.push(...node.children);
    const weight = node.children.reduce((left, { visits }) => left - visits, node.visits);
    if (weight <= 0 || node.score === null) continue;
    const signed = node.mover === mover ? weight : -weight;
    found.weight += weight;
    found.score += signed * node.score;
    for (let point = 0; node.ownership && point < points; point += 1) found.ownership[point] += signed * node.ownership[point];
  }
  return found;
}

/**
 * The mean score over all simulations below a node, for the player to move at the root; null if none is known.
 * @param {TreeNode} node
 * @param {number} mover
 */
export function scoreBelow(node, mover) {
  const found = sums(node, mover, 0);
  return found.weight ? found.score / found.weight : null;
}

/**
 * The mean owners over all simulations, for the player to move; null if none are known.
 * @param {TreeSearch} search
 */
export function ownersOf({ root }) {
  const found = sums(root, root.mover, root.ownership?.length || 0);
  return found.weight && root.ownership ? found.ownership.map((sum) => sum / found.weight) : null;
}

/**
 * The most visited line of play that begins with a node.
 * @param {TreeNode} node
 */
function lineFrom(node) {
  const line = [node.action];
  for (let at = node; line.length < LINE;) {
    const next = at.children.reduce((best, child) => (!best || child.visits > best.visits
      || (child.visits === best.visits && child.prior > best.prior) ? child : best), /** @type {TreeNode | null} */ (null));
    if (!next || !next.visits) break;
    line.push(next.action);
    at = next;
  }
  return line;
}

/**
 * @param {TreeSearch} search
 * @param {boolean} forecasts whether the network tells scores and ownership
 */
export function analysisOf(search, forecasts) {
  const { root, position } = search;
  const mover = position.toPlay;
  const points = forecasts && root.ownership ? root.ownership.length : 0;
  const ranked = search.ranked();
  const moves = ranked.slice(0, MOST_MOVES).map((node) => {
    const score = forecasts ? scoreBelow(node, mover) : null;
    return { move: node.action, visits: node.visits, prior: rounded(node.prior, 4),
      win: rounded((1 + node.sum / node.visits) / 2, 4),
      score: score === null ? null : rounded(score, 1), line: lineFrom(node) };
  });
  for (const move of moves) { // as in the package none is better than the best: a better value comes from fewer visits
    move.win = Math.min(move.win, moves[0].win);
    if (move.score !== null) move.score = Math.min(move.score, moves[0].score ?? move.score);
  }
  const waiting = Array.from(root.waiting || [], (prior, action) => ({ prior, action })).sort((one, other) => other.prior - one.prior);
  const end = waiting.findIndex(({ prior }, i) => prior < SMALL_PRIOR && !(i && prior >= ALIKE * waiting[i - 1].prior));
  const unseen = waiting.slice(0, end < 0 ? waiting.length : end)
    .map(({ prior, action }) => ({ move: action, visits: 0, prior: rounded(prior, 4), win: null, score: null, line: [action] }));
  const whole = forecasts ? sums(root, mover, points) : null;
  /** @type {(win: number, score: number | null) => [number, number | null]} */
  const first = (win, score) => [rounded(mover > 0 ? win : 1 - win, 4), score === null ? null : rounded(mover * score, 1)];
  const mean = first((1 + search.value) / 2, whole?.weight ? whole.score / whole.weight : null);
  const [win, score] = moves.length ? first(moves[0].win, moves[0].score) : mean; // a position is worth what its best move is
  return {
    mover,
    visits: search.visits,
    win,
    score,
    mean,
    moves: [...moves, ...unseen].slice(0, MOST_MOVES),
    ownership: whole?.weight && points ? Array.from(whole.ownership, (sum) => Math.round((100 * mover * sum) / whole.weight)) : null,
  };
}
