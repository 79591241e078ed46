// What a server does for the page, done here: it answers the page's messages, as alphago/ui/web/desk.py and
// page_commands.py do, with a network in workers.

import { checkedMove, beginGame, linkOf, openLink } from "./file_games.js";
import { saveFile } from "./file_saving.js";
import { countOf, GoCount, shortResult } from "./go_count.js";
import { lessonOf, LESSON_READOUTS } from "./lesson.js";
import { outcome } from "./stones.js";

/** @typedef {import("./engine_worker.js").Found} Found */
/** @typedef {import("./engine.js").Engine} Engine */

/**
 * @typedef {object} Job
 * @property {"move" | "analyse" | "review" | "count" | "lesson"} purpose
 * @property {number[]} nodes that are to be searched, the first one now; of a lesson those before and after a move
 * @property {number} readouts
 * @property {number | null} seconds
 * @property {import("./level_choice.js").Level | null} level
 * @property {Found | null} found so far
 */

const [HUMAN, ENGINE, EVEN] = ["human", "engine", "even"];
const FIRST_LEVEL = 3; // of a page that is opened
const LEAST_VISITS = 50; // that a value needs
const MOST_READOUTS = 100000;
const TREE_BYTES = 128 * 1024 * 1024; // of the priors and owners in one tree

export class FileDesk {
  /**
   * @param {import("./file_games.js").GameFacts & {network: string}} facts
   * @param {(tell: (found: any) => void) => Engine} makeEngine
   */
  constructor(facts, makeEngine) {
    this.facts = facts;
    this.engine = makeEngine((found) => this.told(found));
    /** @type {((message: any) => void)[]} */
    this.listeners = [];
    this.game = beginGame(facts, {});
    this.players = [HUMAN, ENGINE];
    /** @type {StrengthView} */
    this.strength = { network: facts.network, readouts: 200, seconds: null, tree: true, level: FIRST_LEVEL };
    /** @type {import("./even_level.js").MeasuredLevel[] | null} */
    this.even = null; // the levels of which the search that goes on takes the opponent's
    this.opponent = ""; // what the level "even" takes the person to be
    this.study = this.analysing = false;
    /** @type {number | null} */
    this.teach = null; // points from which on a person's move is answered by a lesson
    this.lesson = -1; // the node after such a move, which the person may take back
    /** @type {Job | null} */
    this.job = null;
    this.known = 0; // nodes that the page was told of
  }

  get tree() {
    return this.game.tree;
  }

  get most() {
    return Math.min(MOST_READOUTS, Math.floor(TREE_BYTES / (5 * this.game.view.names.length)));
  }

  // --- the page ---

  /** @param {any} message */
  send(message) {
    queueMicrotask(() => {
      try {
        const obey = COMMANDS[message.type];
        if (!obey) throw new Error("this file cannot do that: alphago web can");
        obey(this, message);
      } catch (error) {
        this.fail(error);
      }
    });
  }

  /** @param {(message: Message) => void} callback */
  listen(callback) {
    this.listeners.push(callback);
  }

  /** @param {Record<string, any>} message */
  tell(message) {
    for (const listener of this.listeners) listener(message);
  }

  /** @param {unknown} error */
  fail(error) {
    const text = error instanceof Error ? error.message : String(error);
    this.tell({ type: "notice", kind: "error", text: `${text[0].toUpperCase()}${text.slice(1)}.` });
    this.tellState();
  }

  tellGame() {
    this.known = 0;
    const game = { ...this.game.view, networks: [this.facts.network], mostReadouts: this.most };
    this.tell({ type: "game", game, names: ["", ""] });
  }

  tellState() {
    const { tree } = this;
    const added = tree.nodes.slice(this.known).map(({ parent, move, mover }, i) => ({ node: this.known + i, parent, move, mover }));
    const { node } = tree;
    this.tell({
      type: "state", node: tree.current, line: tree.line(), view: this.positionView(), over: tree.over,
      result: tree.over ? this.result() : null, count: node.loser ? null : node.count?.view() ?? null, added,
      evaluations: added.map((one) => this.evaluation(one.node)).filter(({ mean }) => mean),
      players: [...this.players], strength: { ...this.strength }, opponent: this.opponent, teach: this.teach,
      lesson: this.lesson === tree.current, study: this.study, analysing: this.analysing,
      busy: this.job ? toldAs(this.job.purpose) : "", analysis: node.analysis, comment: "", link: linkOf(this.game),
    });
    this.known = tree.nodes.length;
  }

  positionView() {
    const { position } = this.tree;
    const legal = position.legal();
    return { toPlay: position.toPlay, legal: Array.from(legal.keys()).filter((action) => legal[action]), over: position.over,
      moves: position.ply, last: position.lastCell, ko: [], ...position.content() };
  }

