// A game of Go as an SGF file with variations (alphago/ui/web/game_files.py).

/** @typedef {import("./file_games.js").BegunGame} BegunGame */

const LETTERS = "abcdefghijklmnopqrstuvwxy";

/**
 * A game of Go as SGF.
 * @param {BegunGame} game
 * @param {NodeRecord[]} nodes
 * @param {string[]} names of the players
 * @param {string} result in short; "" if the game goes on
 */
export function sgf({ options, view }, nodes, names, result) {
  const size = options.board_size;
  const at = (/** @type {number} */ point) => (point === view.pass ? "" : LETTERS[point % size] + LETTERS[Math.floor(point / size)]);
  const rules = view.options.find(({ name }) => name === "rules")?.value;
  const stones = (options.handicap || []).map((/** @type {number} */ point) => `[${at(point)}]`).join("");
  const [black, white] = names.map((name) => name.replace(/[\]\\]/g, "\\$&"));
  const head = `;FF[4]CA[UTF-8]GM[1]AP[alphago]SZ[${size}]RU[${rules}]KM[${options.komi}]PB[${black}]PW[${white}]`
    + `${result ? `RE[${result === "draw" ? "0" : result}]` : ""}${stones ? `HA[${options.handicap.length}]AB${stones}PL[W]` : ""}`;
  const children = nodes.map(() => /** @type {number[]} */ ([]));
  nodes.forEach(({ parent }, node) => children[parent]?.push(node));
  /** @type {(number: number) => string} */
  const write = (number) => {
    let text = "";
    for (let here = number; ;) { // lines are long, variations are not
      const { move = "", mover = 0 } = nodes[here];
      text += here ? `;${mover > 0 ? "B" : "W"}[${at(view.names.indexOf(move))}]` : head;
      if (children[here].length !== 1) return text + children[here].map((child) => `(${write(child)})`).join("");
      [here] = children[here];
    }
  };
  return `(${write(0)})\n`;
}
