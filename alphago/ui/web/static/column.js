// Beside the board: the game, who plays, what goes on, and one of three panes: play, study, menu.

import { h, same } from "./elements.js";
import { button } from "./icons.js";
import { FAR } from "./keys.js";
import { menuPane } from "./menu.js";
import { playPane } from "./play_pane.js";
import { playersOf } from "./players.js";
import { reasonsOf } from "./reasons.js";
import { statusLine } from "./status_line.js";
import { studyPane } from "./study.js";
import { say } from "./words.js";

/** The parts of the column. @param {App} app @param {boolean} all also what does not change while the engine thinks */
export function column(app, all) {
  const { desk, desk: { tree }, notice, options, pane } = app;
  const comment = tree?.node.comment;
  /** @param {"play" | "study" | "menu"} name */
  const tab = (name) => button(name, () => app.choose(name), { "aria-pressed": String(name === pane) });
  /** A part that is drawn only if `all`; else it stays as it is. @param {(app: App) => any} part @param {string} [where] the pane that it is */
  const keep = (part, where = pane) => (all && where === pane ? part(app) : same());
  return [
    h("div.ag-bar", h("div.ag-tabs", { role: "group" }, tab("play"), tab("study"), options.beside?.(desk), tab("menu")),
      h("div.ag-title", h(`${options.widget ? "h2" : "h1"}.ag-game`, tree?.view.title), h("p.ag-small#about", tree && aboutOf(tree.view)))),
    tree ? playersOf(app) : h("div"), statusLine(app),
    h("p.ag-notice", { role: "alert", hidden: !notice, "data-kind": notice?.kind }, h("span", notice?.text),
      h("button", { "aria-label": say.close, onclick: () => app.notify() }, "×")),
    h("p.ag-comment#comment", { hidden: !comment }, comment),
    ...(tree ? [h("div.ag-pane", keep(reasonsOf), keep(playPane, "play"), pane === "study" ? studyPane(app, all) : same(), keep(menuPane, "menu")),
      keep(actionBar)] : []),
  ];
}

/** The game's options in a few words; those that its title names already, or that need a sentence, are left out. @param {GameView} game */
const aboutOf = ({ options }) => options
  .filter(({ at_start: atStart, title, value }) => !atStart && value !== "" && !/ |^(size|height|width)$/i.test(title))
  .map(({ title, value, choices }) => (choices.length ? `${value} ${title.toLowerCase()}` : `${title.toLowerCase()} ${value}`)).join(" · ");

/** What is done in a game: pass, undo, resign; and steps through it. @param {App} app */
function actionBar(app) {
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
