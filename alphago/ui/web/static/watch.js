// Runs that are training: facts, diagnosis, curves, and the latest games, which open on the board.

import { h, s } from "./board.js";

const EVERY = 4000; // milliseconds
// Okabe and Ito's colours, which the colour-blind tell apart; one for each run.
const COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#666666", "#000000"];
const DASHES = { "-": "", "--": "5 3", ":": "1.5 3", "-.": "6 3 1.5 3" };
const [WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [320, 190, 44, 8, 8, 22];

export function watch(element, open) {
  const page = new Watch(element, open);
  page.update();
  setInterval(() => !element.hidden && !document.hidden && page.update(), EVERY);
  element.addEventListener("shown", () => page.update());
}

class Watch {
  constructor(element, open) {
    this.open = open;
    this.tag = "";
    this.x = "minutes";
    this.axis = h("select", { "data-name": "axis", "aria-label": "x axis",
      onchange: () => { this.x = this.axis.value; this.tag = ""; this.update(); } });
    this.note = h("p", { class: "ag-notice", hidden: "" });
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
      this.note.textContent = answer ? String(error.message) : "The server does not answer; trying again …";
      this.note.hidden = false;
    }
  }

  show(data) {
    if (!this.axis.options.length) {
      this.axis.replaceChildren(...data.axes.map((name) => h("option", { value: name }, name)));
      this.axis.value = this.x;
    }
    this.facts.replaceChildren(...data.runs.map((run, i) => this.run(run, i)));
    this.panels.replaceChildren(...data.panels.map((panel) => figure(panel, data)));
    if (!data.panels.length) this.panels.replaceChildren(h("p", {}, "No iteration is over yet: curves come with the first."));
    data.runs.forEach((run, i) => this.listGames(i));
  }

  run(run, i) {
    const games = h("ol", { class: "w-games", "data-run": i });
    const swatch = s("svg", { viewBox: "0 0 20 20", class: "ag-swatch" }, s("rect", { y: 7, width: 20, height: 6, fill: colourOf(i) }));
    return h("article", { class: "w-run" }, h("h2", {}, swatch, run.name),
      run.error ? h("p", { class: "ag-notice" }, run.error) : null,
      h("ul", { class: "w-diagnosis" }, run.diagnosis.map((text) => h("li", {}, text))),
      run.diagnosis.length || run.error ? null : h("p", { class: "ag-small" }, "Diagnosis: nothing is wrong so far."),
      h("dl", {}, Object.entries(run.facts).flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)])),
      h("h3", {}, "Latest games"), games);
  }

  async listGames(run) {
    const list = this.facts.querySelector(`[data-run="${run}"]`);
    try {
      const answer = await fetch(`/watch/games?run=${run}`, { cache: "no-store" });
      const data = await answer.json();
      const rows = data.error ? [h("li", {}, data.error)] : data.games.map((title, game) =>
        h("li", {}, h("button", { type: "button", onclick: () => this.open(run, game) }, title)));
      list.replaceChildren(...(rows.length ? rows : [h("li", {}, "none yet")]));
    } catch {
      list.replaceChildren(h("li", {}, "The server does not answer."));
    }
  }
}

const colourOf = (run) => COLOURS[run % COLOURS.length];

