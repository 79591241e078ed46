// The desk: the game on the board with its variations, who plays, how strong, and what the page may ask for.

import { tried } from "./effects.js";
import { EngineJobs } from "./engine_jobs.js";
import { GameTree } from "./game_tree.js";
import { makeQueries } from "./queries.js";

const [HUMAN, ENGINE, PLAYOUTS] = ["human", "engine", "playouts"];
const FORMAT = "alphago-game"; // of files of games without SGF

export class Desk {
  /** The games to choose from, and the names of watched runs. @type {{games: OfferView[], runs: string[]}} */
  offered = { games: [], runs: [] };
  /** @type {GameTree} */
  tree = /** @type {any} */ (null); // until a game has begun
  players = [HUMAN, ENGINE];
  /** @type {StrengthView} */
  strength = { network: "", readouts: 200, seconds: null, tree: true, level: null };
  opponent = ""; // how strong the level "even" takes the person to be
  study = false;
  analysing = false;
  /** @type {number | null} */
  teach = null; // a person's move that loses more points is answered by a lesson; null for no lessons
  lesson = -1; // the node after such a move, which the person may take back; -1 for none
  /** @type {Explanation | null} */
  reasons = null; // the latest explanation of a move
  status = ""; // what the server or worker is doing, for the status line
  doing = Promise.resolve(); // the chain of all commands: each begins when the one before it has ended
  keeping = 0; // the timer after which the game is kept
  jobs = new EngineJobs(this);
  /** Takes what the desk has to say: whoever shows the desk puts a function here. @type {(message: Message) => void} */
  tell = () => {};

  /**
   * @param {Parameters<typeof makeQueries>[0]} connect makes what carries the queries
   * @param {{kept: () => Kept | null, keep: (game: Kept) => void}} [keeper] stores the game for a reload; without one, the other side does,
   *   and its answer to "hello" has what was stored
   */
  constructor(connect, keeper) {
    this.queries = makeQueries(connect, (text) => {
      this.status = text;
      this.changed();
    });
    this.keeper = keeper || { kept: () => null, keep: (game) => { this.queries.ask({ action: "keep", kept: game }); } };
  }

  // --- the page ---

  /** Execute a command of the page, after its earlier ones. @param {{type: string} & Record<string, any>} message */
  send({ type, ...fields }) {
    this.soon(async () => {
      if (!COMMANDS[type]) throw new Error(`there is no command ${type}`);
      if (await COMMANDS[type](this, fields) !== false) this.changed();
    });
  }

  /** Do something after all earlier commands; an error becomes a notice. @param {() => any} act */
  soon(act) {
    this.doing = this.doing.then(act).catch((error) => {
      const text = String(error.message || error);
      this.tell({ type: "notice", kind: "error", text: `${text[0].toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? "" : "."}` });
      this.changed();
    });
  }

  /** Tell that the state has changed, and keep the game soon. */
  changed() {
    this.tell({ type: "state" });
    clearTimeout(this.keeping);
    this.keeping = setTimeout(() => this.keep(), 50);
  }

  /** Keep the game for a reload, at once. */
  keep() {
    const { players, strength, teach, study, tree } = this;
    if (tree) this.keeper.keep({ ...tree.record(), players, strength, teach, study, here: tree.linkHere(), result: tree.result?.text || "" });
  }

  // --- games ---

  /**
   * Ask about the game on the board.
   * @param {string} action
   * @param {object} fields
   */
  ask(action, fields) {
    return this.queries.ask({ action, game: this.tree.game, ...fields });
  }

  /** What the board shows at a node. @param {number} number @returns {Promise<BoardAnswer>} */
  async show(number, tree = this.tree) {
    const node = tree.nodes[number];
    const dead = node.dead ? { dead: node.dead } : {};
    node.shown ||= await this.queries.ask({ action: "view", game: tree.game, moves: tree.moves(number), ...dead });
    return /** @type {BoardAnswer} */ (node.shown);
  }

  /**
   * Begin: with the game of a link, with what was kept, or with the usual game.
   * @param {string} link "" for none
   */
  async begin(link) {
    const { first = {}, games, runs, kept = this.keeper.kept() } = await this.queries.ask({ action: "hello" });
    this.offered = { games, runs };
    Object.assign(this.strength, first.strength);
    Object.assign(this, { players: first.players || this.players, teach: first.teach ?? this.teach });
    if (kept && (!link || link === kept.here) && await this.restore(kept)) return;
    if (link && await this.put(this.queries.ask({ action: "link", link })).then(() => true, (error) => { this.soon(() => { throw error; }); })) return;
    await this.setGame(await this.queries.ask({ action: "new", ...first.game }));
    this.wake();
  }

