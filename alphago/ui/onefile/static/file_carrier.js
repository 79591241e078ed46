// The answers of a file to its own page: what a server answers (alphago/ui/web/page_actions.py), by rules and workers of its own.

import { countOf, deadStones, marginOf, toggled } from "./dead_stones.js";
import { beginGame, checkedMove, linkHead, readLink } from "./file_games.js";
import { sgf } from "./file_saving.js";
import { landingOf } from "./geometry.js";
import { startOf } from "./rules.js";

/** @typedef {import("./engine_worker.js").Found} Found */
/** @typedef {import("./file_games.js").GameFacts & {network: string}} Facts */

const FIRST_LEVEL = 3; // of a page that is opened
const EVEN = "even";
const MOST_READOUTS = 100000;
const TREE_BYTES = 128 * 1024 * 1024; // most bytes of the priors and owners in one tree

/**
 * The carrier of a file's page.
 * @param {Facts} facts
 * @param {ReturnType<typeof import("./engine.js").makeEngine>} engine
 * @param {(answer: any) => void} hear
 * @returns {Carrier}
 */
export function fileCarrier(facts, engine, hear) {
  /** A game as the queries name it. @param {Record<string, any>} wishes of `beginGame` */
  const openGame = (wishes) => {
    const begun = beginGame(facts, wishes);
    const view = { ...begun.view, networks: [facts.network], usual: facts.network, mostReadouts: most(begun.view), skips: false };
    return { view, game: { name: facts.game, wishes }, link: linkHead(begun), names: ["", ""], nodes: [{ parent: -1 }] };
  };

  /** The position of a query. @param {Query} query */
  const positionOf = ({ game, moves = [] }) => {
    if (game?.name !== facts.game) throw new Error(`this file plays ${facts.game}`);
    const begun = beginGame(facts, game.wishes);
    let position = startOf(facts.game, begun.options);
    for (const [, word] of moves) position = position.play(checkedMove(begun.view, position, word));
    return { begun, position };
  };

  /** Answer a query with an error. @param {number} id @param {any} error */
  const fail = (id, error) => hear({ id, error: error instanceof Error ? error.message : String(error) });

  /** Search for a query, and answer it with each reply. @param {Query} query */
  const search = (query) => {
    const { begun: { levels, options, resign, view }, position } = positionOf(query);
    if (position.over) throw new Error("the game is over");
    const { id, level = null, maxTime = null, maxVisits, play = false } = query;
    const chosen = play && level !== null && level !== levels.length ? level : null;
    const terms = chosen !== null && chosen !== EVEN ? levels[chosen - 1] : null;
    const readouts = terms ? terms.readouts : maxVisits - 1;
    engine.search({ number: id, options, moves: position.line.map(({ action }) => action), names: view.names, shape: view.shape, readouts, seconds: maxTime,
      level: terms, even: chosen === EVEN ? levels : null, resign, most: most(view) + (play ? readouts : 0) }, (found) => {
      hear({ ...found, play: found.resigns && maxVisits > 1 ? "resign" : view.names[found.best], id });
    }, (fault) => fail(id, fault));
  };

  /** What a page may ask for. @type {Record<string, (query: Query) => any>} */
  const answers = {
    hello: () => ({ games: [facts.boards[0].view], runs: [], first: { strength: { level: FIRST_LEVEL } } }),
    new: ({ options = {}, setup = {} }) => openGame({ ...options, ...setup }),
    game: ({ game }) => {
      if (game?.name !== facts.game) throw new Error("a kept game must be one of this file");
      const { view, link } = openGame(game.wishes);
      return { view, game, link };
    },
    link({ link }) {
      const { wishes, words } = readLink(facts, link);
      const opened = openGame(wishes);
      const { position } = positionOf({ game: opened.game, moves: words.map((word) => ["", word]) });
      const nodes = position.line.map(({ action, toPlay }, parent) => ({ parent, move: opened.view.names[action], mover: -toPlay }));
      return { ...opened, nodes: [...opened.nodes, ...nodes], end: nodes.length };
    },
    save(query) {
      const { nodes, end, names } = query;
      const { begun, position } = positionOf(query);
      const { dead, loser } = nodes[end];
      const result = loser ? `${loser > 0 ? "W" : "B"}+R` : shown(begun.view, position, dead && countOf(position, dead)).result?.short || "";
      return { name: "game.sgf", text: sgf(begun, nodes, names, result) };
    },
    view(query) {
      const { begun: { view }, position } = positionOf(query);
      const { dead = [], point } = query;
      return shown(view, position, countOf(position, point === undefined ? dead : toggled(/** @type {any} */ (position), dead, point)));
    },
    async count(query) {
      const { begun: { options, view }, position } = positionOf(query);
      const moves = position.line.slice(0, -2).map(({ action }) => action); // without the passes, which leave no stone dead
      const { raw } = await /** @type {Promise<Found>} */ (new Promise((tell, fail) => engine.search({ number: query.id, options, moves, names: view.names, shape: view.shape,
        readouts: 0, seconds: null, level: null, even: null, resign: -1, most: most(view) }, tell, fail)));
      return shown(view, position, countOf(position, raw ? deadStones(/** @type {any} */ (position), raw) : []));
    },
  };

  /** Answer a query. @param {Query} query */
  const send = async (query) => {
    const { id, action } = query;
    try {
      if (action === "terminate") engine.stop(query.terminateId);
      else if (action) {
        if (!answers[action]) throw new Error("this file cannot do that: alphago web can");
        hear({ ...await answers[action](query), id });
      } else search(query);
    } catch (error) {
      fail(id, error);
    }
  };
  return { send };
}

/** The most readouts of one search, whose tree must fit into TREE_BYTES. @param {GameView} view */
const most = ({ names }) => Math.min(MOST_READOUTS, Math.floor(TREE_BYTES / (5 * names.length)));

/**
 * What the board shows.
 * @param {GameView} view
 * @param {import("./position.js").Position} position
 * @param {CountView | null} count
 * @returns {BoardAnswer}
 */
function shown(view, position, count) {
  const { action, parent, ply: moves, over, toPlay } = position;
  const [legal, before] = [position.legal(), parent?.cells()];
  const last = parent && landingOf(view, action, parent.toPlay, (cell) => !before?.[cell]);
  return { view: { toPlay, legal: Array.from(legal.keys()).filter((one) => legal[one]), over, moves, last, ko: [], ...position.content() },
    result: over ? resultOf(view, count ? marginOf(count) : position.margin) : null, count };
}

/**
 * @param {GameView} view
 * @param {number} margin Black's
 * @returns {ResultView}
 */
function resultOf({ sides, ownership }, margin) {
  const [winner, points] = [Math.sign(margin), Math.abs(margin)];
  if (!winner) return { text: "A draw", winner, short: "draw" };
  const by = points !== 1 || ownership ? ` by ${points}` : "";
  return { text: `${sides[winner > 0 ? 0 : 1]} wins${by}`, winner, short: `${winner > 0 ? "B" : "W"}+${points}` };
}
