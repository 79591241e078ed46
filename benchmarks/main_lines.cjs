// Prints for each file that is named on the standard input, one to a line, a line of JSON: the moves on the main line of
// each of its games as Sabaki's parser reads them, such as "Bdd", or null for a file that it does not open.
// Usage: node main_lines.cjs FOLDER, with FOLDER/node_modules/@sabaki/sgf

const fs = require('fs')
const path = require('path')
const sgf = require(path.resolve(process.argv[2], 'node_modules', '@sabaki', 'sgf'))

function mainLine(root) {
  const moves = []
  for (let node = root; node != null; node = node.children[0]) {
    for (const [name, values] of Object.entries(node.data)) {
      if ((name === 'B' || name === 'W') && values.length > 0) moves.push(name + values[0].replace(/\s+/g, ''))
    }
  }
  return moves
}

for (const file of fs.readFileSync(0, 'utf8').split('\n').filter(line => line !== '')) {
  let games = null
  try {
    games = sgf.parseFile(file).map(mainLine)
  } catch (error) {}
  fs.writeSync(1, JSON.stringify(games) + '\n')
}