  /** Continue the game that was kept. @param {Kept} kept @returns {Promise<boolean>} whether that was possible */
  async restore({ players, strength, teach, study, here, result, ...record }) {
    const game = await this.queries.ask({ action: "game", game: record.game }).catch(() => null);
    if (!game) return false;
    Object.assign(this, { players, strength, teach, study });
    await this.setGame({ ...record, ...game });
    if (this.study || this.tree.nextOf(this.tree.node)) this.look();
    else this.wake(); // an engine that was thinking thinks again
    return true;
  }

  /** Put another game on the board. @param {Opened} opened */
  async setGame(opened) {
    const { strength } = this;
    this.jobs.stop();
    const { view } = opened;
    const usual = strength.network === (this.tree ? this.tree.view.usual : "");
    if (usual || !view.networks.includes(strength.network)) strength.network = view.usual;
    const tree = new GameTree(opened);
    await this.show(0, tree);
    await this.show(tree.current, tree);
    this.tree = tree; // only now, since it may be kept at any time
    Object.assign(this, { lesson: -1, reasons: null, opponent: "" });
    if (strength.readouts !== null) strength.readouts = Math.min(strength.readouts, view.mostReadouts);
  }

  /**
   * Put a game on the board that is opened, with persons on both sides.
   * @param {Promise<Opened>} opening @param {Partial<Opened>} [other] fields that replace those of the opened game
   */
  async put(opening, other = {}) {
    const opened = await opening;
    this.players = [HUMAN, HUMAN];
    await this.setGame({ ...opened, ...other });
    this.wake();
    const text = (opened.remarks || []).map((remark) => `${remark[0].toUpperCase()}${remark.slice(1)}.`).join(" ");
    if (text) this.tell({ type: "notice", kind: "hint", text });
  }

  /** Whether a person plays a side. @param {number} side 1 or -1 */
  isHuman(side) {
    return this.players[side > 0 ? 0 : 1] === HUMAN;
  }

  // --- moves ---

  /** Play a move on the board. @param {number | string} move an action, or a text */
  async advance(move) {
    const { tree, tree: { view: { names } } } = this;
    const word = typeof move === "number" ? names[move] : String(move);
    const text = names.includes(word) ? word : names.find((name) => name.toUpperCase() === String(word).trim().toUpperCase()) ?? String(move);
    const action = names.indexOf(text);
    const known = tree.after(action);
    if (known >= 0) {
      await this.show(known);
      tree.goTo(known);
    } else tree.play(action, await this.ask("view", { moves: [...tree.moves(), [tree.letter(tree.position.toPlay), text]] }));
    this.lesson = -1;
  }

  /** Play the move that the engine has chosen. @param {string} move "resign" to give up */
  async enginePlays(move) {
    if (move === "resign") this.tree.node.loser = this.tree.position.toPlay;
    else {
      await this.advance(move);
      this.afterMove();
    }
    this.changed();
  }

  /** Explain the first pass of a game, and go on. */
  afterMove() {
    const { tree, tree: { node, view: { pass, pass_hint: hint } } } = this;
    const passes = tree.path().filter(({ move }) => move === pass).length;
    if (hint && node.move === pass && !tree.over && passes === 1) this.tell({ type: "notice", kind: "hint", text: hint });
    this.wake();
  }

  // Do what the position on the board asks for: count a finished game, let the engine move, or analyse.
  wake() {
    const { jobs, tree } = this;
    jobs.stop();
    if (tree.over) this.countDead();
    else if (!this.isHuman(tree.position.toPlay)) jobs.move();
    else this.look();
  }

  // Analyse the position on the board, if the person studies: with as many visits as are known of it, or without end while `analysing`.
  look() {
    const { jobs, tree } = this;
    if (tree.node.inFile < 0) this.countDead();
    if (tree.over || !(this.analysing || this.study) || (!this.analysing && tree.node.analysis)) return;
    jobs.analyse(this.analysing ? tree.view.mostReadouts : Math.min(tree.node.visits, tree.view.mostReadouts));
  }