  /** What is known of a node: as `GameTree.after_move` of alphago/ui/web/game_tree.py. @param {number} number */
  evaluation(number) {
    const { analysis, parent, move, mover } = this.tree.nodes[number];
    const before = this.tree.nodes[parent]?.analysis;
    const rank = before ? before.moves.findIndex((/** @type {any} */ one) => one.move === move) : -1;
    let { mean = null, visits = 0 } = analysis || {};
    const own = before?.moves[rank];
    if (own && own.win !== null && (rank === 0 || own.visits >= visits)) {
      visits = own.visits;
      mean = [mover > 0 ? own.win : 1 - own.win, own.score === null ? null : mover * own.score];
    }
    return { node: number, win: analysis?.win ?? null, score: analysis?.score ?? null, mean,
      rough: parent >= 0 && Math.min(before?.visits || 0, visits) < LEAST_VISITS };
  }

  result() {
    const { node, position } = this.tree;
    const { sides, ownership } = this.game.view;
    const name = (/** @type {number} */ side) => sides[side > 0 ? 0 : 1];
    if (node.loser) {
      return { text: `${name(-node.loser)} wins by resignation`, winner: -node.loser, short: `${node.loser > 0 ? "W" : "B"}+R` };
    }
    const margin = node.count ? node.count.margin : position.margin;
    const winner = node.count ? Math.sign(margin) : outcome(position) * position.toPlay;
    if (!winner) return { text: "A draw", winner: 0, short: "draw" };
    const by = Math.abs(margin) !== 1 || ownership ? ` by ${Math.abs(margin)}` : "";
    return { text: `${name(winner)} wins${by}`, winner, short: shortResult(margin) };
  }

  // --- the engine ---

  stop() {
    if (this.job) this.engine.stop();
    this.job = null;
  }

  /**
   * @param {Job["purpose"]} purpose
   * @param {number[]} nodes
   * @param {number} readouts
   * @param {number | null} [seconds]
   */
  start(purpose, nodes, readouts, seconds = null) {
    const { levels } = this.game;
    const chosen = purpose === "move" && this.strength.tree ? this.strength.level || levels.length : levels.length;
    this.even = chosen === EVEN ? levels : null;
    const level = Number(chosen) < levels.length ? levels[Number(chosen) - 1] : null;
    this.job = { purpose, nodes, readouts: level ? level.readouts : readouts, seconds, level, found: null };
    this.searchNext();
  }

  searchNext() {
    const job = /** @type {Job} */ (this.job);
    job.found = null;
    const [number] = job.nodes;
    if (job.purpose !== "count" && this.tree.nodes[number].position.over) {
      this.finish();
      return;
    }
    const moves = this.tree.moves(number);
    const { shape } = /** @type {any} */ (this.game.view);
    this.engine.search({ options: this.game.options, moves: job.purpose === "count" ? moves.slice(0, -2) : moves, shape,
      readouts: job.readouts, seconds: job.seconds, level: job.level, even: this.even, most: this.most + (job.purpose === "move" ? job.readouts : 0) });
  }

  /** @param {Found & {fault?: string}} found */
  told(found) {
    const { job, tree } = this;
    if (!job) return;
    if (found.fault) {
      this.stop();
      this.fail(new Error(found.fault));
      return;
    }
    job.found = found;
    if (job.purpose === "move") this.opponent = found.opponent;
    if (job.purpose !== "count") {
      const [node] = job.nodes;
      const analysis = tree.remember(node, found.analysis);
      this.tell({ type: "thinking", node, purpose: toldAs(job.purpose), readouts: found.done, limit: job.readouts, rate: found.rate,
        analysis, evaluations: [node, ...tree.nodes[node].children].map((one) => this.evaluation(one)), left: job.nodes.length - 1 });
    }
    if (found.over) this.finish();
  }

  // Do what follows the search of a position.
  finish() {
    const job = /** @type {Job} */ (this.job);
    const { tree } = this;
    const { found } = job;
    if ((job.purpose === "review" || job.purpose === "lesson") && job.nodes.length > 1) {
      job.nodes.shift();
      this.searchNext();
      return;
    }
    this.stop();
    if (job.purpose === "lesson") {
      this.endLesson();
      return;
    }
    if (job.purpose === "move" && found && found.resigns && this.strength.tree) tree.node.loser = tree.position.toPlay;
    else if (job.purpose === "move" && found) {
      tree.play(found.best);
      this.afterMove(found.best);
      return;
    } else if (job.purpose === "count" && found) {
      const node = tree.nodes[job.nodes[0]];
      node.count = node.count && node.count.proposed(found.ownership);
    }
    this.tellState();
  }

