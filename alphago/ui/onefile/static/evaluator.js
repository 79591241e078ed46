// A network's outputs as a search needs them (alphago/nn/kernels/priors.py).

/** @typedef {import("./network.js").Network} Network */
/** @typedef {import("./position.js").Position} Position */
/** @typedef {import("./tree_search.js").Evaluation} Evaluation */

const { fround } = Math;
const LEAST = fround(1e-12); // of the best action's prior, so that no legal action has none
const POINTS = 10; // a network's scores are in tens of points

/**
 * The softmax over the legal actions.
 * @param {Float32Array} logits
 * @param {ArrayLike<number>} legal
 */
export function priorsOf(logits, legal) {
  let highest = -Infinity;
  for (let action = 0; action < logits.length; action += 1) {
    if (legal[action] && logits[action] > highest) highest = logits[action];
  }
  const priors = new Float32Array(logits.length);
  let total = 0;
  for (let action = 0; action < logits.length; action += 1) {
    if (!legal[action]) continue;
    priors[action] = Math.max(fround(Math.exp(fround(logits[action] - highest))), LEAST);
    total = fround(total + priors[action]);
  }
  for (let action = 0; action < logits.length; action += 1) priors[action] /= total;
  return priors;
}

/**
 * @param {Record<string, Float32Array>} outputs
 * @param {ArrayLike<number>} legal
 * @returns {Evaluation}
 */
export function evaluationOf({ logits, value, score, ownership }, legal) {
  if (!Number.isFinite(value[0])) throw new Error("the network's output is not finite");
  return { priors: priorsOf(logits, legal), value: Math.min(Math.max(value[0], -1), 1),
    score: score ? POINTS * score[0] : null, ownership: ownership || null };
}

/**
 * @param {Position} position
 * @param {number} planes numbers of the network's input
 */
export function inputOf(position, planes) {
  const input = new Float32Array(planes);
  position.planes(input);
  return input;
}
