// A game with its variations: every move that was tried, and what is known of the positions; node `current` is on the board.

const MOST_NODES = 4000;
const SIDES = "BW";
const SKIPPED_TURN = "_"; // stands before a move out of turn among the moves of a link
/** What a node has as long as nothing else is known. @type {Pick<Knot, "dead" | "loser" | "comment" | "inFile" | "win" | "score" | "visits">} */
const USUAL = { dead: null, loser: 0, comment: "", inFile: -1, win: null, score: null, visits: 0 };
/** The fields of a node that are kept for a reload, if they differ from USUAL. */
const KEPT = /** @type {(keyof typeof USUAL)[]} */ (Object.keys(USUAL));

export class GameTree {
  /** @param {Opened} opened */
  constructor({ view, game, link, names, nodes, end = 0, file = "", stated = "", fileLoser = 0 }) {
    this.view = view;
    this.game = game;
    this.link = link; // to the first position
    this.names = names; // of the players, "" for unknown ones
    this.file = file; // the text of the SGF file that was opened
    this.stated = stated; // the result that the file states
    this.fileLoser = fileLoser; // who resigns in the file
    /** @type {Knot[]} */
    this.nodes = [];
    for (const { parent, move = "", mover = 0, ...known } of nodes) {
      this.add(parent, view.names.indexOf(move), mover, null);
      Object.assign(this.nodes[this.nodes.length - 1], known);
    }
    this.current = end;
  }

  /**
   * Add a node, and return its number.
   * @param {number} parent -1 for the root
   * @param {number} move an action, -1 at the root
   * @param {number} mover 1 or -1, 0 at the root
   * @param {BoardAnswer | null} shown what the board shows there; null if it was not asked yet
   */
  add(parent, move, mover, shown) {
    const node = this.nodes.length;
    this.nodes.push({ node, parent, move, mover, children: [], chosen: -1, shown, analysis: null, ...USUAL });
    if (parent >= 0) this.nodes[parent].children.push(node);
    return node;
  }

  /** The node on the board. */
  get node() {
    return this.nodes[this.current];
  }

  /** Whether the game has ended here, by the rules or by resignation. */
  get over() {
    return Boolean(this.node.loser) || this.position.over;
  }

  /** The position on the board, which the page has been told of. */
  get position() {
    return /** @type {BoardAnswer} */ (this.node.shown).view;
  }

  /** How the game ended here: by resignation, as its file states, or as the rules count; null if it goes on. @returns {ResultView | null} */
  get result() {
    const { node, node: { loser }, stated } = this;
    if (loser) return { text: `${this.side(-loser)} wins by resignation`, winner: -loser, short: `${this.letter(-loser)}+R` };
    const isMainLine = this.path().every(({ node: number, parent }) => parent < 0 || this.nodes[parent].children[0] === number);
    if (this.over && stated && node.inFile >= 0 && node.dead === null && isMainLine && !node.children.length) {
      return { text: `The file says ${stated}`, winner: { B: 1, W: -1 }[stated[0]] || 0, short: stated };
    }
    return node.shown?.result ?? null;
  }

  /** The count of the game that is over here; the end of a file has none until its stones are counted. */
  get count() {
    const { dead, inFile, loser, shown } = this.node;
    return (dead !== null || inFile < 0) && !loser && shown ? shown.count : null;
  }

  /**
   * The node after a move that was tried here; -1 if it was not.
   * @param {number} move
   */
  after(move) {
    const { children } = this.node;
    return children.find((child) => this.nodes[child].move === move && this.nodes[child].mover === this.position.toPlay) ?? -1;
  }

  /**
   * Go on to a new node.
   * @param {number} move
   * @param {BoardAnswer} shown after it
   */
  play(move, shown) {
    if (this.nodes.length >= MOST_NODES) throw new Error(`a game with its variations must have at most ${MOST_NODES} positions: begin a new one`);
    this.goTo(this.add(this.current, move, this.position.toPlay, shown));
  }

  /** Put a node on the board; the lines through its ancestors lead to it from now on. @param {number} number */
  goTo(number) {
    this.current = number;
    for (const { node, parent } of this.path().slice(1)) this.nodes[parent].chosen = node;
  }

  /** The nodes from the root to one. */
  path(number = this.current) {
    const path = [];
    for (let node = this.nodes[number]; node; node = this.nodes[node.parent]) path.unshift(node);
    return path;
  }

  /** The current line: the path, then on by what was looked at last. */
  line() {
    const line = this.path();
    for (let next = this.nextOf(this.node); next; next = this.nextOf(next)) line.push(next);
    return line;
  }

  /** The node after another that was looked at last, else the first one. @param {Knot} node @returns {Knot | undefined} */
  nextOf({ chosen, children }) {
    return this.nodes[children.includes(chosen) ? chosen : children[0]];
  }

  /**
   * The moves that lead to a node, as queries have them.
   * @param {number} [number]
   * @returns {[string, string][]}
   */
  moves(number = this.current) {
    return this.path(number).slice(1).map(({ mover, move }) => [this.letter(mover), this.view.names[move]]);
  }

  /** The letter of a side in queries. @param {number} player 1 or -1 */
  letter(player) {
    return SIDES[player > 0 ? 0 : 1];
  }

  /** The name of a side. @param {number} player */
  side(player) {
    return this.view.sides[player > 0 ? 0 : 1];
  }

  /** A link to the position on the board. */
  linkHere() {
    let next = this.nodes[0].shown?.view.toPlay || 1;
    const words = this.path().slice(1).flatMap(({ move, mover }) => {
      const skipped = this.view.skips && mover === -next;
      next = -mover;
      return skipped ? [SKIPPED_TURN, this.view.names[move]] : [this.view.names[move]];
    });
    return words.length ? `${this.link}&${new URLSearchParams({ moves: words.join(".") })}` : this.link;
  }

  /**
   * Keep an analysis, unless more visits are known of the node, as from a file, than it has and a search may make.
   * @param {number} number
   * @param {AnalysisView} analysis
   */
  remember(number, analysis) {
    const { score, visits, win } = analysis;
    const node = this.nodes[number];
    if (Math.min(node.visits, this.view.mostReadouts) <= visits) Object.assign(node, { analysis, score, visits, win });
  }

  /**
   * The tree as it is kept and saved, without what can be asked again.
   * @param {boolean} [found] with the best moves of analyses
   * @returns {Omit<Opened, "view">}
   */
  record(found = false) {
    const { view: { names: texts }, game, link, names, file, stated, fileLoser } = this;
    const nodes = this.nodes.map((node) => {
      const known = Object.fromEntries(KEPT.filter((name) => node[name] !== USUAL[name]).map((name) => [name, node[name]]));
      const best = found && node.analysis ? { found: foundOf(node.analysis, texts) } : {};
      return { parent: node.parent, move: texts[node.move], mover: node.mover, ...known, ...best };
    });
    return { game, link, names, nodes, file, stated, fileLoser, end: this.current };
  }
}

/**
 * The best moves of an analysis in KataGo's fields, in Black's view.
 * @param {AnalysisView} analysis
 * @param {string[]} names
 */
const foundOf = ({ mover, moves }, names) => moves.slice(0, 5).map(({ move, visits, prior, win, line }) => ({ move: names[move], visits, prior,
  winrate: win === null || mover > 0 ? win : 1 - win, pv: line.map((one) => names[one]) }));