  /**
   * Whether a move of the side that is to move is answered by a lesson, if it is a bad one.
   * @param {number} side
   */
  teaches(side) {
    return this.teach !== null && this.isHuman(side) && this.players.includes(ENGINE);
  }

  // Tell why the move that led to the board was bad, and wait; or go on.
  endLesson() {
    const { nodes, current, node } = this.tree;
    const { view } = this.game;
    const found = lessonOf(nodes[node.parent].analysis, node.analysis, node.move, Number(this.teach), view.names);
    if (!found) {
      this.afterMove(node.move);
      return;
    }
    this.lesson = current;
    this.tell({ type: "why", node: node.parent, ...found });
    this.tellState();
  }

  // Go on: the engine's move, the count of a finished game, or a look at the position.
  wake() {
    this.stop();
    const { tree } = this;
    if (tree.over) this.beginCount();
    else if (this.players[tree.position.toPlay > 0 ? 0 : 1] === ENGINE) this.startMove();
    else this.look();
    this.tellState();
  }

  startMove() {
    const { readouts, seconds, tree } = this.strength;
    this.start("move", [this.tree.current], tree ? readouts || this.most : 0, seconds);
  }

  look() {
    const { tree } = this;
    if (tree.over || !(this.analysing || this.study) || (!this.analysing && tree.node.analysis)) return;
    this.start("analyse", [tree.current], this.analysing ? this.most : 0);
  }

  beginCount() {
    const { tree } = this;
    if (tree.node.loser || tree.node.count) return;
    tree.node.count = countOf(tree.position);
    if (tree.node.count && tree.position.content().stones.match(/[XO]/)) this.start("count", [tree.current], 0);
  }

  /** @param {number} move */
  afterMove(move) {
    const { pass, pass_hint: hint } = this.game.view;
    if (hint && move === pass && !this.tree.over && this.tree.moves().filter((each) => each === pass).length === 1) {
      this.tell({ type: "notice", kind: "hint", text: hint });
    }
    this.wake();
  }

  /** @param {number} number */
  lookAt(number) {
    this.stop();
    this.tree.goTo(number);
    this.look();
    this.tellState();
  }

  /** @param {number} number */
  moveTo(number) {
    if (number !== this.tree.current) this.lookAt(number);
  }

  /** @param {import("./file_games.js").BegunGame} game */
  setGame(game) {
    this.stop();
    this.lesson = -1;
    this.game = game;
    this.tellGame();
  }

  /** @param {number} side */
  isHuman(side) {
    return this.players[side > 0 ? 0 : 1] === HUMAN;
  }

  /** @param {any} message */
  setPlayers({ black, white }) {
    this.players = [black || this.players[0], white || this.players[1]];
  }
}

/**
 * What the page is told of a job: during a lesson it is the engine's turn.
 * @param {Job["purpose"]} purpose
 */
const toldAs = (purpose) => (purpose === "lesson" ? "move" : purpose);

/** @param {FileDesk} desk */
function counted({ tree }) {
  if (!tree.node.count || tree.node.loser) throw new Error("stones are counted after a game that ended by two passes");
  return tree.node.count;
}

/**
 * What a page may ask for.
 * @type {Record<string, (desk: FileDesk, message: any) => void>}
 */
