// Every text of the page, so that it can be read in another language: replace this table.

import { margin, percent, short } from "./elements.js";

export const say = {
  board: "the board",
  connecting: "Connecting …",
  setting: "Setting up the board …",
  lost: "The connection to the server is lost; trying again …",
  silent: "The server does not answer; trying again …",
  tooLarge: "A file must have at most 900 kB.",
  copied: "The link is in the clipboard.",

  // the three states of the column, and what is done in a game
  play: "Play", study: "Study", menu: "Menu", watch: "Watch",
  playTitle: "play, without numbers (Space)", studyTitle: "numbers on the board, graph and moves (Space)",
  menuTitle: "new game, files, engine, settings",
  pass: "Pass", undo: "Undo", redo: "Redo", resign: "Resign", now: "Move now", stop: "Stop",
  passTitle: "pass (P)", undoTitle: "take back (U)", redoTitle: "play again what was taken back (Y)",
  resignTitle: "give the game up", nowTitle: "let the engine move now, for either side (M)", stopTitle: "stop thinking (Escape)",
  first: "first position (Home)", back: "a move back (←)", on: "a move on (→)", last: "last position (End)",
  you: "you", engine: "engine",
  who: (/** @type {string} */ side) => `who plays ${side}`,
  captured: (/** @type {number} */ count) => `${count} captured`,

  // the status line
  move: (/** @type {number} */ number, /** @type {string} */ side) => `Move ${number}: ${side} to play`,
  yours: "your move", engines: "the engine's move",
  thinking: "thinking …",
  readoutsOf: (/** @type {number} */ done, /** @type {number | null} */ limit) => `${short(done)}${limit ? ` of ${short(limit)}` : ""} readouts`,
  rate: (/** @type {number} */ rate) => `${short(rate)}/s`,
  left: (/** @type {number} */ count) => `${count} positions left`,
  ends: (/** @type {string} */ text) => `${text}.`,
  wins: (/** @type {string} */ side, /** @type {number} */ share, digits = 0) => `${side} wins with ${percent(share, digits)} %`,
  expected: (/** @type {number} */ score) => `expected ${margin(score)}`,
  visitsHere: (/** @type {number} */ count) => `${short(count)} visits`,
  unknown: "This position was not evaluated yet.",
  played: (/** @type {string} */ side, /** @type {string} */ move) => `${side} plays ${move}.`,
  cursor: (/** @type {string} */ move, /** @type {string} */ what) => `${move}, ${what}`,
  free: "free", taken: (/** @type {string} */ side) => `stone of ${side}`, barred: "not allowed",

  // hints of the first games
  hints: [
    "Click or tap where you want to play; the engine answers.",
    "Undo takes a move back. Study shows what the engine thinks of every move.",
    "Menu has other games, other boards, files, and all keys.",
  ],
  gotIt: "Got it",

  // the engine
  engineTitle: "Engine", opponent: "Opponent",
  /** @type {Record<string, string>} */
  rungs: { quick: "at a glance", light: "light", usual: "usual", strong: "strong", strongest: "strongest" },
 network: "Network", playouts: "random playouts",
  how: "Chooses by", tree: "network and tree", net: "network alone", by: "Limit of a move",
  readouts: "readouts", seconds: "seconds", readoutsTitle: "simulations for each move", secondsTitle: "seconds for each move",
  own: "own settings",

  // the end of a game
  countingStones: "Looking for dead stones …", clickDead: "Click a group that is dead, or dead no more.",
  allAlive: "Count all stones as alive",
  again: "Play again", exchanged: "Change colours", studyGame: "Study it",
  decided: "What decided it", counting: "Looking for the moves that decided it …",
  moment: (/** @type {number} */ number, /** @type {string} */ side, /** @type {string} */ move, /** @type {string} */ loss) => `${number} ${side} ${move}  ${loss}`,

  // study
  analyse: "Analyse", analyseTitle: "think about every position that is shown (A)",
  review: "Review", reviewTitle: "evaluate every position of this line (R)",
  why: "Why?", whyTitle: "why the last move is good or bad (W)",
  better: (/** @type {string} */ move, /** @type {string} */ best) => (move === best ? move : `${move}, better ${best}`),
  numbers: "Numbers", numbersTitle: "numbers on the points (D)",
  ownership: "owners", ownershipTitle: "small squares: whose each point becomes (O)",
  moveNumbers: "move numbers", moveNumbersTitle: "the number of each stone's move (K)",
  /** @type {Record<string, string>} */
  modes: { loss: "difference", visits: "visits", prior: "prior", q: "Q, mean value", sum: "Q + prior", none: "none" },
  columns: { move: "move", win: "win", points: "points", visits: "visits", prior: "prior" },
  candidates: "moves that the engine considers",
  graph: "win rate and score by move",
  moves: "Moves", treeTitle: "tree of variations",
  start: "start",
  mistakes: "Mistakes", previousMistake: "previous mistake ([)", nextMistake: "next mistake (])",
  per: (/** @type {string} */ side, /** @type {string} */ loss) => `${side} ${loss} a move`,

  // menu
  newGame: "New game", newTitle: "another game, its options, your colour (N)",
  open: "Open", openTitle: "open an SGF file, or drop one on the board",
  save: "Save", saveTitle: "save the game as a file, with variations and analysis (S)",
  link: "Copy link", linkTitle: "a link that restores this position (L)",
  game: "Game and files", settings: "Settings",
  sound: "sound", soundTitle: "a sound at each move",
  typed: "Type a move", typedTitle: "type a move, such as D4, and Enter (/)",
  gameWord: "Game", youPlay: "You play", begin: "Begin", cancel: "Cancel", both: "both sides", neither: "neither: engine against engine",
  legend: "What the colours and numbers mean", keys: "Keys",
  /** @type {[string, string][]} */
  keyList: [["← →", "a move back or on"], ["Home End", "first, last position"], ["↑ ↓", "other variations"], ["Space", "play or study"],
    ["A Esc", "analyse, stop"], ["R", "review"], ["[ ]", "previous, next mistake"], ["W", "why, of the last move"], ["M", "the engine moves"], ["P", "pass"],
    ["U Y", "undo, redo"], ["N", "new game"], ["D", "other numbers"], ["O K", "owners, move numbers"], ["1 – 6", "line of a listed move"],
    ["S L", "save, copy link"], ["/", "type a move"], ["Shift ← → ↑ ↓", "cursor on the board"], ["Enter", "play at the cursor"]],
};

