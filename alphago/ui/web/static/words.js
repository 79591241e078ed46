// Every text of the page, in one place so that others can translate it; `fill` puts values for {0}, {1}, ...

/** A text with its values. @param {string} text @param {...(string | number)} values */
export const fill = (text, ...values) => text.replace(/\{(\d)\}/g, (_, at) => String(values[at]));

export const say = {
  board: "the board",
  connecting: "Connecting …",
  lost: "The connection is lost; trying again …",
  silent: "The server does not answer; trying again …",
  tooLarge: "A file must have at most 900 kB.",
  copied: "The link is in the clipboard.",

  watch: "Watch",
  you: "you", engine: "engine",
  who: "who plays {0}",
  captured: "{0} captured", used: "{0} used", onBoard: "{0} stones",

  // the status line
  move: "Move {0}: {1} to play",
  yours: "your move", engines: "the engine's move",
  thinking: "thinking …", begins: "getting ready; the first time takes some seconds …", pause: "Pause",
  readoutsSoFar: "{0} visits", readoutsOf: "{0}/{1} visits",
  rate: "{0}/s", timeLeft: "{0} left", unclear: "Unclear: ",
  left: "{0} positions left",
  ends: "{0}.",
  wins: "{0} wins with {1} %", chance: "{0} {1} %",
  netAlone: "before reading",
  unknown: "This position was not evaluated yet.", few: "{0} visits: too few to judge",
  played: "{0} plays {1}.",
  cursor: "{0}, {1}",
  free: "free", taken: "stone of {0}", barred: "not allowed",

  // hints of the first games
  hints: [
    "Click or tap the board to play; the engine answers.",
    "Undo takes a move back. Study shows what the engine thinks.",
    "Menu has other games, other boards, files, and all keys.",
  ],
  close: "close",

  // the engine
  engineTitle: "Engine", opponent: "Opponent",
  strengths: ["Beginner", "Casual player", "Keen player", "Club player", "Strong", "Full strength"],
  whyOf: "Move {0}, {1} {2}", better: "; better: {0}",
  network: "Network", playouts: "random playouts",
  how: "Plays", tree: "after reading ahead", net: "its first idea", by: "Reads for each move",
  readouts: "visits", seconds: "seconds", readoutsTitle: "visits for each move", secondsTitle: "seconds for each move",

  // the end of a game
  countingStones: "Looking for dead stones …", clickDead: "Faded stones are dead. Click or tap a group to change whether it lives.",
  sum: "{0} {1} + {2} = {3}",
  decided: "Biggest mistakes", quick: "Mistakes by a quick look; Study reads more", counting: "Looking for mistakes …",
  about: "about ", moment: "{0} {1} {2} {3} → {4} {5}\u00a0%",

  // study
  numbersTitle: "numbers on the points (D)",
  /** @type {Record<string, string>} */
  modes: { loss: "show loss", visits: "show visits", prior: "show policy", q: "show Q", sum: "show Q + policy", none: "no numbers" },
  columns: { move: "move", win: "{0} %", score: "lead", visits: "visits", prior: "policy %" },
  candidates: "moves that the engine considers",
  graph: "win rate and score by move", winKey: "— {0} wins", leadKey: " ┄ lead", barKey: " mistakes",
  moves: "Moves", treeTitle: "tree of variations",
  start: "start",
  mistakes: "Mistakes",
  per: "{0} {1}", each: "average loss: {0}",

  // menu
  file: "file",
  game: "Game and files", settings: "Keyboard and sound",
  typed: "Type a move, then Enter",
  gameWord: "Game", youPlay: "You play", both: "both sides", neither: "neither: engine against engine",
  legend: "What the colours and numbers mean", keys: "Keys",
  keyList: ["other variations (↑ ↓)", "other numbers (D)", "line of a listed move (1 – 6)", "type a move (/)", "cursor on the board (Shift ← → ↑ ↓)",
    "play at the cursor (Enter)"],
};

/**
 * What buttons and boxes say, by name: a word, and what it does, with its key in brackets.
 * @type {Record<string, [string, string?]>}
 */
export const buttons = {
  play: ["Play", "play, without numbers (Space)"], study: ["Study", "numbers on the board, graph and moves (Space)"],
  menu: ["Menu", "new game, files, engine, settings"],
  pass: ["Pass", "pass (P)"], undo: ["Undo", "take back (U)"], redo: ["Redo", "play again what was taken back (Y)"],
  resign: ["Resign", "give the game up"], move: ["Move now", "the engine plays its best move so far (M)"], stop: ["Stop", "stop thinking, without a move (Escape)"],
  first: ["", "first position (Home)"], back: ["", "a move back (←)"], on: ["", "a move on (→)"], last: ["", "last position (End)"],
  hint: ["Got it"], even: ["match my strength", "the engine follows your strength during the game"],
  teach: ["explain my mistakes", "a move that loses two points or more is explained, and may be taken back"],
  "lesson-undo": ["Take it back"], "lesson-move": ["Go on"],
  again: ["Play again"], exchanged: ["Swap colours"], "study-game": ["Study it"], "all-alive": ["All alive"],
  analyse: ["Analyse", "think about every position that is shown (A)"], review: ["Review game", "evaluate every position of this line (R)"],
  shows: ["", "what the board shows"], why: ["Why?", "why the last move is good or bad (W)"],
  ownership: ["territory", "small squares: whose each point becomes, where that is likely (O)"], numbers: ["move numbers", "the number of each stone's move (K)"],
  previous: ["‹", "previous mistake ([)"], next: ["›", "next mistake (])"],
  new: ["New game", "another game, its options, your colour (N)"], open: ["Open {0}", "open a saved game, or drop its file on the board"],
  save: ["Save {0}", "save the game as a file, with variations and analysis (S)"], link: ["Copy link", "a link that restores this position (L)"],
  take: ["Share as a page", "one file with this engine, which plays in any browser, offline"], sound: ["a sound at each move"],
  letters: ["keys of one letter", "off, so that words that are spoken or typed by chance do nothing"],
  begin: ["Begin"], cancel: ["Cancel"],
};

/** What the colours, numbers and marks mean. */
export const legend = {
  discs: "A coloured disc is a move that was tried; the ring marks the best. Its colour tells its loss against that:",
  upTo: "up to {0} {1}",
  more: "more than {0} {1}",
  points: "points",
  numbers: "Numbers: points lost against the best move (else % of the chance to win) above visits; policy, the network's first "
    + "idea of a move, in %; Q, the mean value for the side to move, −1 to 1. A small board has the losses only. "
    + "≈: about, by few visits.",
  held: "as good as the best, by fewer visits",
  line: "Point at a move, by mouse, a long touch, the cursor or the keys 1 to 6, to see the expected line.",
  becomes: "becomes {0}'s",
  last: "● on a stone: the last move", better: "dashed ring: what was better than the last move",
  graph: "Bar, table and graph: {0}'s chance to win, in the graph 100 % on top; dashed: the lead in points; bars: mistakes; faint: changed "
    + "by reading on. A click goes there. Unclear: by chance and lead, two forecasts, different sides are ahead.",
};

/** The page of runs; pairs: of a run that goes on, and of one that is over. */
export const runs = {
  axis: "x axis", title: "Training", games: "Latest games", none: ["none yet", "none were kept"], details: "All figures", curves: "All curves",
  fine: ["Nothing is wrong so far.", "Nothing was wrong."], empty: "No iteration is over yet: curves come with the first.",
  untested: ["No match yet.", "No match was played."], done: "{0} % done",
};
