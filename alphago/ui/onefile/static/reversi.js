// Reversi: a move must enclose enemy stones, which change colour (alphago/env/kernels/reversi.py).

import { BoardGame } from "./position.js";

const DIRECTIONS = [[-1, -1], [-1, 0], [-1, 1], [0, -1], [0, 1], [1, -1], [1, 0], [1, 1]];

export class Reversi extends BoardGame {
  /** @param {{board_size: number}} options */
  constructor({ board_size: size }) {
    super(size, size);
    this.margin = 0;
    const low = (size / 2 - 1) * (size + 1);
    this.board[low] = this.board[low + size + 1] = -1;
    this.board[low + 1] = this.board[low + size] = 1;
  }

  /**
   * How many enemy stones a stone on a point would enclose in one direction.
   * @param {number} point
   * @param {number} mover
   * @param {number[]} direction
   */
  enclosed(point, mover, [down, right]) {
    const count = this.along(point, -mover, down, right);
    const row = Math.floor(point / this.width) + (count + 1) * down;
    const column = (point % this.width) + (count + 1) * right;
    const inside = row >= 0 && row < this.height && column >= 0 && column < this.width;
    return inside && this.board[row * this.width + column] === mover ? count : 0;
  }

  /**
   * @param {number} point
   * @param {number} mover
   */
  allowed(point, mover) {
    return !this.board[point] && DIRECTIONS.some((direction) => this.enclosed(point, mover, direction) > 0);
  }

  /** @param {number} mover */
  canMove(mover) {
    return this.board.some((_, point) => this.allowed(point, mover));
  }

  legal() {
    const legal = new Uint8Array(this.board.length + 1);
    if (this.over) return legal;
    legal.set(this.board.map((_, point) => Number(this.allowed(point, this.toPlay))));
    if (!legal.includes(1)) legal[this.board.length] = 1;
    return legal;
  }

  /** @param {number} action */
  play(action) {
    const mover = this.toPlay;
    this.lastCell = null;
    if (action < this.board.length) {
      const counts = DIRECTIONS.map((direction) => this.enclosed(action, mover, direction));
      DIRECTIONS.forEach(([down, right], i) => {
        for (let step = 1; step <= counts[i]; step += 1) this.board[action + step * (down * this.width + right)] = mover;
      });
      this.board[action] = mover;
      this.lastCell = action;
      this.margin += mover * (2 * counts.reduce((sum, count) => sum + count, 0) + 1);
      this.over = !this.canMove(mover) && !this.canMove(-mover);
    }
    this.endTurn();
  }

  /**
   * The stones of the mover and of the other side, and the points where each may place a stone.
   * @param {Float32Array} out
   */
  planes(out) {
    const points = this.board.length;
    this.stonePlanes(out);
    for (let point = 0; point < points; point += 1) {
      out[2 * points + point] = this.allowed(point, this.toPlay) ? 1 : 0;
      out[3 * points + point] = this.allowed(point, -this.toPlay) ? 1 : 0;
    }
  }
}
