// What one needs once: another game, files, the engine, settings, the keys.

import { button } from "./icons.js";
import { click } from "./effects.js";
import { EngineSettings } from "./engine_settings.js";
import { h } from "./elements.js";
import { legendOf } from "./legend.js";
import { legend, say } from "./words.js";

export class Menu {
  /** @param {import("./app.js").App} app */
  constructor(app) {
    this.app = app;
    this.engine = new EngineSettings(app);
    this.file = h("input", { type: "file", accept: ".sgf,.json,text/plain", hidden: true, "data-name": "file",
      onchange: () => { app.read(this.file.files[0]); this.file.value = ""; } });
    const sound = h("input", { type: "checkbox", "data-name": "sound",
      onchange: () => { app.look.sound = sound.checked; if (sound.checked) click(); } });
    this.typed = h("input", { type: "text", size: 5, "data-name": "typed", autocomplete: "off",
      onkeydown: (/** @type {KeyboardEvent} */ event) => { if (event.key === "Enter") this.playTyped(); else if (event.key === "Escape") this.typed.blur(); } });
    const start = button("new", say.newGame, say.newTitle, () => app.dialog.open());
    start.classList.add("ag-main");
    const { take } = app.options;
    this.take = take && button("take", say.take, say.takeTitle, () => take(app.state.strength.network, app.state.link));
    this.legend = h("details", { class: "ag-legend", "data-name": "legend" });
    this.element = h("section", { class: "ag-menu", hidden: true, "aria-label": say.menu },
      h("div", {}, h("h2", {}, say.game), h("div", { class: "ag-row" }, start,
        button("open", say.open, say.openTitle, () => this.file.click()),
        button("save", say.save, say.saveTitle, () => app.send("save")),
        button("link", say.link, say.linkTitle, () => app.copyLink()), this.take, this.file)),
      this.engine.element,
      h("div", {}, h("h2", {}, say.settings), h("label", { class: "ag-check" }, sound, say.sound),
        h("label", { class: "ag-field" }, say.typed, this.typed)),
      this.legend, h("details", { class: "ag-legend" }, h("summary", {}, say.keys), h("dl", { class: "ag-keys" }, say.keyList.map(([key, text]) => h("div", {}, h("dt", {}, key), h("dd", {}, text))))));
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
    this.engine.clear();
    this.legend.replaceChildren(h("summary", {}, say.legend), legendOf(this.app.known.game, legend));
  }

  draw() {
    this.engine.draw();
    if (this.take) this.take.hidden = this.app.state.strength.network === "playouts";
  }
}