function figure(panel, data) {
  const xs = panel.lines.flatMap((line) => line.x);
  const ys = panel.lines.flatMap((line) => [...line.y, ...(line.low || []), ...(line.high || [])]).filter(Number.isFinite);
  const share = panel.unit.startsWith("%");
  const [x0, x1] = [Math.min(0, ...xs), Math.max(...xs, 1e-9)];
  let [y0, y1] = panel.range || [Math.min(...ys), Math.max(...ys)];
  if (panel.level !== null) [y0, y1] = [Math.min(y0, panel.level), Math.max(y1, panel.level)];
  if (y1 - y0 < 1e-9) [y0, y1] = [y0 - 0.5, y1 + 0.5];
  const px = (x) => LEFT + (WIDTH - LEFT - RIGHT) * (x - x0) / (x1 - x0 || 1);
  const py = (y) => TOP + (HEIGHT - TOP - BOTTOM) * (1 - (y - y0) / (y1 - y0));
  const parts = [s("rect", { x: LEFT, y: TOP, width: WIDTH - LEFT - RIGHT, height: HEIGHT - TOP - BOTTOM, class: "ag-plot" })];
  for (const tick of ticks(y0, y1)) {
    parts.push(s("path", { d: `M${LEFT} ${py(tick)}H${WIDTH - RIGHT}`, class: "w-grid" }),
      s("text", { x: LEFT - 4, y: py(tick) + 3.5, "text-anchor": "end", class: "ag-axis" }, number(tick, share)));
  }
  for (const tick of ticks(x0, x1)) {
    parts.push(s("text", { x: px(tick), y: HEIGHT - 8, "text-anchor": "middle", class: "ag-axis" }, number(tick, false)));
  }
  if (panel.level !== null) parts.push(s("path", { d: `M${LEFT} ${py(panel.level)}H${WIDTH - RIGHT}`, class: "ag-even" }));
  const kinds = new Map();
  const named = [...new Set(panel.lines.map((line) => line.name))].filter(Boolean);
  for (const line of panel.lines) {
    const colour = line.name ? COLOURS[named.indexOf(line.name) % COLOURS.length] : colourOf(line.run);
    if (line.label || line.name) kinds.set(line.name || line.label, [line.name ? colour : "currentColor", DASHES[line.style]]);
    if (line.low && line.high) {
      const up = line.x.map((x, i) => `${px(x)} ${py(Math.min(line.high[i], y1))}`);
      const down = line.x.map((x, i) => `${px(x)} ${py(Math.max(line.low[i], y0))}`).reverse();
      parts.push(s("path", { d: `M${[...up, ...down].join("L")}Z`, fill: colour, class: "w-band" }));
    }
    parts.push(s("path", { d: `M${line.x.map((x, i) => `${px(x).toFixed(1)} ${py(line.y[i]).toFixed(1)}`).join("L")}`,
      stroke: colour, "stroke-dasharray": DASHES[line.style], class: "w-line" }));
    if (line.x.length < 40) parts.push(...line.x.map((x, i) => s("circle", { cx: px(x), cy: py(line.y[i]), r: 2, fill: colour })));
  }
  const key = [...kinds].length > 1 || named.length ? h("p", { class: "w-key" }, [...kinds].map(([name, [colour, dash]]) =>
    h("span", {}, s("svg", { viewBox: "0 0 24 8", class: "w-dash" }, s("path", { d: "M0 4H24", stroke: colour,
      "stroke-dasharray": dash, "stroke-width": 2.5 })), name))) : null;
  const unit = share ? panel.unit.slice(1).trim() : panel.unit;
  return h("figure", {}, h("figcaption", {}, panel.title, h("span", { class: "ag-small" }, ` ${unit ? `(${unit}) ` : ""}by ${
    panel.xLabel || data.label}`)), s("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": panel.title }, parts), key);
}

function ticks(low, high) {
  const step = 10 ** Math.floor(Math.log10((high - low) / 3));
  const wide = [1, 2, 5, 10].map((factor) => factor * step).find((one) => (high - low) / one <= 5);
  const first = Math.ceil(low / wide);
  return Array.from({ length: Math.floor(high / wide) - first + 1 }, (_, i) => (first + i) * wide);
}

function number(value, share) {
  if (share) return `${+(100 * value).toFixed(1)}%`;
  const size = Math.abs(value);
  if (size >= 1e6) return `${+(value / 1e6).toFixed(1)}M`;
  if (size >= 1e4) return `${+(value / 1e3).toFixed(1)}k`;
  return size > 0 && size < 1e-3 ? value.toExponential(0) : String(+value.toFixed(4));
}
