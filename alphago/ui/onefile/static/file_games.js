// The games that a file offers: boards as alphago/ui/onefile/page.py describes them, options that are chosen, links.

/** @typedef {GameView & {shape: [number, number]}} OwnView also the shape of a plane */

/**
 * A game on one board.
 * @typedef {object} BoardFacts
 * @property {OwnView} view
 * @property {Record<string, any>} options of the rules
 * @property {Record<string, number[]>} handicaps the points of Black's stones, by their number
 * @property {import("./even_level.js").MeasuredLevel[]} levels from the weakest on
 * @property {number} resign the value below which the engine gives up a game with these options; -1 for never
 */

/**
 * @typedef {object} GameFacts
 * @property {string} game
 * @property {BoardFacts[]} boards the usual one first
 * @property {Record<string, Record<string, any>>} rules options of the rules that have a name together
 */

/**
 * A game that is begun.
 * @typedef {object} BegunGame
 * @property {OwnView} view
 * @property {Record<string, any>} options of its rules, and the points of a handicap
 * @property {number} handicap
 * @property {import("./even_level.js").MeasuredLevel[]} levels
 * @property {number} resign as of the board; -1 with other options or a handicap, for which it was not measured
 */

/**
 * @param {OptionView} option
 * @param {any} given a number or a text
 */
function read({ name, value, choices, least, most, step }, given) {
  if (choices.length) {
    if (!choices.includes(String(given))) throw new Error(`${name} must be one of ${choices.join(", ")}, got ${given}`);
    return given;
  }
  const number = Number(given);
  if (typeof value !== "number") return given;
  const fits = Number.isInteger(number / step) && (least === null || number >= least) && (most === null || number <= most);
  if (!fits) throw new Error(`${name} must be ${least} to ${most} in steps of ${step}, got ${given}`);
  return number;
}

/**
 * Begin a game; what is left out, null or "" is usual.
 * @param {GameFacts} facts
 * @param {Record<string, any>} wishes by the options' names
 * @returns {BegunGame}
 */
export function beginGame(facts, wishes) {
  const given = Object.fromEntries(Object.entries(wishes).filter(([, value]) => (value ?? "") !== ""));
  const size = given.board_size ?? facts.boards[0].options.board_size;
  const board = facts.boards.find((one) => one.options.board_size === (size && Number(size)));
  if (!board) throw new Error(`this network plays on no board of size ${size}`);
  for (const { name, also } of board.view.options) if (Number(given[name])) Object.assign(given, { ...also, ...given });
  const options = { ...board.options };
  let handicap = 0;
  const shown = board.view.options.map((option) => {
    if (!(option.name in given)) return option;
    const value = read(option, given[option.name]);
    if (option.at_start) {
      handicap = value;
      return option;
    }
    if (option.name === "rules") Object.assign(options, facts.rules[value]);
    else options[option.name] = option.choices.includes("yes") ? value === "yes" : value;
    return { ...option, value };
  });
  if (handicap) options.handicap = board.handicaps[handicap];
  if (handicap && !options.handicap) {
    throw new Error(`a handicap must be one of 0, ${Object.keys(board.handicaps).join(", ")} on this board, got ${handicap}`);
  }
  const resign = JSON.stringify(options) === JSON.stringify(board.options) ? board.resign : -1;
  return { view: { ...board.view, options: shown }, options, handicap, levels: board.levels, resign };
}

/**
 * The names of points, row by row.
 * @param {GameView} view
 * @param {number[]} points
 */
const stonesOf = (view, points) => [...points].sort((one, other) => one - other).map((point) => view.names[point]).join(" ");

/**
 * The part of a link that names a game.
 * @param {BegunGame} game
 */
export function linkHead({ view, options, handicap }) {
  /** @type {Record<string, any>} */
  const fields = { game: view.name };
  for (const { name, value, at_start: atStart } of view.options) if (!atStart) fields[name] = value;
  if (handicap) Object.assign(fields, { black: stonesOf(view, options.handicap), to_play: "white" });
  return String(new URLSearchParams(fields));
}

/**
 * What a link asks for: wishes as `beginGame` takes them, and moves.
 * @param {GameFacts} facts
 * @param {string} link
 */
export function readLink(facts, link) {
  const { game, moves = "", black = "", white = "", to_play: mover, ...wishes } = Object.fromEntries(new URLSearchParams(link.replace(/^#/, "")));
  if (game !== facts.game) throw new Error(`a link must be of ${facts.game}, the game of this file, got ${game}`);
  const all = black ? { ...wishes, handicap: black.split(" ").length } : wishes;
  const begun = beginGame(facts, all);
  if (white || (black && black !== stonesOf(begun.view, begun.options.handicap)) || Boolean(black) !== (mover === "white")) {
    throw new Error("stones before the game must be those of a handicap");
  }
  return { wishes: all, words: moves ? moves.split(".") : [] };
}

/**
 * A legal move as an action.
 * @param {GameView} view
 * @param {import("./position.js").Position} position
 * @param {string} word
 */
export function checkedMove({ names, title }, position, word) {
  const action = names.includes(word) ? names.indexOf(word) : names.findIndex((name) => name.toUpperCase() === word.trim().toUpperCase());
  if (action < 0) throw new Error(`'${word}' is no move of ${title}`);
  if (position.over) throw new Error("the game is over");
  if (!position.legal()[action]) throw new Error(`illegal move ${names[action]}: it is not allowed here`);
  return action;
}
