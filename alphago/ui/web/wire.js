// What the desk tells and what is asked of an engine, for the checker of the scripts, to which all of this is known everywhere; the page loads it nowhere.

/**
 * A move of an analysis, from the mover's view; what is not known is null.
 * @typedef {{move: number, visits: number, prior: number, win: number | null, score: number | null, line: number[]}} MoveView
 */

/**
 * What a search has found about a position; scores and ownership are null if the network does not forecast them, chances too if they are
 * means of too few random games.
 * @typedef {{mover: number, visits: number, win: number | null, score: number | null, mean: [number, number | null] | null, moves: MoveView[], ownership: number[] | null}} AnalysisView
 */

/**
 * How a game ended.
 * @typedef {{text: string, winner: number, short: string}} ResultView
 */

/**
 * The count of a game that ended by two passes.
 * @typedef {{points: [number, number], bonuses: [number, number], owners: string, dead: number[]}} CountView
 */

/**
 * What a person may choose for a new game, see alphago/env/game_options.py.
 * @typedef {{name: string, title: string, value: any, choices: string[], least: number | null, most: number | null, step: number, common: number[], usual:
 *   Record<string, number>, follows: string, also: Record<string, number>, at_start: boolean}} OptionView
 */

/**
 * A game that can be chosen.
 * @typedef {{name: string, title: string, sides: [string, string], options: OptionView[]}} OfferView
 */

/**
 * A game and its board, see alphago/env/board_view.py. `levels`: what is known of each level of strength; left out where there are
 * none, nor explanations.
 * @typedef {{name: string, title: string, sides: [string, string], options: OptionView[], names: string[], pass: number | null, ownership:
 *   boolean, territory: boolean, sgf: boolean, levels?: string[], networks: string[], usual: string, mostReadouts: number, skips: boolean, surface: "lines" | "squares" | "holes" | "houses" | "text", size:
 *   [number, number], margin: number, cells: [number, number][], places: [number[][], number[][]], lines: [number, number, number, number][], edges: [number, number, number, number][][],
 *   labels: [number, number, string][], stars: number[], stores: [number, number, number, number][], stone: number, reach: number, colours: [string, string] | null, ground: string, mark: string, pass_hint: string}} GameView
 */

/**
 * A position; what a board does not have is left out. By cell are the `last` move, `stones` ("X" the first player's, "O" the second's,
 * "." none) and `seeds`; `drawing` is the position in letters.
 * @typedef {{toPlay: number, legal: number[], over: boolean, moves: number, last: number | null, ko: number[], stones?: string, seeds?: number[],
 *   drawing?: string, captures?: [number, number]}} PositionView
 */

/**
 * The first question about a run.
 * @typedef {{strength: string, progress: string, share: number}} HeadlineView
 */

/**
 * A run that is watched.
 * @typedef {{name: string, headline?: HeadlineView, colour: string, facts: Record<string, string>, diagnosis: string[], games: string[],
 *   error?: string, over?: boolean}} RunView
 */

/**
 * What is watched of the runs.
 * @typedef {{runs: RunView[], x: string, axes: string[], panels: string[]}} OverviewView
 */

/**
 * How the engine chooses its moves: with the network of this name; within readouts, or seconds, or both; whether it searches, or plays the
 * network's most probable move; at which level, null for full strength.
 * @typedef {{network: string, readouts: number | null, seconds: number | null, tree: boolean, level: number | "even" | null}} StrengthView
 */

/**
 * What is asked, see alphago/ui/web/page_actions.py and answers.py.
 * @typedef {Record<string, any>} Query
 */

/**
 * What carries queries: a WebSocket, a notebook's channel, a file's own engine.
 * @typedef {{send: (query: Query) => void}} Carrier
 */

/**
 * What the board shows at a node, how its game ended, and its count.
 * @typedef {{view: PositionView, result: ResultView | null, count: CountView | null}} BoardAnswer
 */

/**
 * A node of a game that is opened, kept or saved; what is left out is usual. `inFile`: its number in the file.
 * @typedef {{parent: number, move?: string, mover?: number, win?: number | null, score?: number | null, visits?: number, comment?: string,
 *   loser?: number, inFile?: number, dead?: number[] | null}} NodeRecord
 */

