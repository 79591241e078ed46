// What games share: a board of numbers (of stones 1 for Black, -1 for White, else 0), whose move it is, lines of stones.

/**
 * A position; `play` changes it. Actions and planes are the package's: see the game's file in alphago/env.
 * @typedef {object} Position
 * @property {number} toPlay 1 or -1
 * @property {number} ply
 * @property {boolean} over
 * @property {number} margin Black's, in points or as 1, 0 and -1, if the game ended here
 * @property {number | null} lastCell where the last move's piece is
 * @property {() => Uint8Array} legal which actions are legal; none once the game is over
 * @property {() => Uint8Array} sensible the legal actions that a weak player may choose, perhaps none
 * @property {() => Uint8Array} [neutral] the moves that take a point of neither side at no risk; no function for none
 * @property {(action: number) => void} play a legal action
 * @property {() => Position} copy
 * @property {(out: Float32Array) => void} planes what the network reads, [planes, height, width]
 * @property {() => number} decisive an action that wins at once, -1 if there is none or the game does not look for it
 * @property {() => Int8Array | null} owners who owns each point at the end, for the player to move
 * @property {() => Record<string, any>} content what is on the board, for the page
 */

/**
 * The outcome for the player to move if the game ended here.
 * @param {Position} position
 */
export const outcome = (position) => Math.sign(position.margin) * position.toPlay;

/**
 * Whether a pass, which must be legal, ends the game and wins it for the player to move.
 * @param {Position} position
 * @param {number} pass
 */
export function passWins(position, pass) {
  const after = position.copy();
  after.play(pass);
  return after.over && outcome(position) > 0;
}

export class BoardGame {
  /**
   * @param {number} height
   * @param {number} width
   */
  constructor(height, width) {
    this.height = height;
    this.width = width;
    this.board = new Int8Array(height * width);
    this.toPlay = 1;
    this.ply = 0;
    this.over = false;
    /** @type {number | null} */
    this.lastCell = null;
  }

  /** @returns {this} */
  copy() {
    const other = Object.assign(Object.create(Object.getPrototypeOf(this)), this);
    other.board = this.board.slice();
    return other;
  }

  /** @returns {Uint8Array} */
  sensible() {
    return this.legal();
  }

  /** @returns {Uint8Array} */
  legal() {
    throw new Error("a game must say which moves are legal");
  }

  // An action that wins at once, found by trying all.
  decisive() {
    return this.legal().findIndex((legal, action) => {
      if (!legal) return false;
      const after = /** @type {any} */ (this.copy());
      after.play(action);
      return after.over && after.margin * this.toPlay > 0;
    });
  }

  endTurn() {
    this.ply += 1;
    this.toPlay = -this.toPlay;
  }

  /** @returns {Record<string, any>} */
  content() {
    return { stones: Array.from(this.board, (stone) => (stone > 0 ? "X" : stone < 0 ? "O" : ".")).join("") };
  }

  /** @returns {Int8Array | null} */
  owners() {
    return this.board.map((stone) => stone * this.toPlay);
  }

  /**
   * Write the mover's stones and the other side's.
   * @param {Float32Array} out
   * @param {number} [at]
   */
  stonePlanes(out, at = 0) {
    const { board, toPlay } = this;
    for (let i = 0; i < board.length; i += 1) {
      out[at + i] = board[i] === toPlay ? 1 : 0;
      out[at + board.length + i] = board[i] === -toPlay ? 1 : 0;
    }
  }

  /**
   * The number of stones in the longest straight line through a stone of a colour at a point, which may be empty.
   * @param {number} point
   * @param {number} colour
   */
  longestLine(point, colour) {
    let longest = 1;
    for (const [down, right] of [[0, 1], [1, -1], [1, 0], [1, 1]]) {
      longest = Math.max(longest, 1 + this.along(point, colour, down, right) + this.along(point, colour, -down, -right));
    }
    return longest;
  }

  /**
   * The number of stones of a colour that follow a point in one direction.
   * @param {number} point
   * @param {number} colour
   * @param {number} down
   * @param {number} right
   */
  along(point, colour, down, right) {
    let [row, column, count] = [Math.floor(point / this.width) + down, (point % this.width) + right, 0];
    while (row >= 0 && row < this.height && column >= 0 && column < this.width
      && this.board[row * this.width + column] === colour) {
      count += 1;
      row += down;
      column += right;
    }
    return count;
  }
}
