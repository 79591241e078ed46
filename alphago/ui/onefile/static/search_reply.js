// What a search has found, in the fields of KataGo's analysis protocol (alphago/ui/web/answers.py).

/** @typedef {import("./tree_search.js").TreeSearch} TreeSearch */
/** @typedef {import("./tree_search.js").TreeNode} TreeNode */

const LINE = 12; // plies of an expected line

/**
 * A number rounded to some decimals.
 * @param {number} number
 * @param {number} digits
 */
const rounded = (number, digits) => Number(number.toFixed(digits));

/**
 * The mean score and owners over all simulations below a node, for the player to move at the root; null if none are known.
 * @param {TreeNode} top
 * @param {number} mover
 * @param {boolean} [owned] whether owners are wanted
 */
export function meansBelow(top, mover, owned = false) {
  let [total, score] = [0, 0];
  const owners = new Float64Array((owned && top.ownership?.length) || 0);
  const stack = [top];
  while (stack.length) {
    const node = /** @type {TreeNode} */ (stack.pop());
    stack.push(...node.children);
    const weight = node.children.reduce((left, { visits }) => left - visits, node.visits);
    if (weight <= 0 || node.score === null) continue;
    const signed = node.mover === mover ? weight : -weight;
    total += weight;
    score += signed * node.score;
    for (let point = 0; node.ownership && point < owners.length; point += 1) owners[point] += signed * node.ownership[point];
  }
  return { score: total ? score / total : null, owners: total && owners.length ? owners.map((sum) => sum / total) : null };
}

/**
 * The most visited line of play that begins with a node.
 * @param {TreeNode} node
 */
function lineFrom(node) {
  const line = [];
  for (let at = node; at && line.length < LINE;) {
    line.push(at.action);
    [at] = at.children.filter(({ visits }) => visits).sort((one, other) => other.visits - one.visits || other.prior - one.prior);
  }
  return line;
}

/**
 * The reply for what a search has found so far.
 * @param {TreeSearch} search
 * @param {boolean} forecasts whether the network tells scores and ownership
 * @param {string[]} names of the actions
 */
export function replyOf(search, forecasts, names) {
  const { root, position } = search;
  const mover = position.toPlay;
  const rate = (/** @type {number} */ value) => rounded((1 + mover * value) / 2, 4);
  const lead = (/** @type {number | null} */ score) => (score === null ? {} : { scoreLead: rounded(mover * score, 2) });
  const ranked = search.ranked().map((node) => ({ node, value: node.sum / node.visits, score: forecasts ? meansBelow(node, mover).score : null }));
  const [best] = ranked; // as in the package none is better than the best: a better value comes from fewer visits
  const moveInfos = ranked.map(({ node: { action, visits, prior }, node, value, score }) => ({ move: names[action], visits, prior: rounded(prior, 4),
    winrate: rate(Math.min(value, best.value)), ...lead(score === null ? null : Math.min(score, best.score ?? score)), pv: lineFrom(node).map((move) => names[move]) }));
  const priors = search.priors();
  const policy = Array.from(position.legal(), (legal, action) => (legal ? rounded(priors[action], 6) : -1));
  const { score = null, owners = null } = forecasts ? meansBelow(root, mover, true) : {};
  return {
    moveInfos,
    rootInfo: { visits: search.visits, winrate: rate(search.value), ...lead(score), currentPlayer: mover > 0 ? "B" : "W" },
    policy,
    ownership: owners && Array.from(owners, (owner) => rounded(mover * owner, 3)),
  };
}