/**
 * A game to put on the board. `game`: what names it in queries; `link`: to its first position; `end`: the node to show; `file`: the text of
 * the file that it is from; `stated`, `fileLoser`: the result that the file states.
 * @typedef {{view: GameView, game: any, link: string, names: [string, string], nodes: NodeRecord[], end?: number, file?: string, stated?:
 *   string, fileLoser?: number, remarks?: string[]}} Opened
 */

/**
 * A game as it is kept for a reload. `here`: the link of the position that was on the board.
 * @typedef {Omit<Opened, "view"> & {players: string[], strength: StrengthView, teach: number | null, study: boolean, here: string, result:
 *   string}} Kept
 */

/**
 * A reply of KataGo's analysis protocol, in Black's view. `play`: the move that was chosen, or "resign"; `opponent`: how strong the level
 * "even" takes the person to be.
 * @typedef {{id?: number, isDuringSearch: boolean, searched: number, moveInfos: {move: string, visits: number, winrate: number, scoreLead?:
 *   number, prior: number, pv: string[]}[], rootInfo: {visits: number, winrate: number, scoreLead?: number, currentPlayer: string}, policy:
 *   number[], ownership?: number[] | null, play?: string, opponent?: string}} SearchReply
 */

/**
 * A sentence to show.
 * @typedef {{type: "notice", kind: "hint" | "error", text: string}} NoticeMessage
 */

/**
 * A file to save.
 * @typedef {{type: "file", name: string, text: string}} FileMessage
 */

/** @typedef {{type: "state"} | {type: "thinking"} | NoticeMessage | FileMessage} Message what the desk tells: also that it is other than before, and that a search has found more */

/**
 * Why a move is good or bad. `node`: before the move; `best`: what was better, or the move itself; `points`, `rate`: what it lost.
 * @typedef {{node: number, move: number, best: number, points: number | null, rate: number, sentences: string[]}} Explanation
 */

/** @typedef {import("./static/desk.js").Desk} Desk */

/** @typedef {import("./static/app.js").App} App what each part of the page is given */

/**
 * What an app is told. `widget`: whether it is a part of another page, where it has only the keys that are typed in it; `onLink` is told
 * the link of the position; `take` takes a network along as a file; `beside` makes what stands beside the names of the column's states.
 * @typedef {{widget?: boolean, onLink?: (link: string) => void, take?: (network: string, link: string) => void, beside?: (desk: Desk) => HTMLElement | false}} Options
 */

/**
 * What the board tells: an action was clicked; the pointer or cursor is on another; a cell was clicked in a count.
 * @typedef {{play: (action: number) => void, hover?: (action: number | null) => void, toggle?: (cell: number) => void}} BoardListener
 */

/**
 * A node of the tree of variations. `chosen`: the child that was looked at last; `shown`: what the board shows there, null as long as it was
 * not asked; `dead`: stones of a count, null before; `loser`: who resigned; `visits`: of the search that found `win` and `score`.
 * @typedef {{node: number, parent: number, move: number, mover: number, children: number[], chosen: number, shown: BoardAnswer | null, dead:
 *   number[] | null, loser: number, comment: string, inFile: number, analysis: AnalysisView | null, win: number | null, score: number | null,
 *   visits: number}} Knot
 */

/**
 * A move that was played, and what it gave away: chance to win, 0 .. 1, and points, null if none are known; `rough`: by few visits;
 * `before`, `after`: Black's chance, and after the move Black's lead too.
 * @typedef {{node: number, number: number, mover: number, move: number, win: number,
 *   points: number | null, rough?: boolean, before: number, after: [number, number | null]}} Loss
 */

/** @typedef {[number, number]} Point of a graph's line: a number of moves, and Black's chance to win or lead */

/**
 * What the board shows: a position; `open`: whether a click may play, true without it; an analysis, drawn over the pieces; `path`: the
 * moves that led to the position, to number the stones; `better`: an action that was better than the last move; `mode`:
 * which numbers the discs have, a key of `say.modes`; `ownership`: whether owners are drawn; the count of a finished game, with which a click tells `toggle` of a stone.
 * @typedef {{view: PositionView, open?: boolean, analysis?: AnalysisView | null,
 *   path?: {move: number, mover: number}[], better?: number | null, mode?: string, ownership?: boolean, count?: CountView | null}} Scene
 */