/** What the colours, numbers and marks mean; {first} and {second} stand for the sides. */
export const legend = {
  discs: "A coloured disc is a move that the engine has tried; the ring is around the best one. A faint disc has few visits. Its "
    + "colour is what the move gives away against the best:",
  upTo: (/** @type {number} */ step, /** @type {string} */ unit) => `up to ${step} ${unit}`,
  more: (/** @type {number} */ step, /** @type {string} */ unit) => `more than ${step} ${unit}`,
  points: "points",
  rates: (/** @type {string} */ steps) => `where no score is known, the chance to win, in steps of ${steps} %.`,
  numbers: "Numbers are in the view of the side to move: the difference from the best move in points (else in % of the chance to "
    + "win) with the visits below it; visits, simulations through the move; prior, what the network alone gives it, in %; Q, the "
    + "mean value of its simulations, −1 to 1.",
  line: "Point at a move to see the line that is expected: with the mouse, a finger that stays on it, the cursor, or the keys 1 to 6.",
  becomes: (/** @type {string} */ side) => `becomes ${side}'s`,
  surer: "a larger square is surer",
  last: "● on a stone: the last move",
  graph: (/** @type {string} */ first) => `Graph: the line is ${first}'s chance to win, 100 % on top; the dashed line is ${first}'s lead in `
    + `points. Click it to go there. Chances and leads are always ${first}'s, whoever is to move.`,
};

/** The page of runs. */
export const runs = {
  axis: "x axis", title: "Training", games: "Latest games", none: "none yet", details: "All figures", curves: "All curves",
  fine: "Nothing is wrong so far.", empty: "No iteration is over yet: curves come with the first.",
  untested: "No match yet.", done: (/** @type {number} */ share) => `${percent(share)} % done`,
};
