// What the server sends, as alphago/ui/web/wire.py describes it; types only, for the checker.

/**
 * A move of an analysis, from the mover's view; what is not known is null.
 * @typedef {object} MoveView
 * @property {number} move its action
 * @property {number} visits simulations through it
 * @property {number} prior what the network alone gives it, 0 .. 1
 * @property {number | null} win chance to win, 0 .. 1
 * @property {number | null} score margin in points
 * @property {number[]} line the actions that are expected, this one first
 */

/**
 * What a search has found about a position; scores and ownership are null if the network does not forecast them.
 * @typedef {object} AnalysisView
 * @property {number} mover who is to play, 1 or -1
 * @property {number} visits simulations, the position's own evaluation included
 * @property {number} win Black's chance to win, 0 .. 1
 * @property {number | null} score Black's margin in points
 * @property {MoveView[]} moves the best first
 * @property {number[] | null} ownership for each point, 100 if it becomes Black's for sure, -100 for White's
 */

/**
 * A node of the tree of variations.
 * @typedef {object} NodeView
 * @property {number} node its number
 * @property {number} parent its parent's number, -1 for the root
 * @property {number} move the action between them, -1 for the root
 * @property {number} mover who played it, 1 or -1; 0 for the root
 */

/**
 * What is known of a node.
 * @typedef {object} EvaluationView
 * @property {number} node
 * @property {number | null} win Black's chance to win
 * @property {number | null} score Black's margin in points
 */

/**
 * How a game ended.
 * @typedef {object} ResultView
 * @property {string} text a phrase
 * @property {number} winner 1, -1 or 0 for a draw
 * @property {string} short such as "B+R" or "draw"
 */

/**
 * The count of a game that ended by two passes.
 * @typedef {object} CountView
 * @property {string} text such as "B 41 + 0, W 33 + 7.5: B+0.5"
 * @property {[number, number]} points Black's and White's
 * @property {[number, number]} bonuses Black's and White's
 * @property {string} owners "X" for Black's points, "O" for White's, "." for neither's, by cell
 * @property {number[]} dead the cells of dead stones
 */

/**
 * What a person may choose for a new game, see alphago/env/game_options.py.
 * @typedef {object} OptionView
 * @property {string} name
 * @property {string} title
 * @property {any} value a number or a text
 * @property {string[]} choices
 * @property {number | null} least
 * @property {number | null} most
 * @property {number} step
 * @property {Record<string, number>} usual
 * @property {string} follows
 * @property {boolean} at_start
 */

/**
 * A game that can be chosen.
 * @typedef {object} OfferView
 * @property {string} name
 * @property {string} title
 * @property {[string, string]} sides
 * @property {OptionView[]} options
 */

/**
 * A game and its board, see alphago/env/board_view.py.
 * @typedef {object} GameView
 * @property {string} name
 * @property {string} title
 * @property {[string, string]} sides
 * @property {OptionView[]} options
 * @property {string[]} names of the actions
 * @property {number | null} pass
 * @property {boolean} ownership whether its points may have owners
 * @property {string[]} levels what is known of each level of strength, from 1 to 10
 * @property {string[]} networks to choose from
 * @property {number} mostReadouts
 * @property {"lines" | "squares" | "holes" | "houses" | "text"} surface
 * @property {[number, number]} size
 * @property {number} margin
 * @property {[number, number][]} cells
 * @property {[number[][], number[][]]} places
 * @property {[number, number, number, number][]} lines
 * @property {[number, number, string][]} labels
 * @property {number[]} stars
 * @property {[number, number, number, number][]} stores
 * @property {number} stone
 * @property {number} reach
 * @property {string[]} columns
 * @property {string[]} rows
 * @property {[string, string] | null} colours
 * @property {string} ground
 * @property {string} mark
 * @property {string} pass_hint
 */

/**
 * A position; what a board does not have is left out.
 * @typedef {object} PositionView
 * @property {number} toPlay
 * @property {number[]} legal
 * @property {boolean} over
 * @property {number} moves how many
 * @property {number | null} last the cell of the last move
 * @property {number[]} ko
 * @property {string} [stones] "X" of the first player, "O" of the second, "." for none, by cell
 * @property {number[]} [seeds] by cell
 * @property {string} [drawing] the position in letters
 * @property {[number, number]} [captures]
 */

/**
 * The first question about a run.
 * @typedef {object} HeadlineView
 * @property {string} strength the latest result against its hardest opponent; "" before any match
 * @property {string} progress how far it is
 * @property {number} share of its games or its time, 0 .. 1
 */

