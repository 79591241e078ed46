// The keys of the page.

import { ROWS } from "./study.js";

/** @typedef {import("./board.js").Board} Board */

export const FAR = 4000; // plies, more than any game has

/** @type {Record<string, [number, number]>} */
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

/**
 * What each key does, letters in lower case. Keys may come faster than answers: what they ask for is counted from where
 * the board then is.
 * @type {Record<string, (board: Board) => void>}
 */
const KEYS = {
  ArrowLeft: (board) => board.step(-1), ArrowRight: (board) => board.step(1),
  Home: (board) => board.step(-FAR), End: (board) => board.step(FAR),
  ArrowUp: (board) => board.sibling(-1), ArrowDown: (board) => board.sibling(1),
  " ": (board) => board.toggle("study"), a: (board) => board.toggle("analysing"), Escape: (board) => board.stop(),
  m: (board) => board.send("move"), p: (board) => board.play(board.game.pass),
  u: (board) => board.send("undo"), y: (board) => board.send("redo"), n: (board) => board.dialog.open(),
  o: (board) => board.flip("ownership"), k: (board) => board.flip("numbers"), d: (board) => board.study.nextMode(),
  "/": (board) => board.panel.typed.focus(), Enter: (board) => board.playCursor(), r: (board) => board.review(),
  s: (board) => board.send("save"), l: (board) => board.copyLink(),
};
for (let row = 0; row < ROWS; row += 1) KEYS[row + 1] = (board) => board.showLine(row);

/**
 * Do what a key asks for, unless it is meant for something else.
 * @param {Board} board
 * @param {any} event
 */
export function obeyKey(board, event) {
  const inField = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName || "") || board.dialog.element.open;
  if (inField || event.ctrlKey || event.metaKey || event.altKey || !board.state) return;
  if (board.options.isShown && !board.options.isShown()) return;
  const onButton = event.target.tagName === "BUTTON" || event.target.tagName === "SUMMARY";
  if (onButton && (event.key === " " || event.key === "Enter")) return;
  const arrow = ARROWS[event.key];
  const action = KEYS[event.key.length === 1 ? event.key.toLowerCase() : event.key];
  if (event.shiftKey && arrow) board.moveCursor(...arrow);
  else if (action) action(board);
  else return;
  event.preventDefault();
}
