// Ogatak without its window: its engine, queries, board and tree, with what Electron would have given them.
//
//     node drive_ogatak.cjs MODULES ENGINE CONFIG WEIGHTS
//
// MODULES: Ogatak's src/modules. Prints a JSON object: what was seen.

const Module = require("node:module")
const path = require("node:path")

const [modules, engine_path, config_path, weights] = process.argv.slice(2)
const load = Module._load
Module._load = (name, ...rest) => (name === "electron" ? { ipcRenderer: { send() {}, on() {} } } : load(name, ...rest))
global.user_data_path = __dirname
const own = (name) => require(path.resolve(modules, name))
const seen = { alerts: [], nodes: [] }
global.alert = (text) => seen.alerts.push(String(text))
global.stderrbox = { receive() {}, show() {}, hide() {} }
global.config = { language: "English" }
global.config = { ...own("config_io").defaults, language: "English" }

const { valid_analysis_object, node_id_from_search_id } = own("utils")
const new_node = own("node")
const engine = own("engine")()
let node = new_node()
node.set("SZ", "9")
node.set("KM", "7")
node.set("RU", "Chinese")
const heard = []
global.hub = {
  receive_object(o) {
    heard.push(o)
    if (valid_analysis_object(o) && node_id_from_search_id(o.id) === node.id) node.receive_analysis(o)
  },
}

async function until(what, holds) {
  const end = Date.now() + 900000
  while (!holds()) {
    if (Date.now() > end) throw new Error(`no ${what}; ${JSON.stringify(seen)}`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

async function main() {
  engine.setup(engine_path, config_path, weights)
  await until("version", () => engine.received_version)
  for (const move of ["ee", "gc", "cg"]) {
    engine.analyse(node)  // a million visits: it goes on to the next node before they are over
    await until("analysis", () => node.has_valid_analysis() && node.analysis.rootInfo.visits > 20)
    seen.nodes.push({
      winrate: node.stored_winrate(), score: node.stored_score(), moves: node.analysis.moveInfos.length,
      policy: node.best_policy_move(), ownership: node.analysis.ownership.length,
    })
    node = node.try_move(move)
  }
  engine.analyse(node, 5)  // as with its policy modes: few visits, without reports
  await until("short analysis", () => node.has_valid_analysis())
  seen.short = node.analysis.rootInfo.visits
  engine.halt()
  await until("halt", () => engine.running === null)
  seen.errors = heard.filter((o) => o.error)
  seen.version = engine.version
  engine.shutdown()
  console.log(JSON.stringify(seen))
}

main()
