// Reads recorded analyses with Sabaki's own parser.
//
//     node parse_transcripts.mjs FOLDER PARSER.mjs SIZE:FILE...
//
// FOLDER: where node_modules is. Prints, for each file, what Sabaki would show of its last line.

import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { join, resolve } from "node:path"
import { pathToFileURL } from "node:url"

const [folder, parser, ...files] = process.argv.slice(2)
const { fromDimensions } = createRequire(join(folder, "package.json"))("@sabaki/go-board")
const { parseAnalysis } = await import(pathToFileURL(resolve(parser)))

const seen = files.map((word) => {
  const [size, file] = word.split(/:(.*)/s)
  const lines = readFileSync(file, "utf8").split("\n").filter((line) => line.startsWith("info "))
  const format = file.includes("kata-") ? "float" : "integer"
  return parseAnalysis(lines.at(-1), fromDimensions(+size, +size), format)
})
console.log(JSON.stringify(seen))
