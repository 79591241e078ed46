// The keys of the page.

import { ROWS } from "./candidates.js";
import { openDialog } from "./game_dialog.js";

export const FAR = 4000; // plies, more than any game has

/** @type {Record<string, [number, number]>} */
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

/**
 * What each key does, letters in lower case. Keys may come faster than answers, so steps are counted.
 * @type {Record<string, (app: App) => void>}
 */
const KEYS = {
  ArrowLeft: (app) => app.send("step", { count: -1 }), ArrowRight: (app) => app.send("step", { count: 1 }),
  Home: (app) => app.send("step", { count: -FAR }), End: (app) => app.send("step", { count: FAR }),
  ArrowUp: (app) => app.send("variation", { direction: -1 }), ArrowDown: (app) => app.send("variation", { direction: 1 }),
  " ": (app) => { app.menuOpen = false; app.send("toggle", { what: "study" }); }, a: (app) => app.send("toggle", { what: "analysing" }),
  Escape: (app) => (app.menuOpen ? app.choose("menu") : app.stop()),
  m: (app) => app.send("move"), p: (app) => app.play(app.desk.tree.view.pass),
  u: (app) => app.send("undo"), y: (app) => app.send("redo"), n: openDialog,
  o: (app) => app.flip("ownership"), k: (app) => app.flip("numbers"), d: (app) => app.setMode(),
  "/": (app) => app.type(), Enter: (app) => app.board.playCursor(), r: (app) => app.review(),
  s: (app) => app.send("save"), l: (app) => app.copyLink(), w: (app) => app.why(), "[": (app) => app.mistake(-1), "]": (app) => app.mistake(1),
};
for (let row = 0; row < ROWS; row += 1) KEYS[row + 1] = (app) => app.showLine(row);

/** Do what a key asks for, unless it is meant for a field, a button or the browser. @param {App} app @param {any} event */
export function obeyKey(app, event) {
  const inField = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName || "") || app.dialog.open;
  if (inField || event.ctrlKey || event.metaKey || event.altKey || !app.desk.tree || app.root.hidden) return;
  const onButton = event.target.tagName === "BUTTON" || event.target.tagName === "SUMMARY";
  if (onButton && (event.key === " " || event.key === "Enter")) return;
  if (event.key.length === 1 && event.key !== " " && !app.look.letters) return;
  const arrow = ARROWS[event.key];
  const action = KEYS[event.key.length === 1 ? event.key.toLowerCase() : event.key];
  if (event.shiftKey && arrow) app.board.moveCursor(...arrow);
  else if (action) action(app);
  else return;
  event.preventDefault();
}
