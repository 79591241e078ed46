// What one needs once: another game, files, the engine, settings, the keys.

import { box, button } from "./icons.js";
import { click } from "./effects.js";
import { EngineSettings } from "./engine_settings.js";
import { h } from "./elements.js";
import { legendOf } from "./legend.js";
import { buttons, fill, say } from "./words.js";

export class Menu {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.engine = new EngineSettings(app);
    this.file = h("input", { type: "file", accept: ".sgf,.json,text/plain", hidden: true, "data-name": "file",
      onchange: () => { app.read(this.file.files[0]); this.file.value = ""; } });
    const sound = box("sound", (checked) => { app.look.sound = checked; if (checked) click(); });
    this.typed = h("input", { type: "text", size: 5, "data-name": "typed", autocomplete: "off",
      onkeydown: (/** @type {KeyboardEvent} */ { key }) => { if (key === "Enter") this.playTyped(); else if (key === "Escape") this.typed.blur(); } });
    const { take } = app.options;
    this.take = take && button("take", () => take(app.state.strength.network, app.state.link));
    this.open = button("open", () => this.file.click());
    this.save = button("save", () => app.send("save"));
    this.legend = h("details", { class: "ag-legend", "data-name": "legend" });
    this.element = h("section", { class: "ag-menu", hidden: true, "aria-label": buttons.menu[0] },
      h("div", {}, h("h2", {}, say.game), h("div", { class: "ag-row" }, button("new", () => app.dialog.open(), "ag-main"),
        this.open, this.save, button("link", () => app.copyLink()), this.take, this.file)),
      this.engine.element,
      h("div", {}, h("h2", {}, say.settings), h("label", { class: "ag-field" }, say.typed, this.typed), sound),
      this.legend, h("details", { class: "ag-legend" }, h("summary", {}, say.keys), h("dl", { class: "ag-keys" }, keysOf([...Object.values(buttons).map(([, title = ""]) => title), ...say.keyList]))));
  }

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
