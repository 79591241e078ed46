// Runs that train: how strong each is and how far, the curves that matter, the latest games; all else folded.

import { h, s } from "./elements.js";
import { swatch } from "./icons.js";
import { buttons, fill, runs, say } from "./words.js";

/** @typedef {(run: number, game: number) => void} Open opens a game of a run; for run -1 the board as it is */

const EVERY = 4000; // milliseconds
const MAIN = 4; // curves that are not folded

/** @param {HTMLElement} element @param {Open} open */
export function watch(element, open) {
  const view = new Watch(element, open);
  view.update();
  setInterval(() => !element.hidden && !document.hidden && view.update(), EVERY);
  element.addEventListener("shown", () => view.update());
}

class Watch {
  /** @param {HTMLElement} element @param {Open} open */
  constructor(element, open) {
    this.open = open;
    this.tag = "";
    this.x = "minutes";
    this.axis = h("select#axis", { onchange: () => { this.x = this.axis.value; this.tag = ""; this.update(); } });
    this.note = h("p.ag-notice", { role: "alert", hidden: true });
    this.runs = h("section.w-runs");
    this.main = h("section.w-main");
    this.rest = h("div.w-rest");
    this.folded = h("details", { hidden: true }, h("summary", runs.curves), this.rest);
    /** @type {Set<number>} */
    this.unfolded = new Set(); // runs whose figures are shown
    element.classList.add("ag-watch");
    element.replaceChildren(h("div.w-head", h("div.ag-tabs", { role: "group" },
      h("button#to-board", { onclick: () => open(-1, 0) }, buttons.play[0]),
      h("button", { "aria-pressed": "true" }, say.watch)), h("h1", runs.title), h("label", `${runs.axis} `, this.axis)),
    this.note, this.runs, this.main, this.folded);
  }

  async update() {
    let answer;
    try {
      answer = await fetch(`/watch?x=${this.x}`, { cache: "no-store", headers: this.tag ? { "If-None-Match": this.tag } : {} });
      if (answer.status === 304) return;
      const data = await answer.json();
      if (data.error) throw new Error(data.error);
      this.tag = answer.headers.get("ETag") || "";
      this.note.hidden = true;
      this.show(data);
    } catch (error) {
      this.note.textContent = answer && error instanceof Error ? error.message : say.silent;
      this.note.hidden = false;
    }
  }

  /** @param {OverviewView} data */
  show(data) {
    if (!this.axis.options.length) {
      this.axis.replaceChildren(...data.axes.map((name) => h("option", name)));
      this.axis.value = this.x;
    }
    this.runs.replaceChildren(...data.runs.map((run, i) => this.run(run, i)));
    const figures = data.panels.map(figureOf);
    this.main.replaceChildren(...figures.slice(0, MAIN));
    if (!figures.length) this.main.replaceChildren(h("p", runs.empty));
    this.rest.replaceChildren(...figures.slice(MAIN));
    this.folded.hidden = figures.length <= MAIN;
  }

  /** @param {RunView} run @param {number} number */
  run(run, number) {
    const games = run.games.map((title, game) => h("li", h("button", { onclick: () => this.open(number, game) }, title)));
    const over = run.over ? 1 : 0;
    const line = swatch(s("rect", { y: 7, width: 20, height: 6, fill: run.colour }));
    const { strength, progress, share } = run.headline || { strength: "", progress: "", share: 0 };
    const unfold = (/** @type {any} */ { target }) => this.unfolded[target.open ? "add" : "delete"](number);
    return h("article.w-run", h("div", h("h2", line, run.name),
      run.error ? h("p.ag-notice", run.error) : [h("p.w-strength", strength.replaceAll(" %", "\u00a0%") || runs.untested[over]),
        h("progress", { max: 1, value: share, "aria-label": fill(runs.done, Math.round(100 * share)) }), h("p.ag-small", progress)],
      run.diagnosis.length ? h("ul.w-diagnosis", run.diagnosis.map((text) => h("li", text)))
        : run.error ? null : h("p.ag-small", runs.fine[over]),
      h("details", { open: this.unfolded.has(number), ontoggle: unfold }, h("summary", runs.details),
        h("dl", Object.entries(run.facts).flatMap(([name, value]) => [h("dt", name), h("dd", value)])))),
    h("div", h("h3", runs.games), h("ol.w-games", { tabindex: 0, "aria-label": runs.games },
      games.length ? games : h("li", runs.none[over]))));
  }
}

/** @param {string} svg of the server: its texts are escaped there, and scripts in it would not run */
function figureOf(svg) {
  const element = h("figure");
  element.innerHTML = svg;
  return element;
}
