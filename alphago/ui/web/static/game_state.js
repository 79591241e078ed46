// What the page knows of the game: its tree of variations, the position that is shown, and what the engine found.

import { lossesOf } from "./losses.js";

export class GameState {
  /** @type {GameView} */
  game = /** @type {any} */ (null); // until the first message that has one, as `state`
  names = ["", ""];
  /** @type {Knot[]} */
  nodes = []; // the desk's
  /** @type {StateMessage} */
  state = /** @type {any} */ (null);
  /** @type {ThinkingMessage | null} */
  thought = null; // the latest message of the search
  spent = [0, 0]; // milliseconds that each side has thought
  since = 0; // when the side that is to move began
  ready = false; // whether the engine has found anything on this page

  /** @param {GameMessage} message */
  setGame({ game, names, nodes }) {
    this.game = game;
    this.names = names;
    this.nodes = nodes;
    this.spent = [0, 0];
    this.state = /** @type {any} */ (null);
    this.thought = null;
  }

  /** @param {StateMessage} message */
  setState(message) {
    if (this.state?.node !== message.node) {
      if (this.state?.view.moves === message.view.moves - 1) this.spent = [0, 1].map((side) => this.timeOf(side));
      this.since = Date.now();
    }
    this.state = message;
    if (!message.busy) this.thought = null;
  }

  /** @param {number} side 0 or 1; returns milliseconds that it has thought, in this game and on this page */
  timeOf(side) {
    const { view, over, study } = this.state;
    return this.spent[side] + (!over && !study && view.toPlay === [1, -1][side] ? Date.now() - this.since : 0);
  }

  /** @param {ThinkingMessage} message */
  setThought(message) {
    this.thought = message;
    this.ready = true;
    if (message.node === this.state.node) this.state.analysis = message.analysis;
  }

  /** @param {number} player */
  side(player) {
    return this.game.sides[player > 0 ? 0 : 1];
  }

  // The nodes that lead to one, which is on the board if none is given, without the root.
  path(to = this.state.node) {
    const path = [];
    for (let node = this.nodes[to]; node && node.parent >= 0; node = this.nodes[node.parent]) path.unshift(node);
    return path;
  }

  // The nodes of the current line, the root included.
  line() {
    return this.state.line.map((number) => this.nodes[number]);
  }

  // The analysis to show, in which a move that was played loses what the list of moves says.
  analysis() {
    const { study, over, analysis, node } = this.state;
    if (!study || over || !analysis) return null;
    const [best] = analysis.moves;
    const here = this.nodes[node];
    const losses = here.children.flatMap((child) => lossesOf([here, this.nodes[child]]));
    return { ...analysis, moves: analysis.moves.map((move) => {
      const loss = losses.find((one) => one.move === move.move);
      if (!loss || move === best || move.win === null || best.win === null) return move;
      return { ...move, win: best.win - loss.win, score: loss.points === null || best.score === null ? null : best.score - loss.points };
    }) };
  }
}
