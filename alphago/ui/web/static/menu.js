// What one needs once: another game, files, the engine, settings, what the colours mean, the keys.

import { LOSSES, POINT_STEPS, RATE_STEPS } from "./candidates.js";
import { click } from "./effects.js";
import { choicesOf, h, Part, s } from "./elements.js";
import { box, button, dot, swatch } from "./icons.js";
import { buttons, fill, legend, say } from "./words.js";

const USUAL = { readouts: 200, seconds: 2 }; // where a limit is empty
const INKS = ["#111", "#fff"];

export class Menu extends Part {
  engine = new EngineSettings(this.app);
  file = h("input", { type: "file", accept: ".sgf,.json,text/plain", hidden: true, "data-name": "file",
    onchange: () => { this.app.read(this.file.files[0]); this.file.value = ""; } });
  sound = box("sound", (checked) => { this.app.look.sound = checked; if (checked) click(); });
  letters = box("letters", (checked) => { this.app.look.letters = checked; }, true);
  typed = h("input", { type: "text", size: 5, "data-name": "typed", autocomplete: "off",
    onkeydown: (/** @type {KeyboardEvent} */ { key }) => { if (key === "Enter") this.playTyped(); else if (key === "Escape") this.typed.blur(); } });
  take = this.app.options.take && button("take", () => this.app.options.take?.(this.app.state.strength.network, this.app.state.link));
  open = button("open", () => this.file.click());
  save = button("save", () => this.app.send("save"));
  legend = h("details", { class: "ag-legend", "data-name": "legend" });
  element = h("section", { class: "ag-menu", hidden: true, "aria-label": buttons.menu[0] },
    h("div", {}, h("h2", {}, say.game), h("div", { class: "ag-row" }, button("new", () => this.app.dialog.open(), "ag-main"),
      this.open, this.save, button("link", () => this.app.copyLink()), this.take, this.file)),
    this.engine.element,
    h("div", {}, h("h2", {}, say.settings), h("label", { class: "ag-field" }, say.typed, this.typed), this.letters, this.sound),
    this.legend, h("details", { class: "ag-legend" }, h("summary", {}, say.keys), h("dl", { class: "ag-keys" }, keysOf([...Object.values(buttons).map(([, title = ""]) => title), ...say.keyList]))));

  // Type a move, wherever one is.
  type() {
    if (!this.app.column.menuOpen) this.app.column.choose("menu");
    this.typed.focus();
  }

  playTyped() {
    const text = this.typed.value.trim();
    if (text && this.app.state) this.app.send("play", { move: text });
    this.typed.value = "";
  }

  clear() {
    const { game } = this.app.known;
    const kind = game.sgf ? "SGF" : say.file;
    this.open.lastChild.textContent = fill(buttons.open[0], kind);
    this.save.lastChild.textContent = fill(buttons.save[0], kind);
    this.typed.placeholder = game.names[Math.floor(game.names.length / 2)];
    this.engine.clear();
    this.legend.replaceChildren(h("summary", {}, say.legend), legendOf(game));
  }

  draw() {
    this.engine.draw();
    if (this.take) this.take.hidden = this.app.state.strength.network === "playouts";
  }
}

/** The keys in brackets at the end of texts, each with its text. @param {string[]} texts */
const keysOf = (texts) => texts.map((text) => / \((.+)\)$/.exec(text)).map((found) => found && h("div", {}, h("dt", {}, found[1]),
  h("dd", {}, found.input.slice(0, found.index))));

// The engine in figures: its network, how it chooses, and the limit of a move.
class EngineSettings extends Part {
  change = () => this.app.send("strength", this.wishes());
  /** @type {(name: string, title: string, least: number) => any} */
  number = (name, title, least) => h("input", { type: "number", min: least, step: least, title, "aria-label": title, "data-name": name, onchange: this.change });
  /** @type {(name: string, choices: Record<string, string>, title?: string) => any} */
  select = (name, choices, title) => h("select", { "data-name": name, "aria-label": title, onchange: this.change }, choicesOf(choices));
  network = this.select("network", {});
  how = this.select("how", { tree: say.tree, net: say.net });
  by = this.select("by", { readouts: say.readouts, seconds: say.seconds }, say.by);
  readouts = this.number("readouts", say.readoutsTitle, 1);
  seconds = this.number("seconds", say.secondsTitle, 0.1);
  chooses = h("label", { class: "ag-field" }, say.how, this.how);
  limit = h("div", { class: "ag-field" }, say.by, h("span", {}, this.readouts, this.seconds, this.by));
  element = h("div", { class: "ag-engine" }, h("h2", {}, say.engineTitle), h("label", { class: "ag-field" }, say.network, this.network),
    this.chooses, this.limit);

  wishes() {
    const bySeconds = this.by.value === "seconds";
    return {
      network: this.network.value,
      tree: this.how.value === "tree",
      seconds: bySeconds ? Number(this.seconds.value) || USUAL.seconds : null,
      readouts: bySeconds ? null : Math.round(Number(this.readouts.value)) || USUAL.readouts,
    };
  }

  clear() {
    const { game } = this.app.known;
    this.network.replaceChildren(...game.networks.map((name) => h("option", { value: name }, name === "playouts" ? say.playouts : name)));
    this.readouts.max = game.mostReadouts;
  }

  draw() {
    const { strength } = this.app.state;
    this.network.value = strength.network;
    this.how.value = strength.tree ? "tree" : "net";
    this.by.value = strength.seconds ? "seconds" : "readouts";
    this.chooses.hidden = strength.network === "playouts";
    this.limit.hidden = !strength.tree;
    this.readouts.hidden = this.by.value === "seconds";
    this.seconds.hidden = !this.readouts.hidden;
    this.readouts.value = strength.readouts || USUAL.readouts;
    this.seconds.value = strength.seconds || USUAL.seconds;
  }
}

/** What the colours, numbers and marks of a study mean. @param {GameView} game */
function legendOf(game) {
  const [steps, unit] = game.ownership ? [POINT_STEPS, legend.points] : [RATE_STEPS, "%"];
  const range = LOSSES.map((colour, i) => h("li", {}, dot(colour), fill(steps[i] ? legend.upTo : legend.more, steps[i] || steps[i - 1], unit)));
  const owners = game.sides.map((side, i) => h("li", {}, swatch(s("rect", { x: 4, y: 4, width: 12, height: 12, fill: INKS[i], stroke: INKS[1 - i],
    "stroke-width": 1.5 })), fill(legend.becomes, side)));
  return h("div", {}, h("p", {}, legend.discs), h("ul", {}, range),
    h("p", {}, legend.numbers), h("p", {}, legend.line),
    h("ul", {}, game.territory && owners,
    game.mark && h("li", {}, `□ ${game.mark}`), h("li", {}, legend.last), h("li", {}, legend.better)), h("p", {}, fill(legend.graph, game.sides[0])));
}