  // Begin the count of the finished game on the board, unless it is counted or ended by resignation.
  countDead() {
    const { node } = this.tree;
    if (node.loser || node.dead || !node.shown?.count) return;
    if (/[XO]/.test(node.shown.view.stones || "") && this.strength.network !== PLAYOUTS) this.jobs.count();
    else node.dead = [];
  }

  /** Put a node on the board, and analyse it. @param {number} number */
  async lookAt(number) {
    this.jobs.stop();
    await this.show(number);
    this.tree.goTo(number);
    this.look();
  }

  /** Look at the first of these nodes in which a person is to move, else at the `usual` one. @param {Knot[]} nodes @param {Knot} usual */
  async lookAtOwn(nodes, usual) {
    for (const { node } of nodes) if (this.isHuman((await this.show(node)).view.toPlay)) return this.lookAt(node);
    return this.lookAt(usual.node);
  }

  /** Put another node on the board; false if it is there already, for which `send` tells no change. @param {number} number */
  moveTo(number) {
    return number !== this.tree.current && this.lookAt(number);
  }

  /** Change which stones are dead. @param {object} fields of the query */
  async recount(fields) {
    const { node } = this.tree;
    if (!this.tree.count) throw new Error("stones are counted after a game of Go that ended by two passes");
    const shown = await this.ask("view", { moves: this.tree.moves(), ...fields });
    this.jobs.stop();
    Object.assign(node, { shown, dead: shown.count.dead });
  }

  /**
   * Set the explanation of a move.
   * @param {number} node before the move
   * @param {{move: string, best: string, points: number | null, rate: number, sentences: string[]}} answer
   */
  explain(node, { move, best, ...said }) {
    const { names } = this.tree.view;
    this.reasons = { node, move: names.indexOf(move), best: names.indexOf(best), ...said };
  }
}

/** The link in a file that the page has saved. @param {string} text */
function linkIn(text) {
  const { format, link } = tried(() => JSON.parse(text.slice(text.indexOf("{")))) ?? {};
  if (format !== FORMAT) throw new Error("the file must be a game that this page saved");
  return link;
}

/**
 * The commands of the page. One that returns false has changed nothing.
 * @type {Record<string, (desk: Desk, fields: Record<string, any>) => any>}
 */
