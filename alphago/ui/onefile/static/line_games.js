// Gomoku and Connect Four: a line of stones wins (alphago/env/kernels/gomoku.py, connect_four.py).

import { BoardGame } from "./position.js";

/** @typedef {import("./position.js").Position} Position */

class LineGame extends BoardGame {
  /**
   * @param {number} height
   * @param {number} width
   * @param {number} connect stones in a line that win
   * @param {number} [actions]
   */
  constructor(height, width, connect, actions = height * width) {
    super(height, width);
    this.connect = connect;
    this.actions = actions;
    this.margin = 0;
  }

  /**
   * @param {number} action
   * @returns {number}
   */
  landing(action) {
    return action;
  }

  legal() {
    return Uint8Array.from({ length: this.actions }, (_, action) => Number(!this.over && !this.board[action]));
  }

  /** @param {number} action */
  play(action) {
    const point = this.landing(action);
    this.board[point] = this.toPlay;
    this.lastCell = point;
    if (this.longestLine(point, this.toPlay) >= this.connect) {
      this.margin = this.toPlay;
      this.over = true;
    } else this.over = this.ply + 1 === this.board.length;
    this.endTurn();
  }

  decisive() {
    return this.legal().findIndex((legal, action) => Boolean(legal)
      && this.longestLine(this.landing(action), this.toPlay) >= this.connect);
  }

  owners() {
    return null;
  }
}

export class ConnectFour extends LineGame {
  constructor() {
    super(6, 7, 4, 7);
  }

  /** @param {number} action */
  landing(action) {
    let point = (this.height - 1) * this.width + action;
    while (this.board[point]) point -= this.width;
    return point;
  }

  /** @param {Float32Array} out */
  planes(out) {
    this.stonePlanes(out);
  }
}

export class Gomoku extends LineGame {
  /** @param {{board_size: number, connect_row: number, planes: number}} options */
  constructor({ board_size: size, connect_row: connect, planes }) {
    super(size, size, connect);
    this.depth = (planes - 1) / 2;
    /** @type {number[]} the latest actions, the newest first */
    this.latest = [];
  }

  /** @param {number} action */
  play(action) {
    super.play(action);
    this.latest = [action, ...this.latest.slice(0, this.depth - 2)];
  }

  /**
   * For each of `depth` boards, the newest first, the mover's stones and the other side's; then whether Black moves.
   * @param {Float32Array} out
   */
  planes(out) {
    const points = this.board.length;
    for (let age = 0; age < this.depth; age += 1) this.stonePlanes(out, 2 * age * points);
    this.latest.slice(0, this.depth - 1).forEach((action, back) => {
      for (let age = back + 1; age < this.depth; age += 1) out[(2 * age + 1 - (back % 2)) * points + action] = 0;
    });
    out.fill(this.toPlay > 0 ? 1 : 0, 2 * this.depth * points, (2 * this.depth + 1) * points);
  }
}
