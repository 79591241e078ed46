// Runs that are training: facts, diagnosis, curves, and the latest games, which open on the board.

import { h, s } from "./elements.js";

/** @typedef {import("./wire.js").OverviewView} OverviewView */
/** @typedef {import("./wire.js").RunView} RunView */
/** @typedef {(run: number, game: number) => void} Open opens a game of a run */

const EVERY = 4000; // milliseconds

/**
 * Show the runs in an element, and keep it up to date.
 * @param {HTMLElement} element
 * @param {Open} open
 */
export function watch(element, open) {
  const page = new Watch(element, open);
  page.update();
  setInterval(() => !element.hidden && !document.hidden && page.update(), EVERY);
  element.addEventListener("shown", () => page.update());
}

class Watch {
  /**
   * @param {HTMLElement} element
   * @param {Open} open
   */
  constructor(element, open) {
    this.open = open;
    this.tag = "";
    this.x = "minutes";
    this.axis = h("select", { "data-name": "axis", "aria-label": "x axis",
      onchange: () => { this.x = this.axis.value; this.tag = ""; this.update(); } });
    this.note = h("p", { class: "ag-notice", hidden: true });
    this.facts = h("section", { class: "w-runs" });
    this.panels = h("section", { class: "w-panels" });
    element.replaceChildren(h("div", { class: "w-head" }, h("label", {}, "x axis ", this.axis)), this.note, this.facts,
      this.panels);
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
      this.note.textContent = answer && error instanceof Error ? error.message : "The server does not answer; trying again …";
      this.note.hidden = false;
    }
  }

  /** @param {OverviewView} data */
  show(data) {
    if (!this.axis.options.length) {
      this.axis.replaceChildren(...data.axes.map((name) => h("option", { value: name }, name)));
      this.axis.value = this.x;
    }
    this.facts.replaceChildren(...data.runs.map((run, i) => this.run(run, i)));
    this.panels.replaceChildren(...data.panels.map(figureOf));
    if (!data.panels.length) this.panels.replaceChildren(h("p", {}, "No iteration is over yet: curves come with the first."));
    data.runs.forEach((_, i) => this.listGames(i));
  }

  /**
   * @param {RunView} run
   * @param {number} number
   */
  run(run, number) {
    const games = h("ol", { class: "w-games", "data-run": number });
    const swatch = s("svg", { viewBox: "0 0 20 20", class: "ag-swatch" }, s("rect", { y: 7, width: 20, height: 6, fill: run.colour }));
    return h("article", { class: "w-run" }, h("h2", {}, swatch, run.name),
      run.error ? h("p", { class: "ag-notice" }, run.error) : null,
      h("ul", { class: "w-diagnosis" }, run.diagnosis.map((text) => h("li", {}, text))),
      run.diagnosis.length || run.error ? null : h("p", { class: "ag-small" }, "Diagnosis: nothing is wrong so far."),
      h("dl", {}, Object.entries(run.facts).flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)])),
      h("h3", {}, "Latest games"), games);
  }

  /** @param {number} run */
  async listGames(run) {
    const list = this.facts.querySelector(`[data-run="${run}"]`);
    try {
      const answer = await fetch(`/watch/games?run=${run}`, { cache: "no-store" });
      /** @type {{games: string[], error?: string}} */
      const data = await answer.json();
      const rows = data.error ? [h("li", {}, data.error)] : data.games.map((title, game) =>
        h("li", {}, h("button", { type: "button", onclick: () => this.open(run, game) }, title)));
      list.replaceChildren(...(rows.length ? rows : [h("li", {}, "none yet")]));
    } catch {
      list.replaceChildren(h("li", {}, "The server does not answer."));
    }
  }
}

/**
 * A picture of the server: its texts are escaped there, and scripts in it would not run.
 * @param {string} svg
 */
function figureOf(svg) {
  const element = h("figure", {});
  element.innerHTML = svg;
  return element;
}
