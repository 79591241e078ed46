// Who plays: a card for each side, and between them, while one studies, a bar of the chance to win.

import { choicesOf, h, Part, percent } from "./elements.js";
import { fill, say } from "./words.js";
import { COLOURS } from "./geometry.js";

export class Players extends Part {
  cards = [1, -1].map((player) => this.card(player));
  share = h("i", {});
  bar = h("div", { class: "ag-winbar", role: "img", hidden: true }, this.share);
  element = h("div", { class: "ag-players" }, this.cards.map((card) => card.element), this.bar);

  /** @param {number} player */
  card(player) {
    const colour = COLOURS[player];
    const who = h("select", { "data-name": colour, onchange: () => this.app.send("players", { [colour]: who.value }) }, choicesOf({ human: say.you, engine: say.engine }));
    const side = h("b", {});
    const [captures, name, time] = ["", "ag-name", "ag-time"].map((kind) => h("span", { class: `ag-small ${kind}` }));
    const element = h("div", { class: "ag-card" }, h("span", { class: `ag-stone ag-${colour}`, "aria-hidden": "true" }), side, who,
      h("span", { class: "ag-facts" }, captures, name, time));
    return { element, side, who, captures, name, time };
  }

  clear() {
    const { game, names } = this.app.known;
    for (const [i, { side, who, name }] of this.cards.entries()) {
      side.textContent = game.sides[i];
      who.setAttribute("aria-label", fill(say.who, game.sides[i]));
      name.textContent = names[i];
      this.app.root.style.setProperty(`--${COLOURS[i ? -1 : 1]}`, game.colours ? game.colours[i] : "");
    }
  }

  draw() {
    const { known: { game }, state } = this.app;
    for (const [i, card] of this.cards.entries()) {
      card.who.value = state.players[i];
      card.element.classList.toggle("ag-turn", !state.over && state.view.toPlay === (i ? -1 : 1));
      const { captures, stones = "" } = state.view;
      card.captures.textContent = captures ? fill(say.captured, captures[i])
        : game.surface === "squares" ? fill(say.onBoard, stones.split("XO"[i]).length - 1) : "";
    }
    this.tick();
  }

  tick() {
    const { known, state } = this.app;
    for (const [i, { time }] of state ? this.cards.entries() : []) {
      const seconds = Math.floor(known.timeOf(i) / 1000);
      time.textContent = seconds || !(state.study || state.over) ? fill(say.used, `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`) : "";
    }
  }

  drawThought() {
    const { known, state } = this.app;
    const win = state?.study ? known.nodes[state.node].win : null;
    this.bar.hidden = win === null;
    if (win === null) return;
    this.share.style.width = `${(100 * win).toFixed(1)}%`;
    this.bar.setAttribute("aria-label", fill(say.wins, known.side(1), percent(win)));
  }
}
