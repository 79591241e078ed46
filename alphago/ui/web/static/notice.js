// A sentence that is shown for a while.

import { h } from "./elements.js";
import { say } from "./words.js";

const SHOWN = 12000; // milliseconds

export class Notice {
  constructor() {
    this.timer = 0;
    this.text = h("span", {});
    this.element = h("p", { class: "ag-notice", role: "alert", hidden: true }, this.text,
      h("button", { "aria-label": say.close, onclick: () => this.hide() }, "×"));
  }

  /** @param {string} text @param {string} kind */
  say(text, kind) {
    this.text.textContent = text;
    this.element.dataset.kind = kind;
    this.element.hidden = false;
    clearTimeout(this.timer);
    if (kind !== "refused") this.timer = setTimeout(() => this.hide(), SHOWN);
  }

  /** @param {string} [kind] of the sentences to hide; all without it */
  hide(kind) {
    if (!kind || this.element.dataset.kind === kind) this.element.hidden = true;
  }
}
