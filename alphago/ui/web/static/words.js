// Every text of the page, in one place so that others can translate it; `fill` puts values for {0}, {1}, ...

/**
 * A text with its values.
 * @param {string} text
 * @param {...(string | number)} values
 */
export const fill = (text, ...values) => text.replace(/\{(\d)\}/g, (_, at) => String(values[at]));

export const say = {
  board: "the board",
  connecting: "Connecting …",
  setting: "Setting up the board …",
  lost: "The connection is lost; trying again …",
  silent: "The server does not answer; trying again …",
  tooLarge: "A file must have at most 900 kB.",
  copied: "The link is in the clipboard.",

  // the three states of the column, and what is done in a game
  play: "Play", study: "Study", menu: "Menu", watch: "Watch",
  playTitle: "play, without numbers (Space)", studyTitle: "numbers on the board, graph and moves (Space)",
  menuTitle: "new game, files, engine, settings",
  pass: "Pass", undo: "Undo", redo: "Redo", resign: "Resign", now: "Now", stop: "Stop",
  passTitle: "pass (P)", undoTitle: "take back (U)", redoTitle: "play again what was taken back (Y)",
  resignTitle: "give the game up", nowTitle: "let the engine move now, for either side (M)", stopTitle: "stop thinking (Escape)",
  first: "first position (Home)", back: "a move back (←)", on: "a move on (→)", last: "last position (End)",
  you: "you", engine: "engine",
  who: "who plays {0}",
  captured: "{0} captured", time: "time used", onBoard: "{0} stones",

  // the status line
  move: "Move {0}: {1} to play",
  yours: "your move", engines: "the engine's move",
  thinking: "thinking …",
  readoutsSoFar: "{0} readouts", readoutsOf: "{0} of {1} readouts",
  rate: "{0}/s",
  left: "{0} positions left",
  ends: "{0}.",
  wins: "{0} wins with {1} %", chance: "{0} {1} %",
  visitsHere: "{0} visits", netAlone: "network alone",
  unknown: "This position was not evaluated yet.",
  played: "{0} plays {1}.",
  cursor: "{0}, {1}",
  free: "free", taken: "stone of {0}", barred: "not allowed",

  // hints of the first games
  hints: [
    "Click or tap where you want to play; the engine answers.",
    "Undo takes a move back. Study shows what the engine thinks.",
    "Menu has other games, other boards, files, and all keys.",
  ],
  gotIt: "Got it", close: "close",

  // the engine
  engineTitle: "Engine", opponent: "Opponent",
  strengths: ["Beginner", "Casual player", "Keen player", "Club player", "Strong", "Full strength"],
  even: "as strong as I am", evenTitle: "the engine follows your strength during the game",
  teach: "explain my mistakes", teachTitle: "a move that loses two points or more is explained, and may be taken back",
  takeBack: "Take it back", goOn: "Go on",
  network: "Network", playouts: "random playouts",
  how: "Chooses by", tree: "network and tree", net: "network alone", by: "Limit of a move",
  readouts: "readouts", seconds: "seconds", readoutsTitle: "simulations for each move", secondsTitle: "seconds for each move",

  // the end of a game
  countingStones: "Looking for dead stones …", clickDead: "Faded stones are dead. A click on a group changes it.",
  allAlive: "All alive", sum: "{0} {1} + {2} = {3}",
  again: "Play again", exchanged: "Swap colours", studyGame: "Study it",
  decided: "What decided it", counting: "Looking for the moves that decided it …",
  moment: "{0} {1} {2}  {3} {4}",

  // study
  analyse: "Analyse", analyseTitle: "think about every position that is shown (A)",
  review: "Review", reviewTitle: "evaluate every position of this line (R)",
  why: "Why?", whyTitle: "why the last move is good or bad (W)",
  numbersTitle: "numbers on the points (D)",
  ownership: "owners", ownershipTitle: "small squares: whose each point becomes (O)",
  moveNumbers: "move numbers", moveNumbersTitle: "the number of each stone's move (K)",
  /** @type {Record<string, string>} */
  modes: { loss: "show loss", visits: "show visits", prior: "show prior", q: "show Q", sum: "show Q + prior", none: "no numbers" },
  columns: { move: "move", win: "{0} %", points: "lead", visits: "visits", prior: "prior %" },
  candidates: "moves that the engine considers",
  graph: "win rate and score by move",
  moves: "Moves", treeTitle: "tree of variations",
  start: "start",
  mistakes: "Mistakes", previousMistake: "previous mistake ([)", nextMistake: "next mistake (])",
  per: "{0} {1}", each: "mean loss: {0}",

  // menu
  newGame: "New game", newTitle: "another game, its options, your colour (N)",
  open: "Open", openTitle: "open an SGF file, or drop one on the board",
  save: "Save", saveTitle: "save the game as a file, with variations and analysis (S)",
  link: "Copy link", linkTitle: "a link that restores this position (L)",
  take: "Share network", takeTitle: "a file that plays in any browser, offline",
  game: "Game and files", settings: "Settings",
  sound: "a sound at each move",
  typed: "Type a move",
  gameWord: "Game", youPlay: "You play", begin: "Begin", cancel: "Cancel", both: "both sides", neither: "neither: engine against engine",
  legend: "What the colours and numbers mean", keys: "Keys",
  /** @type {[string, string][]} */
  keyList: [["← →", "a move back or on"], ["Home End", "first, last position"], ["↑ ↓", "other variations"], ["Space", "play or study"],
    ["A Esc", "analyse, stop"], ["R", "review"], ["[ ]", "previous, next mistake"], ["W", "why, of the last move"], ["M", "the engine moves"], ["P", "pass"],
    ["U Y", "undo, redo"], ["N", "new game"], ["D", "other numbers"], ["O K", "owners, move numbers"], ["1 – 6", "line of a listed move"],
    ["S L", "save, copy link"], ["/", "type a move"], ["Shift ← → ↑ ↓", "cursor on the board"], ["Enter", "play at the cursor"]],
};

/** What the colours, numbers and marks mean. */
export const legend = {
  discs: "A coloured disc is a move that was tried, a small one with few visits; the ring marks the best. Colours tell what "
    + "a move loses against it:",
  upTo: "up to {0} {1}",
  more: "more than {0} {1}",
  points: "points",
  numbers: "Numbers: points lost against the best move (else % of the chance to win) above visits; prior, what the network alone "
    + "gives a move, in %; Q, the mean value for the side to move, −1 to 1. A small board has the losses only.",
  line: "Point at a move, by mouse, a long touch, the cursor or the keys 1 to 6, to see the expected line.",
  becomes: "becomes {0}'s",
  last: "● on a stone: the last move", better: "dashed ring: better than the last move",
  graph: "Bar, table and graph: {0}'s chance to win, in the graph 100 % on top; dashed: the lead in points. A click goes there.",
};

/** The page of runs. */
export const runs = {
  axis: "x axis", title: "Training", games: "Latest games", none: "none yet", details: "All figures", curves: "All curves",
  fine: "Nothing is wrong so far.", empty: "No iteration is over yet: curves come with the first.",
  untested: "No match yet.", done: "{0} % done",
};