const COMMANDS = {
  hello(desk, { link }) {
    if (link) {
      desk.players = [HUMAN, HUMAN];
      desk.setGame(openLink(desk.facts, link));
      desk.wake();
    } else {
      desk.tellGame();
      desk.tellState();
    }
  },
  new(desk, { options = {}, setup = {}, ...players }) {
    desk.setGame(beginGame(desk.facts, { ...options, ...setup }));
    desk.setPlayers(players);
    if (desk.players.includes(ENGINE)) desk.study = desk.analysing = false;
    desk.wake();
  },
  players(desk, message) {
    desk.setPlayers(message);
    desk.wake();
  },
  play(desk, { move }) {
    const { tree, job } = desk;
    if (tree.node.loser) throw new Error("the game is over by resignation: take it back with Undo, or begin a new one");
    if (tree.over) throw new Error("the game is over");
    if (job && toldAs(job.purpose) === "move") throw new Error("it is the engine's turn");
    const action = checkedMove(desk.game, move);
    const taught = desk.teaches(tree.position.toPlay);
    const before = tree.current;
    tree.play(action);
    desk.lesson = -1;
    if (taught && !tree.over) {
      desk.stop();
      desk.start("lesson", [before, tree.current], LESSON_READOUTS);
      desk.tellState();
    } else desk.afterMove(action);
  },
  resign(desk) {
    const { tree } = desk;
    if (tree.over) throw new Error("the game is over already");
    const mover = tree.position.toPlay;
    desk.stop();
    tree.node.loser = [mover, -mover].find((side) => desk.isHuman(side)) || mover;
    desk.tellState();
  },
  undo(desk) {
    const { tree } = desk;
    if (tree.node.loser) {
      tree.node.loser = 0;
      if (desk.isHuman(tree.position.toPlay) || !desk.players.includes(ENGINE)) {
        desk.lookAt(tree.current);
        return;
      }
    }
    const before = tree.path().slice(0, -1).reverse();
    if (!before.length) throw new Error("there is no move to take back");
    desk.lookAt(before.find((number) => desk.isHuman(tree.nodes[number].position.toPlay)) ?? before[0]);
  },
  redo(desk) {
    const { tree } = desk;
    let number = tree.nextOf(tree.current);
    if (number < 0) throw new Error("there is no move to play again");
    while (!desk.isHuman(tree.nodes[number].position.toPlay) && tree.nextOf(number) >= 0) number = tree.nextOf(number);
    desk.lookAt(number);
  },
  go(desk, { node }) {
    if (!desk.tree.nodes[node]) throw new Error(`there is no position ${node}`);
    desk.lookAt(node);
  },
  step(desk, { count }) {
    const line = desk.tree.line();
    const at = line.indexOf(desk.tree.current) + count;
    desk.moveTo(line[Math.min(Math.max(at, 0), line.length - 1)]);
  },
  variation(desk, { direction }) {
    const { tree } = desk;
    const siblings = tree.current ? tree.nodes[tree.node.parent].children : [0];
    const other = siblings[siblings.indexOf(tree.current) + direction];
    if (other !== undefined) desk.moveTo(other);
  },
  strength(desk, { readouts = desk.strength.readouts, seconds = desk.strength.seconds, tree = desk.strength.tree, level = desk.strength.level }) {
    if (readouts !== null && !(readouts >= 1 && readouts <= desk.most)) {
      throw new Error(`readouts must be 1 to ${desk.most}, got ${readouts}`);
    }
    if (seconds !== null && !(seconds > 0)) throw new Error(`seconds must be more than 0, got ${seconds}`);
    if (level !== null && level !== EVEN && !(level >= 1 && level <= desk.game.levels.length)) {
      throw new Error(`level must be 1 to ${desk.game.levels.length}, or ${EVEN}, got ${level}`);
    }
    desk.strength = { ...desk.strength, readouts, seconds, tree, level };
    if (desk.job?.purpose === "move") desk.wake();
    else desk.tellState();
  },
  move(desk) {
    if (desk.tree.over) throw new Error("the game is over");
    const { job } = desk;
    if (job?.purpose === "move" && job.found) desk.finish();
    else {
      desk.startMove();
      desk.tellState();
    }
  },
  teach(desk, { points = null }) {
    if (points !== null && !(points > 0)) throw new Error(`points must be more than 0, got ${points}`);
    desk.teach = points;
    desk.tellState();
  },
  study(desk, { study = desk.study, analysing = desk.analysing }) {
    [desk.study, desk.analysing] = [study, analysing];
    if (!desk.job || desk.job.purpose === "analyse") {
      desk.stop();
      desk.look();
    }
    desk.tellState();
  },
  toggle(desk, { what }) {
    if (what === "analysing") COMMANDS.study(desk, { analysing: !desk.analysing, study: !desk.analysing || desk.study });
    else COMMANDS.study(desk, { study: !desk.study });
  },
  review(desk, { readouts = 1 }) {
    desk.stop();
    const nodes = desk.tree.line().filter((number) => (desk.tree.nodes[number].analysis?.visits || 0) < readouts);
    if (nodes.length) desk.start("review", nodes, readouts === 1 ? 0 : readouts);
    desk.tellState();
  },
  stop(desk) {
    desk.stop();
    desk.analysing = false;
    desk.tellState();
  },
  dead(desk, { point }) {
    const count = counted(desk).toggled(point);
    desk.stop();
    desk.tree.node.count = count;
    desk.tellState();
  },
  "all-alive"(desk) {
    const { position, engine } = counted(desk);
    desk.stop();
    desk.tree.node.count = new GoCount(position, [], engine);
    desk.tellState();
  },
  save(desk) {
    const names = [1, -1].map((side) => (desk.isHuman(side) ? desk.game.view.sides[side > 0 ? 0 : 1] : `alphago ${desk.facts.network}`));
    desk.tell({ type: "file", ...saveFile(desk.game, names, desk.tree.over ? desk.result().short : "") });
  },
  open(desk, { text }) {
    let link = "";
    try {
      ({ link } = JSON.parse(text));
    } catch { /* not a game that this file saved */ }
    if (!link) throw new Error("this file opens games that it saved as JSON; alphago web opens SGF files");
    COMMANDS.hello(desk, { link });
  },
};
