// What is done in a game: pass, undo, resign; and steps through it.

import { h } from "./elements.js";
import { button } from "./icons.js";
import { FAR } from "./keys.js";

/** The bar of buttons. @param {App} app */
export function actionBar(app) {
  const { desk: { jobs, tree, tree: { over, position, view: { pass } } } } = app;
  /** @type {(name: string, count: number, disabled: boolean) => any} */
  const step = (name, count, disabled) => button(name, () => app.send("step", { count }), { disabled });
  const isFirst = tree.current === 0;
  const isLast = !tree.nextOf(tree.node);
  const barred = jobs.busy === "move" || !position.legal.includes(pass ?? -1); // a click is told why
  return h("div.ag-actions",
    h("div.ag-steps", step("first", -FAR, isFirst), step("back", -1, isFirst), step("on", 1, isLast), step("last", FAR, isLast)),
    h("div.ag-verbs",
      button("pass", () => app.play(pass), { hidden: pass === null, disabled: over, "aria-disabled": String(barred) }),
      button("undo", () => app.send("undo"), { disabled: isFirst && !over }),
      button("redo", () => app.send("redo"), { disabled: isLast }),
      button("resign", () => app.send("resign"), { disabled: over })));
}
