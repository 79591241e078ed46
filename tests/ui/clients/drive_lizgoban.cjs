// LizGoban without its window: its engine module probes an engine, sets positions, analyses them, and lets it play.
//
//     node drive_lizgoban.cjs SOURCES ENGINE ARGUMENT...
//
// SOURCES: LizGoban's src. Prints a JSON object: what was seen.

const path = require("node:path")

const [sources, command, ...args] = process.argv.slice(2)
const own = (name) => require(path.resolve(sources, `${name}.js`))
Object.assign(global, own("util"), own("coord")) // as its main.js does
global.set_board_size(9)
const { create_leelaz } = own("engine")

const seen = { failures: [], illegal: [] }
// What its main.js hands over with every board.
const AUX = {
  bturn: true, komi: 7, gorule: "chinese", handicaps: 0, init_len: 0, ownership_p: true, humansl_stronger_profile: "",
  humansl_weaker_profile: "", humansl_scan_profiles: [], tmp_humansl_profile: null, analysis_after_raw_nn_p: true,
  avoid_resign_p: false,
}
let suggestion = null
let ready = 0
const engine = create_leelaz()

async function until(what, holds) {
  const end = Date.now() + 900000
  while (!holds()) {
    if (Date.now() > end) throw new Error(`no ${what}; ${JSON.stringify(seen)}`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

async function analysed(history, aux) {
  engine.set_board(history, { ...AUX, ...aux })
  suggestion = null
  await until("analysis", () => suggestion && suggestion.suggest.length > 0 && suggestion.visits > 20)
  const best = suggestion.suggest[0]
  return {
    move: best.move, visits: best.visits, winrate: best.winrate, prior: best.prior, pv: best.pv, pvVisits: best.pvVisits,
    ownership: (suggestion.ownership || []).length, b_winrate: suggestion.b_winrate, score: suggestion.score_without_komi,
  }
}

async function main() {
  const died = (log) => {
    throw new Error(`the engine died: ${JSON.stringify(log)}`)
  }
  engine.start({
    leelaz_command: command, leelaz_args: args, analyze_interval_centisec: 10, minimum_suggested_moves: 5,
    wait_for_startup: true,
    ready_handler: () => (ready += 1), suggest_handler: (h) => (suggestion = h), restart_handler: died, error_handler: died,
    illegal_handler: (h) => seen.illegal.push(h), tuning_handler() {},
    command_failure_handler: (name, info) => seen.failures.push([name, info]),
  })
  await until("readiness", () => ready > 0)
  const features = ["kata-analyze", "kata-raw-nn", "minmoves", "pvVisits", "pvEdgeVisits", "ownershipStdev", "movesOwnership",
    "rootInfo", "allow", "clear_cache", "set_free_handicap", "set_position", "lz-setoption", "kata-search_cancellable"]
  seen.supported = features.filter((name) => engine.is_supported(name))
  seen.katago = engine.is_katago()
  const moves = ["E5", "C3", "G7"].map((move, k) => ({ move, is_black: k % 2 === 0 }))
  seen.first = await analysed(moves, { bturn: false })
  seen.variation = await analysed([...moves.slice(0, 2), { move: "D7", is_black: true }], { bturn: false })
  engine.update_analysis_region([[0, 2], [0, 2]])
  suggestion = null
  await until("analysis of a region", () => suggestion && suggestion.suggest.length > 0)
  seen.region = suggestion.suggest.map((h) => h.move)
  engine.update_analysis_region(null)
  seen.genmove = await new Promise((resolve) => engine.genmove(1, (ok, move) => resolve({ ok, move })))
  seen.peek = await new Promise((resolve) => engine.peek_value(["B2"], resolve))
  engine.kill()
  console.log(JSON.stringify(seen))
  process.exit(0)
}

main()
