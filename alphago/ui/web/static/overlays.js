// What is drawn over the pieces: marks of the position, discs of moves, an expected line, owners, the cursor.

import { colourOf, evenPriors, FEW, LOSSES, modeOf, numbersOf, shownMoves } from "./candidates.js";
import { s } from "./elements.js";
import { COLOURS, landingOf, middleOf, squarePath, UNIT } from "./geometry.js";
import { appears } from "./motion.js";

const LEAST_OWNER = 30; // percent, below which a point has no square: networks say as much of an empty board

/** A circle about a cell. @type {(game: GameView, cell: number, r: number, kind: string, more?: object) => any} */
function circleAt(game, cell, r, kind, more) {
  const [cx, cy] = middleOf(game, cell);
  return s("circle", { cx, cy, r, class: kind, ...more });
}

/** A square about a cell, `half` as wide. @type {(game: GameView, cell: number, half: number, kind: string, rx?: number) => any} */
function squareAt(game, cell, half, kind, rx) {
  const [x, y] = middleOf(game, cell);
  return s("rect", { x: x - half, y: y - half, width: 2 * half, height: 2 * half, rx, class: kind });
}

/** The number of a move. @type {(game: GameView, cell: number, player: number, number: number) => any} */
function numberAt(game, cell, player, number) {
  const [x, y] = middleOf(game, cell);
  return s("text", { x, y, class: `ag-number ag-on-${COLOURS[player]}` }, number);
}

/**
 * The last move, points where no stone may be set, numbers of moves by cell, and the count of a finished game.
 * @type {(game: GameView, scene: Scene, numbers: Map<number, number>) => any[]}
 */
export function marksOf(game, { view, count, better = null }, numbers) {
  const { stones = "", last, ko } = view;
  const parts = [];
  for (const [cell, number] of numbers) {
    if (stones[cell] && stones[cell] !== ".") parts.push(numberAt(game, cell, stones[cell] === "X" ? 1 : -1, number));
  }
  if (last !== null && !numbers.has(last)) {
    parts.push(stones ? circleAt(game, last, 5, stones[last] === "X" ? "ag-last ag-on-black" : "ag-last")
      : circleAt(game, last, game.stone * UNIT + 2, "ag-sown"));
  }
  const cell = better === null ? null : landingOf(game, better, -view.toPlay, (each) => !stones || stones[each] === ".");
  if (cell !== null) parts.push(circleAt(game, cell, 19, `ag-better ${stones && `ag-${COLOURS[-view.toPlay]}`}`)); // a stone of who played the last move
  return [...parts, ...ko.map((each) => squareAt(game, each, 7, "ag-ko")), ...(count ? countOf(game, stones, count) : [])];
}

/** The marks of a count: on dead stones, and on points by their owner. @param {GameView} game @param {string} stones @param {CountView} count */
function countOf(game, stones, { owners, dead }) {
  const gone = new Set(dead);
  return [...owners].flatMap((owner, cell) => [
    gone.has(cell) ? circleAt(game, cell, game.stone * UNIT + 1, "ag-dead") : [],
    owner !== "." && (gone.has(cell) || !stones[cell] || stones[cell] === ".")
      ? squareAt(game, cell, 5.5, `ag-owner ag-owner-${COLOURS[owner === "X" ? 1 : -1]}`, 2) : [],
  ].flat());
}

/**
 * The drawings over the pieces. `hovered` and `chosen`: the actions under the pointer and the cursor; `line`: the expected moves, beginning with
 * `hovered`; `walks`: whether the line appears move by move; `small`: whether a disc has room for only one short number.
 * @param {GameView} game @param {Scene} scene
 * @param {{hovered: number | null, line: number[] | null, chosen: number | null, walks: boolean, small: boolean}} shown
 */
export function overlays(game, scene, { hovered, line, chosen, walks, small }) {
  const { view, analysis = null, open = true, ownership = true, mode = "loss" } = scene;
  const parts = [];
  if (analysis) {
    const above = line && view.stones !== undefined ? ghostsOf(game, view.stones, line, analysis.mover, walks)
      : discsOf(game, view.stones || "", analysis, mode, small);
    if (analysis.ownership && ownership && game.territory) {
      const hidden = new Set(above.map((one) => one.dataset.at).filter(Boolean).map(Number));
      parts.push(...ownersOf(game, view.stones || "", analysis.ownership, hidden));
    }
    parts.push(...above);
  } else if (open && game.surface === "squares") parts.push(...allowedOf(game, view));
  if (hovered !== null && !line && open && view.legal.includes(hovered)) parts.push(...shadowOf(game, view, hovered));
  if (chosen !== null) {
    const cell = /** @type {number} */ (landingOf(game, chosen, view.toPlay, () => false)); // an action that can be clicked has one
    parts.push(squareAt(game, cell, Math.max(19, game.stone * UNIT), "ag-cursor", 5));
  }
  return parts;
}

