// A worker: it searches for the page, or evaluates positions for the worker that does.

import { replyOf } from "./search_reply.js";
import { evaluationOf } from "./evaluator.js";
import { evenLevel, termsAt } from "./even_level.js";
import { loadKernels } from "./kernels.js";
import { drawn, levelChances } from "./losing_moves.js";
import { moveOf, resigns } from "./move_choice.js";
import { Network } from "./network.js";
import { loadRules } from "./position.js";
import { startOf } from "./rules.js";
import { TreeSearch, loadTree } from "./tree_search.js";

/**
 * @typedef {object} Model
 * @property {string} game
 * @property {import("./network.js").Manifest} manifest
 * @property {Float32Array} weights
 * @property {Uint8Array} kernels the code of kernels.wasm
 * @property {Uint8Array} tree the code of tree.wasm
 * @property {Uint8Array} rules the code of the game's module
 * @property {import("./tree_search.js").Settings} settings
 * @property {number} planes how many
 * @property {number | null} pass
 */

/**
 * What to search; the search ends at the first limit that it reaches.
 * @typedef {object} Request
 * @property {number} number
 * @property {Record<string, any>} options of the game
 * @property {number[]} moves that lead to the position
 * @property {string[]} names of the actions
 * @property {[number, number]} shape of a plane
 * @property {number} readouts simulations to add to the tree; 0 for the network alone
 * @property {number | null} seconds
 * @property {number} most most simulations of the tree
 * @property {import("./losing_moves.js").Level | null} level at which the move is chosen, with the level's own readouts; null for full strength
 * @property {number} resign the value below which the engine gives up; -1 for never
 * @property {import("./even_level.js").MeasuredLevel[] | null} even the levels from which the one of the opponent's strength is chosen; null to use `level`
 */

/**
 * A reply, with the move to play in the last one (`best`). `raw`: the owners that the network expects without a search, 1 for Black.
 * @typedef {ReturnType<typeof replyOf> & {number: number, isDuringSearch: boolean, searched: number, best: number, resigns: boolean, raw:
 *   number[] | null, opponent: string}} Found
 */

const SLICE = 30; // milliseconds after which a search lets messages come in
const REPORT = 150; // least milliseconds between two reports
const READING = 0.05; // the greatest share of time for reading the tree for reports

/** @type {any} */
const worker = self;
/** @type {Searcher | null} */
let searcher = null;

worker.onmessage = async (/** @type {MessageEvent} */ { data }) => {
  if (data.model) worker.postMessage({ lives: true });
  if (data.serve) serve(data.model, data.serve);
  else if (data.model) searcher = new Searcher(data.model, data.helpers);
  else if (searcher) searcher.begin(data.request);
};

/** @param {Model} model */
const networkOf = async ({ manifest, weights, kernels }) => new Network(manifest, weights,
  await loadKernels(/** @type {any} */ (kernels)));

/**
 * Answer each input with the network's outputs.
 * @param {Model} model
 * @param {MessagePort} port
 */
function serve(model, port) {
  const network = networkOf(model);
  port.onmessage = async ({ data: { input, shape } }) => {
    try {
      port.postMessage({ outputs: (await network).run(input, shape[0], shape[1]) });
    } catch (error) {
      port.postMessage({ fault: String(error) });
    }
  };
}

class Searcher {
  /**
   * @param {Model} model
   * @param {MessagePort[]} helpers
   */
  constructor(model, helpers) {
    this.model = model;
    this.helpers = helpers;
    this.network = networkOf(model);
    this.modules = Promise.all([loadRules(/** @type {any} */ (model.rules)), loadTree(/** @type {any} */ (model.tree))]);
    /** @type {((answer: any) => void)[][]} by helper, what takes its next answers */
    this.waiting = helpers.map(() => []); // callbacks, in the order of the questions
    helpers.forEach((port, i) => { port.onmessage = ({ data }) => this.waiting[i].shift()?.(data); });
    /** @type {Request | null} */
    this.request = null;
    this.doing = Promise.resolve(); // requests are worked on one after the other
    /** @type {TreeSearch | null} */
    this.search = null;
    /** @type {Set<number>} */
    this.lost = new Set(); // plies at which the engine's value was too low, see `resigns`
    this.even = evenLevel(model.settings, (positions) => this.evaluate(positions), model.pass);
    this.opponent = "";
    this.shape = [0, 0]; // of the board that is searched
    this.channel = new MessageChannel();
  }

  /** Work on a request after the present one, which ends early. @param {Request | null} request null to stop */
  begin(request) {
    this.request = request;
    this.doing = this.doing.then(() => (request && this.request === request ? this.work(request) : undefined)).catch((error) => {
      this.search = null;
      worker.postMessage({ number: request?.number, fault: String(error) });
    });
  }