const COMMANDS = {
  hello: (desk, { link = "" }) => (desk.tree ? desk.put(desk.queries.ask({ action: "link", link })) : desk.begin(link)),
  async new(desk, { game, options = {}, setup = {}, black = desk.players[0], white = desk.players[1] }) {
    const opened = await desk.queries.ask({ action: "new", name: game || desk.tree.game.name, options, setup });
    desk.players = [black, white];
    if (desk.players.includes(ENGINE)) desk.study = desk.analysing = false; // numbers on the board are for studying
    await desk.setGame(opened);
    desk.wake();
  },
  players(desk, { black = desk.players[0], white = desk.players[1] }) {
    desk.players = [black, white];
    desk.wake();
  },
  async play(desk, { move }) {
    const { jobs, tree } = desk;
    if (tree.node.loser) throw new Error("the game is over by resignation: take it back with Undo, or begin a new one");
    if (jobs.busy === "move") throw new Error("it is the engine's turn");
    const taught = desk.teach !== null && desk.isHuman(tree.position.toPlay) && desk.players.includes(ENGINE);
    await desk.advance(move);
    if (taught && !tree.over) jobs.lesson();
    else desk.afterMove();
  },
  resign(desk) {
    const { jobs, tree } = desk;
    if (tree.over) throw new Error("the game is over already");
    const mover = tree.position.toPlay;
    jobs.stop();
    tree.node.loser = [mover, -mover].find((side) => desk.isHuman(side)) || mover;
  },
  undo(desk) {
    const { tree } = desk;
    const resigned = tree.node.loser;
    tree.node.loser = 0;
    if (resigned && desk.isHuman(tree.position.toPlay)) return desk.lookAt(tree.current); // the engine would only resign again
    const before = tree.path().slice(0, -1).reverse();
    if (!before.length) throw new Error("there is no move to take back");
    return desk.lookAtOwn(before, before[0]);
  },
  redo(desk) {
    const { tree } = desk;
    const after = tree.line().slice(tree.path().length);
    if (!after.length) throw new Error("there is no move to play again");
    return desk.lookAtOwn(after, after[after.length - 1]);
  },
  go(desk, { node }) {
    if (!desk.tree.nodes[node]) throw new Error(`there is no position ${node}`);
    return desk.lookAt(node);
  },
  step(desk, { count }) {
    const line = desk.tree.line();
    const at = line.indexOf(desk.tree.node) + count;
    return desk.moveTo(line[Math.min(Math.max(at, 0), line.length - 1)].node);
  },
  variation(desk, { direction }) {
    const { tree } = desk;
    const siblings = tree.current ? tree.nodes[tree.node.parent].children : [0];
    return desk.moveTo(siblings[siblings.indexOf(tree.current) + direction] ?? tree.current);
  },
  strength(desk, wishes) {
    const { jobs, tree: { nodes, view } } = desk;
    const strength = { ...desk.strength, ...wishes };
    const { network, readouts, seconds } = strength;
    if (readouts !== null && !(readouts >= 1 && readouts <= view.mostReadouts)) throw new Error(`readouts must be an integer from 1 to ${view.mostReadouts}, got ${readouts}`);
    if (seconds !== null && !(seconds > 0)) throw new Error(`seconds must be more than 0, got ${seconds}`);
    const other = network !== desk.strength.network;
    desk.strength = strength;
    for (const node of nodes) if (other && node.analysis) Object.assign(node, { analysis: null, visits: 0 }); // the other network's replaces it
    if (jobs.busy === "move") desk.wake(); // begin the move again
    else if (other) { // other settings concern only the engine's moves, not what the board shows
      jobs.stop();
      desk.look();
    }
  },
  teach: (desk, { points = null }) => { desk.teach = points; },
  move(desk) {
    const { jobs, tree } = desk;
    if (tree.over) throw new Error("the game is over");
    if (jobs.job?.purpose !== "move") jobs.move();
    else if (desk.strength.level === null) jobs.move({ maxVisits: 2 }); // the best move so far; levels do not think long
  },
  study(desk, { study = desk.study, analysing = desk.analysing }) {
    [desk.study, desk.analysing] = [study || (analysing && !desk.analysing), analysing]; // what begins to analyse studies
    if (!desk.jobs.job || desk.jobs.busy === "analyse") { // a job of another purpose goes on
      desk.jobs.stop();
      desk.look();
    }
  },
  toggle: (desk, { what }) => COMMANDS.study(desk, { [what]: !desk[/** @type {"study" | "analysing"} */ (what)] }),
  why(desk) {
    const { tree, tree: { node: { parent } } } = desk;
    if (parent < 0) throw new Error("there is no move to explain");
    desk.ask("why", { moves: tree.moves(), network: desk.strength.network }).then((answer) => desk.soon(() => {
      if (tree === desk.tree) desk.explain(parent, answer);
      desk.changed();
    }), (error) => desk.soon(() => { throw error; }));
    return false;
  },
  review: (desk, { readouts = 1 }) => desk.jobs.review(readouts),
  stop(desk) {
    desk.jobs.stop();
    desk.analysing = false;
  },
  dead: (desk, { point }) => desk.recount({ dead: desk.tree.node.dead ?? [], point }),
  "all-alive": (desk) => desk.recount({ dead: [] }),
  async save(desk) {
    const { players, strength, tree, tree: { view } } = desk;
    const names = tree.names.map((name, i) => name || (players[i] === ENGINE ? `alphago ${strength.network}` : view.sides[i]));
    const isText = view.sgf || tree.file;
    const end = view.sgf ? tree.line().at(-1)?.node : tree.current;
    const link = { format: FORMAT, link: tree.linkHere() };
    const { name, text } = !isText ? { name: `${view.name}.json`, text: `${JSON.stringify(link, null, 2)}\n` }
      : await desk.queries.ask({ action: "save", ...tree.record(true), names, end, moves: tree.moves(end) });
    desk.tell({ type: "file", name, text });
    return false;
  },
  open: (desk, { text }) => desk.put(desk.queries.ask(/^(ï»¿)?\s*{/.test(text) ? { action: "link", link: linkIn(text) } : { action: "open", text }), { end: 0 }),
  "run-game": (desk, { run, game }) => desk.put(desk.queries.ask({ action: "run-game", run, title: game }), { end: 0 }),
};
