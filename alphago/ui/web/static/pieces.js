// The pieces on a board: stones, or seeds in houses. Pieces that stay are not drawn anew, so that changes can be shown as motion.

import { s } from "./elements.js";
import { COLOURS, inPixels, landingOf, middleOf, UNIT } from "./geometry.js";
import { falls, fades, flips, lands, pulses } from "./motion.js";

const MOST_SEEDS = 24; // that are drawn in one house or store
const SLOPPY = 0.7; // pixels by which a stone may lie beside its point

/** A fixed number from -1 to 1 for a cell and a `salt`, so that stones do not all lie alike. @param {number} cell @param {number} salt */
const chance = (cell, salt) => ((Math.imul(cell + 11, 2654435761 + salt * 40503) >>> 8) % 2001) / 1000 - 1;

export class Pieces {
  /** @param {string} id of the paints */
  constructor(id) {
    this.id = id;
    this.element = s("g");
    this.counts = s("g");
    /** @type {Map<number, {sign: string, element: any}>} */
    this.stones = new Map();
    /** @type {number[]} */
    this.seeds = [];
  }

  /**
   * Draw the pieces of a position.
   * @param {GameView} game
   * @param {PositionView} view
   * @param {boolean} moves whether changes are shown as motion
   */
  draw(game, view, moves) {
    if (view.stones !== undefined) this.drawStones(game, view.stones, moves);
    if (view.seeds) this.drawSeeds(game, view, view.seeds, moves);
    const captures = view.captures || [];
    this.counts.replaceChildren(...game.stores.flatMap((lengths, i) => {
      const [x, y, width, height] = inPixels(lengths);
      const middle = y + height / 2;
      return [...seedsIn(x + width / 2, middle, captures[i] || 0, this.id, width / height / 2),
        s("text.ag-side-name", { x: x + UNIT, y: middle }, game.sides[i]),
        s("text.ag-store", { x: x + width - UNIT, y: middle }, captures[i])];
    }));
  }

  /** Draw stones. @param {GameView} game @param {string} signs for each cell "X", "O" or "." @param {boolean} moves */
  drawStones(game, signs, moves) {
    for (const [cell, { sign, element }] of this.stones) {
      if (signs[cell] === sign) continue;
      this.stones.delete(cell);
      if (!moves) element.remove();
      else if (signs[cell] === ".") fades(element);
      else flips(element, false);
    }
    for (const [cell, sign] of [...signs].entries()) {
      if (sign === "." || this.stones.has(cell)) continue;
      const element = this.stone(game, cell, COLOURS[sign === "X" ? 1 : -1]);
      const turned = moves && this.element.querySelector(`[data-cell="${cell}"]`);
      this.stones.set(cell, { sign, element });
      this.element.append(element);
      if (!moves) continue;
      if (turned) flips(element, true);
      else if (game.surface === "holes") falls(element, middleOf(game, cell)[1] + UNIT);
      else lands(element);
    }
  }

  /** A new stone. @param {GameView} game @param {number} cell @param {string} colour */
  stone(game, cell, colour) {
    const [cx, cy] = middleOf(game, cell);
    const r = game.stone * UNIT;
    const beside = [1, 2].map((salt) => (SLOPPY * chance(cell, salt)).toFixed(2)).join(" ");
    return s("g.ag-set", { "data-cell": cell, transform: game.surface === "lines" ? `translate(${beside})` : null },
      s("circle", { cx: cx + 1, cy: cy + 2.2, r: r + 2, fill: `url(#${this.id}-shadow)` }),
      s("circle", { cx, cy, r, class: `ag-piece ag-${colour}` }),
      s("circle", { cx, cy, r, fill: `url(#${this.id}-${game.colours ? "black" : colour})`, class: "ag-light" }));
  }

  /** Draw the seeds of all houses. @param {GameView} game @param {PositionView} view @param {number[]} seeds by cell @param {boolean} moves */
  drawSeeds(game, { legal, toPlay, over }, seeds, moves) {
    const live = new Set(over ? [] : legal.map((action) => landingOf(game, action, toPlay, () => true)));
    const before = this.seeds;
    this.seeds = [...seeds];
    let order = 0;
    this.element.replaceChildren(...seeds.map((count, cell) => {
      const [x, y] = middleOf(game, cell);
      const r = game.stone * UNIT;
      const group = s("g.ag-set",
        live.has(cell) ? s("circle.ag-live", { cx: x, cy: y, r }) : null,
        ...seedsIn(x, y - 2, count, this.id),
        count ? [s("circle.ag-tag", { cx: x, cy: y + r, r: 9.5 }), s("text.ag-count", { x, y: y + r }, count)] : null);
      if (moves && before.length && before[cell] !== count) pulses(group, 90 * order++);
      return group;
    }));
  }
}

/** A heap of seeds, `wide` times as wide as high. @type {(x: number, y: number, count: number, id: string, wide?: number) => any[]} */
function seedsIn(x, y, count, id, wide = 1) {
  const drawn = Math.min(count, MOST_SEEDS);
  const spread = Math.min(6.6, (wide > 1 ? 12 : 21) / Math.sqrt(drawn + 0.1));
  return Array.from({ length: drawn }, (_, i) => {
    const turn = i * 2.4 + 0.6;
    const far = drawn === 1 ? 0 : spread * Math.sqrt(i + 0.35);
    const [cx, cy] = [x + wide * far * Math.cos(turn), y + far * Math.sin(turn)];
    const form = { cx, cy, rx: 5.6, ry: 4.6, transform: `rotate(${Math.round(90 * chance(i, 3))} ${cx} ${cy})` };
    return [s("ellipse.ag-seed", { ...form }), s("ellipse", { ...form, fill: `url(#${id}-seed)` })];
  }).flat();
}