/**
 * A run that is watched.
 * @typedef {object} RunView
 * @property {string} name
 * @property {HeadlineView} [headline]
 * @property {string} colour of its curves
 * @property {Record<string, string>} facts
 * @property {string[]} diagnosis
 * @property {string} [error] why it cannot be read
 * @property {boolean} [over]
 */

/**
 * What is watched of the runs.
 * @typedef {object} OverviewView
 * @property {RunView[]} runs
 * @property {string} x the x axis
 * @property {string[]} axes to choose from
 * @property {string[]} panels their curves, as SVG, those that matter most first
 */

/**
 * How the engine chooses its moves.
 * @typedef {object} StrengthView
 * @property {string} network
 * @property {number | null} readouts
 * @property {number | null} seconds
 * @property {boolean} tree whether it searches
 * @property {number | "even" | null} level from 1 to 10, instead of the readouts; null for full strength
 */

/**
 * What every page is told first.
 * @typedef {object} WelcomeMessage
 * @property {"welcome"} type
 * @property {OfferView[]} games
 * @property {string[]} runs their names
 * @property {string} key of the page's board, to get it back
 * @property {boolean} resumed whether the board is the one of the key that the page sent
 */

/**
 * @typedef {object} GameMessage
 * @property {"game"} type
 * @property {GameView} game
 * @property {[string, string]} names of the players
 */

/**
 * What may have changed.
 * @typedef {object} StateMessage
 * @property {"state"} type
 * @property {number} node the one on the board
 * @property {number[]} line the nodes of the current line
 * @property {PositionView} view
 * @property {boolean} over
 * @property {ResultView | null} result
 * @property {CountView | null} count null unless the stones are counted
 * @property {NodeView[]} added nodes that the page has not been told of
 * @property {EvaluationView[]} evaluations of these nodes
 * @property {string[]} players Black's, White's: "human" or "engine"
 * @property {StrengthView} strength
 * @property {string} opponent what the level "even" takes the person to be; "" for nothing
 * @property {number | null} teach points from which on a person's bad move is explained; null for never
 * @property {boolean} lesson whether the engine waits after such a move, for "undo" or "move"
 * @property {boolean} study
 * @property {boolean} analysing
 * @property {"move" | "analyse" | "review" | "count" | ""} busy
 * @property {AnalysisView | null} analysis
 * @property {string} comment
 * @property {string} link restores the position
 */

/**
 * What a search has found so far.
 * @typedef {object} ThinkingMessage
 * @property {"thinking"} type
 * @property {number} node
 * @property {"move" | "analyse" | "review" | "count"} purpose
 * @property {number} readouts
 * @property {number | null} limit
 * @property {number} rate readouts a second
 * @property {AnalysisView} analysis
 * @property {EvaluationView} evaluation
 * @property {number} left positions that are to be searched after this one
 */

/**
 * The moves of the current line that lost most.
 * @typedef {object} TurnsMessage
 * @property {"turns"} type
 * @property {string} text sentences, one a line
 */

/**
 * A sentence to show.
 * @typedef {object} NoticeMessage
 * @property {"notice"} type
 * @property {"hint" | "error" | "refused"} kind
 * @property {string} text
 */

/**
 * A text for the status line; "" for its usual one.
 * @typedef {object} StatusMessage
 * @property {"status"} type
 * @property {string} text
 */

/**
 * A file to save.
 * @typedef {object} FileMessage
 * @property {"file"} type
 * @property {string} name
 * @property {string} text
 */

/**
 * Why a move is good or bad, the answer to `{type: "why", move}`; without a move, of the one that led to the board.
 * @typedef {object} WhyMessage
 * @property {"why"} type
 * @property {number} node the position before the move
 * @property {number} move
 * @property {number} best the best move there
 * @property {number | null} points what the move loses against it, for its player
 * @property {number} rate the same in win rate, 0 .. 1
 * @property {string[]} sentences the facts, in order
 */

/** @typedef {WelcomeMessage | GameMessage | StateMessage | ThinkingMessage | NoticeMessage | StatusMessage | FileMessage | WhyMessage | TurnsMessage} Message */

/**
 * Whatever carries the messages.
 * @typedef {object} Connection
 * @property {(message: object) => void} send a command of alphago/ui/web/page_commands.py
 * @property {(callback: (message: Message) => void) => void | (() => void)} listen
 */

/**
 * Colours of the two sides, in messages and styles; their names are the game's.
 * @type {Record<number, string>}
 */
export const COLOURS = { 1: "black", "-1": "white" };
