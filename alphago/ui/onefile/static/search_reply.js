// What a search has found, in the fields of KataGo's analysis protocol, with actions as numbers (alphago/ui/web/page_search.py).

/** @typedef {import("./tree_search.js").TreeSearch} TreeSearch */
/** @typedef {import("./tree_search.js").TreeNode} TreeNode */

const LINE = 12; // plies of an expected line

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
export function replyOf(search, forecasts) {
  const { root, position } = search;
  const mover = position.toPlay;
  const points = forecasts && root.ownership ? root.ownership.length : 0;
  const rate = (/** @type {number} */ value) => rounded((1 + mover * value) / 2, 4);
  const lead = (/** @type {number | null} */ score) => (score === null ? {} : { scoreLead: rounded(mover * score, 2) });
  const ranked = search.ranked().map((node) => ({ node, value: node.sum / node.visits, score: forecasts ? scoreBelow(node, mover) : null }));
  const [best] = ranked; // as in the package none is better than the best: a better value comes from fewer visits
  const moveInfos = ranked.map(({ node: { action: move, visits, prior }, node, value, score }) => ({ move, visits, prior: rounded(prior, 4),
    winrate: rate(Math.min(value, best.value)), ...lead(score === null ? null : Math.min(score, best.score ?? score)), pv: lineFrom(node) }));
  const policy = Array.from(position.legal(), (legal, action) => (legal ? rounded(root.waiting?.[action] || 0, 6) : -1));
  for (const { action, prior } of root.children) policy[action] = rounded(prior, 6);
  const whole = forecasts ? sums(root, mover, points) : null;
  return {
    moveInfos,
    rootInfo: { visits: search.visits, winrate: rate(search.value), ...lead(whole?.weight ? whole.score / whole.weight : null), currentPlayer: mover > 0 ? "B" : "W" },
    policy,
    ownership: whole?.weight && points ? Array.from(whole.ownership, (sum) => rounded(mover * sum / whole.weight, 3)) : null,
  };
}
