// Sabaki without its window: its controller and state tracker (@sabaki/gtp) attach an engine, set up positions,
// analyse, and play.
//
//     node drive_sabaki.mjs FOLDER ENGINE ARGUMENT...
//
// FOLDER: where node_modules is. Prints a JSON object: what was seen.

import { createRequire } from "node:module"
import { join } from "node:path"

const [folder, path, ...args] = process.argv.slice(2)
const require = createRequire(join(folder, "package.json"))
const { Controller, ControllerStateTracker } = require("@sabaki/gtp")

const controller = new Controller(path, args)
const tracker = new ControllerStateTracker(controller)
const seen = { version: require("@sabaki/gtp/package.json").version }
const ask = async (name, ...words) => {
  const response = await controller.sendCommand({ name, args: words })
  return { error: response.error, content: response.content }
}
const play = (color, vertex) => ({ name: "play", args: [color, vertex] })

// A report every 10 hundredths of a second, until there are some; then a command that ends them, as Sabaki sends it.
async function analyse(command, color, most) {
  const lines = []
  let enough
  const ready = new Promise((resolve) => (enough = resolve))
  const response = controller.sendCommand({ name: command, args: [color, "10"] }, ({ line }) => {
    if (line.startsWith("info ")) lines.push(line)
    if (lines.length >= most) enough()
  })
  await ready
  const interrupted = await ask("protocol_version")
  await response
  return { lines, interrupted }
}

controller.start()
for (const name of ["name", "version", "protocol_version", "list_commands"]) seen[name] = await ask(name)
const commands = seen.list_commands.content.split("\n")
seen.analysis = ["analyze", "kata-analyze", "lz-analyze"].find((name) => commands.includes(name))

await tracker.sync({ komi: 6.5, boardsize: [7, 7], history: [play("B", "D4"), play("W", "C5"), play("B", "E5")] })
seen.board = await ask("showboard")
seen.kata = await analyse("kata-analyze", "W", 3)
seen.lz = await analyse("lz-analyze", "W", 2)

// Another variation: two moves are taken back.
await tracker.sync({ komi: 6.5, boardsize: [7, 7], history: [play("B", "D4"), play("W", "D5")] })
seen.variation = tracker.state.history.map((command) => command.args.join(" "))
seen.genmove = await tracker.queueCommand({ name: "genmove", args: ["B"] }).then(({ content }) => content)
const moves = []
await controller.sendCommand({ name: "kata-genmove_analyze", args: ["W", "10"] }, ({ line }) => moves.push(line))
seen.genmove_analyze = moves

await tracker.sync({ komi: 0.5, boardsize: [9, 9], history: [{ name: "set_free_handicap", args: ["C3", "G7"] }, play("W", "E5")] })
seen.handicap = await ask("showboard")
seen.rectangle = await tracker.sync({ komi: 0.5, boardsize: [9, 7], history: [] }).then(() => "", (error) => error.message)
seen.unknown = await ask("no_such_command")
await controller.stop(60000)
seen.stopped = controller.process == null
console.log(JSON.stringify(seen))
