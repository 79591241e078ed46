// Whether a person's move is a bad one, by the numbers of alphago/ui/teacher.py, and what the page is told of it.

export const LESSON_READOUTS = 100; // of the positions before and after a move
const POINTS_OF_A_GAME = 20; // points that count as much as a won game where no points are known

/**
 * What a move loses against the best one of a search, and that as a sentence; null if it loses no more than `least` points.
 * @param {AnalysisView} before the move
 * @param {AnalysisView} after it
 * @param {number} move
 * @param {number} least
 * @param {string[]} names of the moves
 * @returns {{move: string, best: string, points: number | null, rate: number, sentences: string[]} | null}
 */
export function lessonOf(before, after, move, least, names) {
  const [best] = before.moves;
  if (!best || best.move === move || best.win === null || !after.mean) return null;
  const side = before.mover;
  const [win, score] = after.mean;
  const rate = best.win - (side > 0 ? win : 1 - win);
  const points = best.score === null || score === null ? null : best.score - side * score;
  if ((points ?? POINTS_OF_A_GAME * rate) <= least) return null;
  const loss = points === null ? `${Math.round(100 * rate)} % of the chance to win` : `about ${points.toFixed(1)} points`;
  return { move: names[move], best: names[best.move], points, rate, sentences: [`${names[move]} loses ${loss}; ${names[best.move]} is better.`] };
}
