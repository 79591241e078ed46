// The games that a file can carry.

import { Go } from "./go.js";
import { ConnectFour, Gomoku } from "./line_games.js";
import { Oware } from "./oware.js";
import { Reversi } from "./reversi.js";

/** @typedef {import("./position.js").Position} Position */

/** @type {Record<string, new (options: any) => Position>} */
const GAMES = { go: Go, gomoku: Gomoku, "connect-four": ConnectFour, reversi: Reversi, oware: Oware };

/**
 * The position before the first move.
 * @param {string} game
 * @param {object} options of the game, and in Go the points of a handicap
 */
export const startOf = (game, options) => new GAMES[game](options);
