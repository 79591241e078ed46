// Runs that train: how strong each is and how far, the curves that matter, the latest games; all else folded.

import { h, renew, s, select } from "./elements.js";
import { swatch } from "./icons.js";
import { buttons, fill, runs, say } from "./words.js";

/** @typedef {(run: number, game: string) => void} Open opens a game of a run by its title; for run -1 the board as it is */

const EVERY = 4000; // milliseconds
const MAIN = 4; // curves that are not folded

export class Watch {
  x = "minutes";
  /** @type {OverviewView | null} */
  data = null;
  fault = ""; // why the last update failed, "" if it did not

  /** @param {HTMLElement} element @param {Open} open */
  constructor(element, open) {
    this.element = element;
    this.open = open;
    element.classList.add("ag-watch");
    element.addEventListener("shown", () => this.update());
    setInterval(() => !element.hidden && !document.hidden && this.update(), EVERY);
    this.draw();
    this.update();
  }

  /** Ask the server for changes, and draw. */
  async update() {
    let answer;
    try {
      answer = await fetch(`/watch?x=${this.x}`); // what has not changed the browser has kept, by its ETag
      const data = await answer.json();
      if (data.error) throw new Error(data.error);
      [this.data, this.fault] = [data, ""];
    } catch (error) {
      this.fault = answer && error instanceof Error ? error.message : say.silent;
    }
    this.draw();
  }

  /** Draw everything. */
  draw() {
    const { data, fault } = this;
    const figures = data ? data.panels.map(figureOf) : [];
    const axis = select({ "data-name": "axis", onchange: (/** @type {any} */ { target }) => {
      this.x = target.value;
      this.update();
    } }, Object.fromEntries((data?.axes || []).map((name) => [name, name])), this.x);
    renew(this.element, [h("div.w-head", h("div.ag-tabs", { role: "group" }, h("button#to-board", { onclick: () => this.open(-1, "") }, buttons.play[0]),
      h("button", { "aria-pressed": "true" }, say.watch)), h("h1", runs.title), h("label", `${runs.axis} `, axis)),
    h("p.ag-notice", { role: "alert", hidden: !fault }, fault),
    h("section.w-runs", data?.runs.map((run, i) => this.run(run, i))),
    h("section.w-main", data && !figures.length ? h("p", runs.empty) : figures.slice(0, MAIN)),
    h("details", { hidden: figures.length <= MAIN }, h("summary", runs.curves), h("div.w-rest", figures.slice(MAIN)))]);
  }

  /** The part of one run. @param {RunView} run @param {number} number */
  run(run, number) {
    const games = run.games.map((game) => h("li", h("button", { onclick: () => this.open(number, game) }, game)));
    const over = run.over ? 1 : 0;
    const line = swatch(s("rect", { y: 7, width: 20, height: 6, fill: run.colour }));
    const { strength, progress, share } = run.headline || { strength: "", progress: "", share: 0 };
    return h("article.w-run", h("div", h("h2", line, run.name),
      run.error ? h("p.ag-notice", run.error) : [h("p.w-strength", strength.replaceAll(" %", "\u00a0%") || runs.untested[over]),
        h("progress", { max: 1, value: share, "aria-label": fill(runs.done, Math.round(100 * share)) }), h("p.ag-small", progress)],
      run.diagnosis.length ? h("ul.w-diagnosis", run.diagnosis.map((text) => h("li", text)))
        : run.error ? null : h("p.ag-small", runs.fine[over]),
      h("details", h("summary", runs.details),
        h("dl", Object.entries(run.facts).flatMap(([name, value]) => [h("dt", name), h("dd", value)])))),
    h("div", h("h3", runs.games), h("ol.w-games", { tabindex: 0, "aria-label": runs.games },
      games.length ? games : h("li", runs.none[over]))));
  }
}

/** A picture of the server. Its texts are escaped there, and scripts in it would not run. @param {string} svg */
function figureOf(svg) {
  const element = h("figure");
  element.innerHTML = svg;
  return element;
}
