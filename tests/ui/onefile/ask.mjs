// What the modules of a file compute for the tests: `node ask.mjs FOLDER` reads a question from its input, as JSON.

import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { listen } from "../web/told.mjs";

const question = JSON.parse(readFileSync(0, "utf8"));
const load = (name) => import(pathToFileURL(`${process.argv[2]}/${name}.mjs`));
const numbers = (text) => new Float32Array(new Uint8Array(Buffer.from(text, "base64")).buffer);
const packed = (array) => Buffer.from(array.buffer, array.byteOffset, array.byteLength).toString("base64");

const code = (name) => readFileSync(`${process.argv[2]}/${name}.wasm`);

async function networkOf({ manifest, weights }) {
  const { loadKernels } = await load("kernels");
  const { Network } = await load("network");
  return new Network(manifest, numbers(weights), await loadKernels(code("kernels")));
}

// The modules have the rules of one game at a time, and trees.
async function rulesOf(game) {
  await (await load("position")).loadRules(code(game));
  await (await load("tree_search")).loadTree(code("tree"));
  return (await load("rules")).startOf;
}

// A stand-in for a network, which Python computes without rounding too: see test_search_in_script.py.
function standIn(position, length, inputs, settled) {
  const hash = position.planes(length).subarray(0, inputs).reduce((sum, value, i) => sum + value * ((i % 89) + 1), 0);
  return { priors: Float32Array.from(position.legal(), (legal, action) => (legal ? ((((hash % 60 + 1) * (action + 3)) % 61) + 1) / 64 : 0)),
    value: ((hash % 33) - 16) / 32, score: settled ? 0 : (hash % 41) - 20,
    ownership: settled ? position.owners() : Array.from({ length: position.game.points }, (_, point) => ((hash * (point + 5)) % 3) - 1) };
}

const ANSWERS = {
  async positions({ game, options, games, planes: length }) {
    const startOf = await rulesOf(game);
    const { outcome } = await load("position");
    const told = (position) => {
      const planes = position.over ? new Float32Array(0) : position.planes(length);
      const { toPlay, over } = position;
      return { toPlay, over, legal: [...position.legal()], outcome: outcome(position), margin: position.margin,
        decisive: over ? -1 : position.decisive(), planes: packed(planes), content: position.content(),
        owners: position.owners() && [...position.owners()] };
    };
    return games.map((actions) => {
      let position = startOf(game, options);
      return [told(position), ...actions.map((action) => {
        const before = position;
        position = position.play(action);
        before.legal(); // positions do not disturb each other
        return told(position);
      })];
    });
  },
  async network({ planes, shape, count, ...model }) {
    const all = numbers(planes);
    const length = all.length / count;
    const network = await networkOf(model);
    return Array.from({ length: count }, (_, i) =>
      Object.fromEntries(Object.entries(network.run(all.subarray(i * length, (i + 1) * length), ...shape))
        .map(([name, array]) => [name, packed(array)])));
  },
  // What a desk tells its page, and asks its file, for each command; the engine finds what is given.
  async desk({ facts, messages, found = [] }) {
    const { Desk } = await load("desk");
    await rulesOf(facts.game);
    const { fileCarrier } = await load("file_carrier");
    const engine = { stop() {}, search(request, tell) {
      const next = found.shift();
      if (next) queueMicrotask(() => tell({ isDuringSearch: false, searched: 100, resigns: false, opponent: "", raw: null, ownership: null, ...next }));
    } };
    let [told, asked] = [[], []];
    const desk = new Desk((hear) => {
      const file = fileCarrier(facts, engine, hear);
      return { send(query) {
        asked.push(query);
        file.send(query);
      } };
    }, { kept: () => null, keep() {} });
    listen(desk, (message) => told.push(JSON.parse(JSON.stringify(message))));
    const answers = [];
    for (const message of messages) {
      [told, asked] = [[], []];
      desk.send(message);
      for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setTimeout(resolve));
      answers.push({ told, asked });
    }
    return answers;
  },
  async engine({ lives }) {
    const { makeEngine } = await load("engine");
    globalThis.navigator ??= { hardwareConcurrency: 2 };
    globalThis.Worker = class {
      constructor() {
        if (lives === "refused") throw new Error("a policy forbids it");
        setTimeout(() => this.onerror?.());
      }
      postMessage() { if (lives === "ends") this.onmessage?.({ data: { lives: true } }); }
      terminate() {}
    };
    const engine = makeEngine("", { settings: { leaves: 1 } });
    const said = () => new Promise((resolve) => { engine.search({ number: 1 }, resolve, (fault) => resolve(fault.message)); });
    return [await said(), await said()];
  },
  async even({ game, options, games, planes, inputs, settings, levels, pass }) {
    const startOf = await rulesOf(game);
    const { evenLevel } = await load("even_level");
    const evaluate = async (positions) => positions.map((position) => standIn(position, planes, inputs));
    const even = evenLevel(settings, evaluate, pass);
    const found = [];
    for (const moves of games) found.push(await even(startOf(game, options), moves, levels, async () => true));
    return found;
  },
  async weights({ bytes }) {
    return packed((await load("unpacking")).weightsOf(Uint8Array.from(bytes)));
  },
  async search({ game, options, games, planes, inputs, shape, settings, readouts, level, pass, settled, ...model }) {
    const startOf = await rulesOf(game);
    const { TreeSearch } = await load("tree_search");
    const { evaluationOf } = await load("evaluator");
    const { replyOf } = await load("search_reply");
    const { levelChances } = await load("losing_moves");
    const { moveOf, resigns } = await load("move_choice");
    const network = model.manifest && await networkOf(model);
    const evaluate = async (positions) => positions.map((position) => (network
      ? evaluationOf(network.run(position.planes(planes), ...shape), position.legal()) : standIn(position, planes, inputs, settled)));
    const found = [];
    for (const actions of games) {
      const search = new TreeSearch(settings, evaluate, startOf(game, options));
      const told = [];
      const lost = new Set();
      for (const action of [...actions, null]) { // the tree is kept from move to move
        if (readouts) for (let left = readouts; left > 0;) left -= await search.wave(left);
        else await search.expandRoot();
        told.push({ best: search.ranked()[0]?.action ?? search.root.next, move: moveOf(search, pass), analysis: replyOf(search, true, [...search.root.waiting.keys()]), value: search.value,
          level: level && await levelChances(search, level, pass),
          resigns: level && resigns(search, 0.1, shape[0] * shape[1], level, lost), visits: search.root.children.map((child) => [child.action, child.visits]) });
        if (action !== null) search.advance(action);
      }
      found.push(told);
    }
    return found;
  },
};

process.stdout.write(JSON.stringify(await ANSWERS[question.what](question)));
