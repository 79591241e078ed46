// What the server sends, as alphago/ui/web/wire.py describes it; types only, for the checker.

/**
 * A move of an analysis, from the mover's view; what is not known is null.
 * @typedef {object} MoveView
 * @property {number} move
 * @property {number} visits
 * @property {number} prior
 * @property {number | null} win
 * @property {number | null} score
 * @property {number[]} line
 */

/**
 * What a search has found about a position; scores and ownership are null if the network does not forecast them.
 * @typedef {object} AnalysisView
 * @property {number} mover
 * @property {number} visits
 * @property {number} win
 * @property {number | null} score
 * @property {MoveView[]} moves
 * @property {number[] | null} ownership
 */

/**
 * A node of the tree of variations.
 * @typedef {object} NodeView
 * @property {number} node
 * @property {number} parent
 * @property {number} move
 * @property {number} mover
 */

/**
 * What is known of a node.
 * @typedef {object} EvaluationView
 * @property {number} node
 * @property {number | null} win
 * @property {number | null} score
 */

/**
 * How a game ended.
 * @typedef {object} ResultView
 * @property {string} text
 * @property {number} winner
 * @property {string} short
 */

/**
 * The count of a game that ended by two passes.
 * @typedef {object} CountView
 * @property {string} text
 * @property {[number, number]} points
 * @property {[number, number]} bonuses
 * @property {string} owners
 * @property {number[]} dead
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
 * @property {Record<string, number>} also
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
 * @property {string[]} names
 * @property {number | null} pass
 * @property {boolean} ownership
 * @property {string[]} [levels] what is known of each level of strength; left out where there are none, nor explanations
 * @property {string[]} networks
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
 * @property {string} strength
 * @property {string} progress
 * @property {number} share
 */

/**
 * A run that is watched.
 * @typedef {object} RunView
 * @property {string} name
 * @property {HeadlineView} [headline]
 * @property {string} colour
 * @property {Record<string, string>} facts
 * @property {string[]} diagnosis
 * @property {string} [error]
 * @property {boolean} [over]
 */

/**
 * What is watched of the runs.
 * @typedef {object} OverviewView
 * @property {RunView[]} runs
 * @property {string} x
 * @property {string[]} axes
 * @property {string[]} panels
 */

/**
 * How the engine chooses its moves, see alphago/ui/web/limits.py.
 * @typedef {object} StrengthView
 * @property {string} network
 * @property {number | null} readouts
 * @property {number | null} seconds
 * @property {boolean} tree
 * @property {number | "even" | null} level
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
 * @property {number} node
 * @property {number[]} line
 * @property {PositionView} view
 * @property {boolean} over
 * @property {ResultView | null} result
 * @property {CountView | null} count
 * @property {NodeView[]} added
 * @property {EvaluationView[]} evaluations
 * @property {string[]} players
 * @property {StrengthView} strength
 * @property {string} opponent
 * @property {number | null} teach
 * @property {boolean} lesson
 * @property {boolean} study
 * @property {boolean} analysing
 * @property {"move" | "analyse" | "review" | "count" | ""} busy
 * @property {AnalysisView | null} analysis
 * @property {string} comment
 * @property {string} link
 */

/**
 * What a search has found so far.
 * @typedef {object} ThinkingMessage
 * @property {"thinking"} type
 * @property {number} node
 * @property {"move" | "analyse" | "review" | "count"} purpose
 * @property {number} readouts
 * @property {number | null} limit
 * @property {number} rate
 * @property {AnalysisView} analysis
 * @property {EvaluationView} evaluation
 * @property {number} left
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
 * @property {number} node
 * @property {number} move
 * @property {number} best
 * @property {number | null} points
 * @property {number} rate
 * @property {string[]} sentences
 */

/** @typedef {WelcomeMessage | GameMessage | StateMessage | ThinkingMessage | NoticeMessage | StatusMessage | FileMessage | WhyMessage} Message */

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
