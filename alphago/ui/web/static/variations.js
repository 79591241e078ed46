// The tree of variations: each line keeps its row, each variation takes the next free one; a click goes there.

import { h, s } from "./elements.js";
import { COLOURS } from "./geometry.js";
import { say } from "./words.js";

const STEP = 18; // pixels from a node to the next
const EDGE = 12;

/** The drawing of the tree; hidden as long as there is only one line. @param {App} app */
export function variations(app) {
  const { tree, tree: { current, nodes, view } } = app.desk;
  const line = tree.line();
  const places = placesOf(nodes);
  const at = (/** @type {number} */ node) => places[node].map((place) => place * STEP + EDGE);
  const branches = nodes.slice(1).map((node) => {
    const [[x, y], [px, py]] = [node.node, node.parent].map(at);
    return s("path", { d: `M${px} ${py}V${y}H${x}`, class: line.includes(node) ? "ag-branch ag-on" : "ag-branch" });
  });
  const knots = nodes.map(({ node, mover, move }) => {
    const [cx, cy] = at(node);
    const isHere = node === current;
    return s(`circle.ag-knot.ag-${COLOURS[mover] || "root"}`, { cx, cy, r: isHere ? 7.5 : 5.5, class: isHere && "ag-current", "data-node": node,
      onclick: () => app.send("go", { node }) }, s("title", mover ? view.names[move] : say.start));
  });
  const [width, height] = [0, 1].map((axis) => Math.max(...places.map((place) => place[axis])) * STEP + 2 * EDGE);
  const isLine = nodes.length <= line.length; // alone it stands in the list of moves
  return h("div.ag-tree#tree", { tabindex: 0, "aria-label": say.treeTitle, hidden: isLine },
    s("svg", { width, height, viewBox: `0 0 ${width} ${height}` }, branches, knots));
}

/** Put the node on the board in the middle of the tree. @param {Element} tree */
export function showNode(tree) {
  const [x, y] = ["cx", "cy"].map((name) => Number(tree.querySelector(".ag-current")?.getAttribute(name)));
  tree.scrollTo({ left: x - tree.clientWidth / 2, top: y - tree.clientHeight / 2 });
}

/** The column and the row of each node: a first child stays in its parent's row, other children begin new rows. @param {Knot[]} nodes */
function placesOf(nodes) {
  /** @type {[number, number][]} */
  const places = [];
  const waiting = [{ node: 0, column: 0, row: 0 }]; // row -1 for a new row
  let rows = 0;
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const { node, column } = next;
    const row = next.row < 0 ? rows + 1 : next.row;
    places[node] = [column, row];
    rows = Math.max(rows, row);
    waiting.push(...nodes[node].children.map((child, i) => ({ node: child, column: column + 1, row: i === 0 ? row : -1 })).reverse());
  }
  return places;
}
