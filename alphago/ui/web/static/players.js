// Who plays: a card for each side, and between them, while one studies, a bar of the chance to win.

import { h, percent, select } from "./elements.js";
import { COLOURS } from "./geometry.js";
import { fill, say } from "./words.js";

/** The time that each side has thought, in a game and on a page. */
export class Clock {
  spent = [0, 0]; // milliseconds of either side
  since = 0; // when the desk's state was noted last
  runs = -1; // the side whose clock runs, -1 for none
  moves = 0;

  /** Note a new state of the desk. @param {Desk} desk @param {boolean} steps whether another position is shown @param {boolean} begins whether it is of another game */
  look({ study, tree: { over, position: { moves, toPlay } } }, steps, begins) {
    if (begins) this.spent = [0, 0];
    else if (!steps || moves === this.moves + 1) this.spent = [0, 1].map((side) => this.timeOf(side));
    this.since = Date.now();
    this.runs = over || study ? -1 : toPlay > 0 ? 0 : 1;
    this.moves = moves;
  }

  /** The milliseconds that a side has thought so far. @param {number} side 0 or 1 */
  timeOf(side) {
    return this.spent[side] + (this.runs === side ? Date.now() - this.since : 0);
  }
}

/** The cards of both sides, and the bar. @param {App} app */
export function playersOf({ clock, desk, desk: { players, study, tree: { names, node, over, position, view } } }) {
  const { captures, stones = "" } = position;
  const cards = [1, -1].map((player, i) => {
    const colour = COLOURS[player];
    const taken = captures ? fill(say.captured, captures[i]) : view.surface === "squares" ? fill(say.onBoard, stones.split("XO"[i]).length - 1) : "";
    const seconds = Math.floor(clock.timeOf(i) / 1000);
    const time = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
    const onchange = (/** @type {any} */ { target }) => desk.send({ type: "players", [colour]: target.value });
    return h("div.ag-card", { class: !over && position.toPlay === player && "ag-turn" },
      h(`span.ag-stone.ag-${colour}`, { "aria-hidden": "true" }), h("b", view.sides[i]),
      select({ "data-name": colour, "aria-label": fill(say.who, view.sides[i]), onchange }, { human: say.you, engine: say.engine }, players[i]),
      h("span.ag-facts", h("span.ag-small", taken), h("span.ag-small.ag-name", names[i]),
        h("span.ag-small.ag-time", seconds || !(study || over) ? fill(say.used, time) : "")));
  });
  const win = study ? node.win : null;
  return h("div.ag-players", cards, win !== null && h("div.ag-winbar", { role: "img", "aria-label": fill(say.wins, view.sides[0], percent(win)) },
    h("i", { style: `width: ${(100 * win).toFixed(1)}%` })));
}
