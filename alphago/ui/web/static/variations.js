// The tree of variations: each line keeps its row, each variation takes the next free one; a click goes there.

import { h, Part, s } from "./elements.js";
import { COLOURS } from "./geometry.js";
import { say } from "./words.js";

const STEP = 18; // pixels from a node to the next
const EDGE = 12;

export class Variations extends Part {
  element = h("div", { class: "ag-tree", "data-name": "tree", tabindex: 0, "aria-label": say.treeTitle });

  draw() {
    const { state, known: { nodes, game } } = this.app;
    this.element.hidden = nodes.length <= state.line.length; // a line alone stands in the list of moves
    const { places, columns, rows } = this.places();
    const at = (/** @type {number} */ node) => (places.get(node) || [0, 0]).map((place) => place * STEP + EDGE);
    const path = new Set(state.line);
    const parts = [];
    for (const [number, node] of nodes.entries()) {
      const [x, y] = at(number);
      if (node.parent >= 0) {
        const [px, py] = at(node.parent);
        parts.unshift(s("path", { d: `M${px} ${py}V${y}H${x}`, class: path.has(number) ? "ag-branch ag-on" : "ag-branch" }));
      }
      const colour = COLOURS[node.mover] || "root";
      parts.push(s("circle", { cx: x, cy: y, r: number === state.node ? 7.5 : 5.5, "data-node": number,
        class: `ag-knot ag-${colour}${number === state.node ? " ag-current" : ""}`,
        onclick: () => this.app.send("go", { node: number }) },
        s("title", {}, node.mover ? game.names[node.move] : say.start)));
    }
    const [width, height] = [columns, rows].map((count) => count * STEP + 2 * EDGE);
    this.element.replaceChildren(s("svg", { width, height, viewBox: `0 0 ${width} ${height}` }, ...parts));
    const [x, y] = at(state.node);
    this.element.scrollTo({ left: x - this.element.clientWidth / 2, top: y - this.element.clientHeight / 2 });
  }

  // The column and the row of each node.
  places() {
    /** @type {Map<number, [number, number]>} */
    const places = new Map();
    const waiting = [{ node: 0, column: 0, row: 0 }];
    let rows = 0, columns = 0;
    for (let next = waiting.pop(); next; next = waiting.pop()) {
      const { node, column } = next;
      const row = next.row < 0 ? rows + 1 : next.row;
      places.set(node, [column, row]);
      rows = Math.max(rows, row);
      columns = Math.max(columns, column);
      const { children } = this.app.known.nodes[node];
      for (let i = children.length - 1; i >= 0; i -= 1) {
        waiting.push({ node: children[i], column: column + 1, row: i === 0 ? row : -1 });
      }
    }
    return { places, columns, rows };
  }
}
