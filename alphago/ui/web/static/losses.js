// What each move of a line gave away, from the evaluations before and after it.

import { kindOf, lossWord, MISTAKE } from "./candidates.js";
import { LEAST_VISITS } from "./replies.js";
import { legend, say } from "./words.js";

/** The moves of a line whose positions before and after are evaluated. @param {Knot[]} line @returns {Loss[]} */
export function lossesOf(line) {
  return line.flatMap((after, number) => {
    const { node, move, mover } = after;
    const before = line[number - 1];
    if (!before || before.win === null) return [];
    const { mean, rough } = worthOf(before, after);
    if (!mean) return [];
    const [win, score] = mean;
    const points = score === null || before.score === null ? null : Math.max(0, mover * (before.score - score));
    const lost = Math.max(0, mover * (before.win - win));
    return [{ node, number, mover, move, win: lost, points, rough, before: before.win,
      after: [before.win - mover * lost, points === null ? null : Number(before.score) - mover * points] }];
  });
}

/**
 * `mean`: what a node is worth after the move that led there, Black's win rate and lead. It is taken from the search that visited
 * the move more, the node's own or its parent's; in the parent's search the best move loses nothing. `rough`: whether few visits tell it.
 * @param {Knot} parent @param {Knot} node @returns {{mean: [number, number | null] | null, rough: boolean}}
 */
export function worthOf(parent, { analysis, move, mover, score, visits, win }) {
  const moves = parent.analysis?.mover === mover ? parent.analysis.moves : []; // the best first
  const rank = moves.findIndex((one) => one.move === move && one.win !== null);
  const found = rank === 0 || (rank > 0 && moves[rank].visits >= visits) ? moves[rank] : null;
  const rough = Math.min(parent.visits, found?.visits ?? visits) < LEAST_VISITS;
  if (!found) return { mean: analysis?.mean ?? (win === null ? null : [win, score]), rough };
  return { mean: [mover > 0 ? Number(found.win) : 1 - Number(found.win), found.score === null ? null : mover * found.score], rough };
}

/**
 * An analysis in which each move that was played from here loses as much as in the list of moves.
 * @param {AnalysisView} analysis @param {Knot} here @param {Knot[]} nodes
 */
export function asPlayed(analysis, here, nodes) {
  const [best] = analysis.moves;
  const losses = here.children.flatMap((child) => lossesOf([here, nodes[child]]));
  return { ...analysis, moves: analysis.moves.map((move) => {
    const loss = losses.find((one) => one.move === move.move);
    if (!loss || move === best || move.win === null || best.win === null) return move;
    return { ...move, win: best.win - loss.win, score: loss.points === null || best.score === null ? null : best.score - loss.points };
  }) };
}

/**
 * Lines of a graph. `moves`: for each move a line from the value before it to the value after it, by its loss. `wins`, `leads`: lines through
 * these values after the moves and each position's own values.
 * @param {Knot[]} line @returns {{moves: Point[][], wins: Point[], leads: Point[]}}
 */
export function curvesOf(line) {
  const losses = lossesOf(line);
  const through = (/** @type {0 | 1} */ which) => /** @type {Point[]} */ ([...losses.map(({ number, after }) => [number, after[which]]),
    ...line.map(({ win, score }, i) => [i, [win, score][which]])].filter(([, value]) => value !== null)).sort(([one], [other]) => one - other);
  return { moves: losses.map(({ number, before, after }) => [[number - 1, before], [number, after[0]]]), wins: through(0), leads: through(1) };
}

const LEAST_WIN = 0.05; // least loss of win rate of a move that decided a game

/** Whether a loss is large enough to be called a mistake. @param {Loss} loss */
export const isMistake = ({ win, points }) => kindOf(win, points) >= MISTAKE;

/**
 * The node in which the next mistake of a line was made, or for direction -1 the previous one.
 * @type {(line: Knot[], node: number, direction: number) => number | undefined}
 */
export function nextMistake(line, node, direction) {
  const here = line.findIndex((one) => one.node === node);
  const places = lossesOf(line).filter(isMistake).map(({ number }) => number - 1).filter((place) => direction * (place - here) > 0);
  return line[places.at(direction > 0 ? 0 : -1) ?? -1]?.node;
}

/** The moves that decided a line: those that lost most of the chance to win, in the line's order. @param {Loss[]} losses @param {number} count */
export const decisive = (losses, count) => [...losses].sort((one, other) => other.win - one.win).slice(0, count)
  .filter(({ win }) => win >= LEAST_WIN).sort((one, other) => one.number - other.number);

/** A loss as text. @param {Pick<Loss, "win" | "points" | "rough">} loss @param {boolean} [long] whether there is room for words */
export const lossText = ({ win, points, rough }, long) => (rough ? long ? say.about : "≈" : "")
  + lossWord(points === null ? `-${Math.round(100 * win)} %` : `-${points.toFixed(rough ? 0 : 1)}`) + (long && points !== null ? ` ${legend.points}` : "");
