// Where things are on a game's board, from its description (alphago/env/board_view.py); no rules.

export const UNIT = 40; // pixels of the drawing from a cell to the next

/** @param {number[]} lengths in steps from a cell to the next */
export const inPixels = (lengths) => lengths.map((length) => length * UNIT);

/** The path of a square about a point, `half` as wide. @type {(point: number[], half: number) => string} */
export const squarePath = ([x, y], half) => `M${x - half} ${y - half}h${2 * half}v${2 * half}h${-2 * half}z`;

/** The middle of a cell in the drawing. @param {GameView} game @param {number} cell */
export const middleOf = (game, cell) => inPixels(game.cells[cell]);

/**
 * The cell in which an action's piece lands: the first free one of its cells, else the last; null for a pass.
 * @type {(game: GameView, action: number, player: number, isFree: (cell: number) => boolean) => number | null}
 */
export function landingOf(game, action, player, isFree) {
  const cells = game.places[player > 0 ? 0 : 1][action] || [];
  return cells.find(isFree) ?? cells.at(-1) ?? null;
}

/** The actions that a side can click, each with the middles of its cells, in steps from a cell to the next. @param {GameView} game @param {number} player */
export function areasOf({ cells, places }, player) {
  return places[player > 0 ? 0 : 1].map((own, action) => ({ action, spots: own.map((cell) => cells[cell]) }))
    .filter(({ spots }) => spots.length);
}

/** The actions that a side can click, by rows from the top, each from the left. @param {GameView} game @param {number} player */
export function rowsOf(game, player) {
  const middles = areasOf(game, player).map(({ action, spots }) => {
    const [x, y] = [0, 1].map((axis) => Math.round(1000 * spots.reduce((sum, spot) => sum + spot[axis], 0) / spots.length));
    return { action, x, y };
  }).sort((one, other) => one.y - other.y || one.x - other.x);
  const heights = [...new Set(middles.map(({ y }) => y))];
  return heights.map((height) => middles.filter(({ y }) => y === height).map(({ action }) => action));
}

/** The number of the move that each stone came with, by cell. @param {GameView} game @param {{move: number, mover: number}[]} path that led here */
export function numbersOfMoves(game, path) {
  /** @type {Map<number, number>} */
  const numbers = new Map();
  path.forEach(({ move, mover }, i) => {
    const cell = landingOf(game, move, mover, (each) => !numbers.has(each));
    if (cell !== null) numbers.set(cell, i + 1);
  });
  return numbers;
}

/** Colours of the two sides, in messages and styles; their names are the game's. @type {Record<number, string>} */
export const COLOURS = { 1: "black", "-1": "white" };
