// A network's outputs as a search needs them (alphago/nn/kernels/priors.py).

/** @typedef {import("./tree_search.js").Evaluation} Evaluation */

const { fround } = Math;
const LEAST = fround(1e-12); // least prior as a share of the best action's, so that no legal action has the prior 0
const POINTS = 10; // a network's scores are in tens of points

/**
 * The softmax over the legal actions.
 * @param {Float32Array} logits
 * @param {ArrayLike<number>} legal
 */
function priorsOf(logits, legal) {
  const highest = Math.max(...logits.filter((_, action) => legal[action]));
  const priors = logits.map((logit, action) => (legal[action] ? Math.max(fround(Math.exp(fround(logit - highest))), LEAST) : 0));
  const total = priors.reduce((sum, prior) => fround(sum + prior), 0);
  return priors.map((prior) => prior / total);
}

/**
 * The evaluation of a position.
 * @param {Record<string, Float32Array>} outputs of the network, by name
 * @param {ArrayLike<number>} legal
 * @returns {Evaluation}
 */
export function evaluationOf({ logits, value, score, ownership }, legal) {
  if (!Number.isFinite(value[0])) throw new Error("the network's output is not finite");
  return { priors: priorsOf(logits, legal), value: Math.min(Math.max(value[0], -1), 1),
    score: score ? POINTS * score[0] : null, ownership: ownership || null };
}
