// A game as a file: for Go, SGF with variations; for other games, JSON with a link (alphago/ui/web/saved.py).

import { linkOf } from "./file_games.js";

/** @typedef {import("./file_games.js").BegunGame} BegunGame */

const LETTERS = "abcdefghijklmnopqrstuvwxy";

/**
 * @param {BegunGame} game
 * @param {string[]} names of the players
 * @param {string} result in short; "" if the game goes on
 */
export function saveFile(game, names, result) {
  if (game.view.name === "go") return { name: "game.sgf", text: sgf(game, names, result) };
  return { name: `${game.view.name}.json`, text: `${JSON.stringify({ format: "alphago-game", link: linkOf(game) }, null, 2)}\n` };
}

/**
 * @param {BegunGame} game
 * @param {string[]} names
 * @param {string} result
 */
function sgf({ options, view, tree }, names, result) {
  const size = options.board_size;
  const at = (/** @type {number} */ point) => (point === view.pass ? "" : LETTERS[point % size] + LETTERS[Math.floor(point / size)]);
  const rules = view.options.find(({ name }) => name === "rules")?.value;
  const stones = (options.handicap || []).map((/** @type {number} */ point) => `[${at(point)}]`).join("");
  const head = `;FF[4]CA[UTF-8]GM[1]AP[alphago]SZ[${size}]RU[${rules}]KM[${options.komi}]PB[${names[0]}]PW[${names[1]}]`
    + `${result ? `RE[${result === "draw" ? "0" : result}]` : ""}${stones ? `HA[${options.handicap.length}]AB${stones}PL[W]` : ""}`;
  /** @type {(number: number) => string} */
  const write = (number) => {
    let text = "";
    for (let here = number; ;) { // lines are long, variations are not
      const { move, mover, children } = tree.nodes[here];
      text += here ? `;${mover > 0 ? "B" : "W"}[${at(move)}]` : head;
      if (children.length !== 1) return text + children.map((child) => `(${write(child)})`).join("");
      [here] = children;
    }
  };
  return `(${write(0)})\n`;
}