/** Dots where a piece may be set, unless it may be set everywhere. @param {GameView} game @param {PositionView} view */
function allowedOf(game, { stones = "", legal, toPlay }) {
  const cells = legal.flatMap((action) => landingOf(game, action, toPlay, () => true) ?? []);
  return cells.length < stones.split(".").length - 1
    ? cells.map((cell) => circleAt(game, cell, 4, "ag-aim")) : [];
}

/** The piece that a click would set. @param {GameView} game @param {PositionView} view @param {number} action */
function shadowOf(game, { stones, toPlay }, action) {
  const cell = landingOf(game, action, toPlay, (each) => !stones || stones[each] === ".");
  return cell === null ? [] : [circleAt(game, cell, game.stone * UNIT, stones === undefined ? "ag-aim" : `ag-preview ag-${COLOURS[toPlay]}`)];
}

/** Squares for the expected owners. @type {(game: GameView, stones: string, ownership: number[], hidden: Set<number>) => any[]} */
function ownersOf(game, stones, ownership, hidden) {
  return [1, -1].map((side) => s("path", { class: `ag-owner ag-owner-${COLOURS[side]}`, d: ownership.map((value, cell) => {
    const own = stones[cell] === (side > 0 ? "X" : "O"); // a stone that lives needs no mark
    if (value * side < LEAST_OWNER || hidden.has(cell) || own) return "";
    return squarePath(middleOf(game, cell), Math.round(7.5 * Math.sqrt(value * side / 100)));
  }).join("") }));
}

/** The discs of the analysed moves, the best one last. @type {(game: GameView, stones: string, found: AnalysisView, chosen: string, small: boolean) => any[]} */
function discsOf(game, stones, found, chosen, small) {
  const moves = shownMoves(found);
  const best = moves[0];
  const mode = modeOf(found, chosen);
  const byPrior = mode === "prior";
  if (byPrior && evenPriors(found.moves)) return [];
  const judged = best.win !== null || !evenPriors(found.moves); // else too few random games tell nothing
  const parts = [];
  for (const move of moves.reverse()) {
    const cell = landingOf(game, move.move, found.mover, (each) => stones[each] === ".");
    if (cell === null) continue; // a pass
    const share = byPrior || best.visits <= FEW ? move.prior : Math.min(1, move.visits / best.visits);
    const fill = colourOf(move, best);
    const [first, second] = numbersOf(move, best, mode, small);
    const colour = fill === LOSSES[0] ? "#fff" : "#000"; // a contrast of 4.5 at least
    const [x, y] = middleOf(game, cell);
    /** @type {(content: string, below: number, most: number, room: number, kind: string) => any} */
    const text = (content, below, most, room, kind) => content
      && s("text", { x, y: y + below, class: kind, fill: colour, "font-size": sizeIn(content, most, room) }, content);
    const r = judged || first ? 16 + 1.5 * Math.sqrt(share) : 8;
    parts.push(circleAt(game, cell, r + 1, "ag-base"),
      circleAt(game, cell, Number(r.toFixed(1)), "ag-disc", { fill, "data-move": game.names[move.move], "data-at": move.move }));
    if (move === best && judged) parts.push(circleAt(game, cell, 18, "ag-best"));
    parts.push(...(first && second ? [text(first, -4.5, 11.5, 30, "ag-value"), text(second, 8, 9.5, 24, "ag-visits")]
      : [text(first || second, 0, small ? 18 : 12.5, small ? 27 : 34, first ? "ag-value" : "ag-visits")]));
  }
  return parts.filter(Boolean);
}

/** @type {(text: string, most: number, room: number) => string} the size at which a number ends before the rim of its disc */
const sizeIn = (text, most, room) => Math.min(most, room / (0.75 * text.replace("%", "%%").length)).toFixed(1);

/** The stones of an expected line, numbered. @param {GameView} game @param {string} before the stones @param {number[]} line @param {number} mover @param {boolean} walks */
function ghostsOf(game, before, line, mover, walks) {
  const stones = [...before];
  /** @type {any[]} */
  const parts = [];
  const shown = new Set();
  line.forEach((action, i) => {
    const player = i % 2 ? -mover : mover;
    const cell = landingOf(game, action, player, (each) => stones[each] === ".");
    if (cell === null || shown.has(cell)) return;
    shown.add(cell);
    stones[cell] = player > 0 ? "X" : "O";
    const pieces = [circleAt(game, cell, 17, `ag-piece ag-ghost ag-${COLOURS[player]}`, { "data-at": cell }), numberAt(game, cell, player, i + 1)];
    if (walks) for (const piece of pieces) appears(piece, i);
    parts.push(...pieces);
  });
  return parts;
}