  // Let messages come in; a timer would cost four milliseconds.
  pause() {
    return new Promise((resolve) => {
      this.channel.port1.onmessage = resolve;
      this.channel.port2.postMessage(0);
    });
  }

  /** Search for a request, with reports. @param {Request} request */
  async work(request) {
    await this.modules;
    const search = this.follow(request);
    const level = request.even ? await this.evenLevel(request, request.even) : request.level;
    const readouts = level ? Math.max(0, level.readouts - search.visits) : request.readouts;
    const begun = performance.now();
    const seconds = () => (performance.now() - begun) / 1000;
    await search.expandRoot();
    // Simulations; when messages were let in last; when a report was sent last; how long that took.
    let [done, looked, told, reading] = [0, begun, begun, 0];
    while (this.request === request && done < readouts && search.visits < request.most
      && (request.seconds === null || seconds() < request.seconds)) {
      done += await search.wave(Math.min(readouts - done, this.model.settings.leaves));
      const now = performance.now();
      if (now - looked > SLICE) {
        await this.pause();
        looked = performance.now();
      }
      if (now - told > REPORT + reading / READING && this.request === request) {
        this.tell(request, done, false);
        told = performance.now();
        reading = told - now;
      }
    }
    const chances = level && this.request === request ? await levelChances(search, level, this.model.pass) : null;
    if (this.request === request) this.tell(request, done, true, level, chances);
  }

  /**
   * The level of the opponent's strength, estimated from its moves.
   * @param {Request} request
   * @param {import("./even_level.js").MeasuredLevel[]} levels
   */
  async evenLevel(request, levels) {
    const start = startOf(this.model.game, request.options);
    const found = await this.even(start, request.moves, levels, async () => {
      await this.pause();
      worker.postMessage({ lives: true });
      return this.request === request;
    });
    this.opponent = found.text;
    return termsAt(levels, found.level);
  }

  /**
   * The tree at the position of a request. The present tree is used if the position continues the game in it.
   * @param {Request} request
   */
  follow({ options, moves, shape }) {
    const { line, game } = this.search?.position ?? { line: [], game: null };
    if (!this.search || JSON.stringify(options) !== JSON.stringify(game?.options) || !line.every(({ action }, i) => moves[i] === action)) {
      this.search = new TreeSearch(this.model.settings, (positions) => this.evaluate(positions), startOf(this.model.game, options));
      this.lost.clear();
    }
    for (const move of moves.slice(this.search.position.ply)) this.search.advance(move);
    this.shape = shape;
    return this.search;
  }

  /**
   * Evaluate positions here and in the other workers.
   * @param {import("./position.js").Position[]} positions
   */
  async evaluate(positions) {
    const { helpers, model, shape } = this;
    const [height, width] = shape;
    const network = await this.network;
    const all = positions.map((position, i) => {
      const input = position.planes(model.planes * height * width);
      const at = i % (helpers.length + 1);
      if (at === helpers.length) return { input, answer: null };
      helpers[at].postMessage({ input, shape }, [input.buffer]);
      return { input, answer: new Promise((resolve) => { this.waiting[at].push(resolve); }) };
    });
    const found = [];
    for (const { input, answer } of all) found.push(answer || { outputs: network.run(input, height, width) });
    return (await Promise.all(found)).map(({ fault, outputs }, i) => {
      if (fault) throw new Error(fault);
      return evaluationOf(outputs, positions[i].legal());
    });
  }

  /**
   * Send a report.
   * @param {Request} request
   * @param {number} done simulations so far
   * @param {boolean} over whether it is the last one
   * @param {import("./losing_moves.js").Level | null} [level] at which the move was chosen
   * @param {number[] | null} [chances] of the moves at the level
   */
  tell(request, done, over, level = null, chances = null) {
    const search = /** @type {TreeSearch} */ (this.search);
    const { position, root } = search;
    const forecasts = "ownership" in this.model.manifest.outputs;
    /** @type {Found} */
    const found = { number: request.number, isDuringSearch: !over, searched: done, ...replyOf(search, forecasts, request.names),
      best: chances ? drawn(chances, Math.random()) : moveOf(search, this.model.pass),
      resigns: over && resigns(search, request.resign, request.shape[0] * request.shape[1], level, this.lost),
      opponent: request.even ? this.opponent : "",
      raw: forecasts && root.ownership ? Array.from(root.ownership, (owner) => owner * position.toPlay) : null };
    worker.postMessage(found);
  }
}
