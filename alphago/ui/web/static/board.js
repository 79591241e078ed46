// A board to play and study on. One module without imports: a page loads it, and so does a notebook's widget.
//
//   mount(element, connection, options)
//
// connection: { send(message), listen(callback) }, whatever carries the messages of alphago.ui.web.commands.
// options.keys: where keys are listened for, `document` on a page of its own (the element itself).
// options.onLink(text): called with the link of the position on the board.
// Returns { send, destroy }.

const SVG = "http://www.w3.org/2000/svg";
const UNIT = 40;
// From the best move to a blunder: blue to orange, which the colour-blind tell apart, and light to dark on either side.
const LOSSES = ["#0b5fa5", "#5aa2d6", "#b9dcf2", "#fcdcae", "#f3a04b", "#cf5510"];
const DARK_TEXT = ["#fff", "#000", "#000", "#000", "#000", "#fff"];
const POINT_STEPS = [0.5, 1.5, 3, 6, 12]; // points lost, as in KaTrain
const RATE_STEPS = [1, 3, 6, 12, 25]; // percent of the chance to win
const MODES = {
  loss: "difference from the best move",
  visits: "visits",
  prior: "prior",
  q: "Q, mean value",
  sum: "Q + prior",
  none: "no numbers",
};
const FAR = 4000; // plies, more than any game has
const ROWS = 6; // of the list of moves
const HOLD = 450; // milliseconds, after which a finger on the board shows a move's line and does not play it
const COLOURS = { 1: "black", "-1": "white" }; // of the two sides, in messages and styles; their names are the game's

export function mount(element, connection, options = {}) {
  const board = new Board(element, connection, options);
  return { send: (message) => connection.send(message), destroy: () => board.destroy() };
}

// What a notebook's widget (anywidget) calls.
export default {
  render({ model, el }) {
    const connection = {
      send: (message) => model.send(message),
      listen: (callback) => {
        model.on("msg:custom", callback);
        return () => model.off("msg:custom", callback);
      },
    };
    const board = mount(el, connection, { widget: true });
    connection.send({ type: "hello" });
    return () => board.destroy();
  },
};

// --- elements ----------------------------------------------------------------------------------------

export function h(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

export function s(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) node.setAttribute(name, value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

const percent = (share, digits = 0) => (100 * share).toFixed(digits);
const short = (count) => (count >= 1e6 ? (count / 1e6).toFixed(1) + "M" : count >= 1e4 ? Math.round(count / 1e3) + "k"
  : count >= 1e3 ? (count / 1e3).toFixed(1) + "k" : String(count));
const margin = (score) => (score > 0 ? "B+" : score < 0 ? "W+" : "") + (score ? Math.abs(score).toFixed(1) : "even");

// --- the board and everything around it --------------------------------------------------------------

class Board {
  constructor(element, connection, options) {
    this.root = element;
    this.connection = connection;
    this.options = options;
    this.welcome = { games: [], networks: [], runs: [] };
    this.game = null;
    this.nodes = new Map();
    this.state = null;
    this.thought = null; // the latest message of the search
    this.look = { mode: "loss", moves: true, ownership: true, numbers: false, sound: false };
    this.hovered = null; // the move whose line is shown
    this.cursor = null; // the point that the keyboard is on
    this.build();
    this.keys = (event) => this.onKey(event);
    this.keyTarget = options.keys || element;
    this.keyTarget.addEventListener("keydown", this.keys);
    this.unlisten = connection.listen((message) => this.receive(message));
  }

  destroy() {
    this.keyTarget.removeEventListener("keydown", this.keys);
    if (typeof this.unlisten === "function") this.unlisten();
    this.root.replaceChildren();
  }

  send(type, fields = {}) {
    this.connection.send({ type, ...fields });
  }

  // --- messages ---

  receive(message) {
    const handler = {
      welcome: () => { this.welcome = message; this.fillNetworks(); },
      game: () => this.setGame(message),
      state: () => this.setState(message),
      thinking: () => this.setThought(message),
      notice: () => this.notice(message.text, message.kind),
      status: () => { this.loading = message.text; this.showStatus(); },
      file: () => download(message.name, message.text),
    }[message.type];
    // A notebook's board may be shown while a game goes on: its own answer to `hello` begins with the game.
    if (this.game === null && (message.type === "state" || message.type === "thinking")) return;
    if (handler) handler();
  }

  setGame(message) {
    this.game = message.game;
    this.names = message.names;
    this.nodes.clear();
    this.state = this.thought = this.hovered = this.cursor = null;
    this.fillNetworks();
    this.title.textContent = this.game.title;
    this.passButton.hidden = this.game.pass === null;
    this.openButton.hidden = false;
    this.root.querySelector(".ag-board").dataset.surface = this.game.surface;
    this.strength.readouts.max = this.game.mostReadouts;
    this.ownershipBox.hidden = !this.game.ownership;
    for (const [i, { side, who }] of this.cards.entries()) {
      side.textContent = this.game.sides[i];
      who.setAttribute("aria-label", `who plays ${this.game.sides[i]}`);
      this.root.style.setProperty(`--${COLOURS[i ? -1 : 1]}`, this.game.colours ? this.game.colours[i] : "");
    }
    this.legend.replaceChildren(h("summary", {}, "Legend"), this.explain());
    this.svg.replaceChildren(); // the position may take a while, and the board of the game before takes no moves
    this.words.replaceChildren();
    this.showStatus();
  }

  setState(message) {
    const before = this.state;
    for (const [node, parent, action, mover] of message.added) {
      this.nodes.set(node, { node, parent, action, mover, children: [], win: null, score: null });
      if (parent >= 0) this.nodes.get(parent).children.push(node);
    }
    for (const [node, win, score] of message.evaluations) this.evaluate(node, win, score);
    this.state = message;
    if (!before || before.node !== message.node) {
      this.hovered = null;
      if (before && this.look.sound && message.view.moves > before.view.moves) click();
      if (before) this.hideNotice("error");
    }
    if (!message.busy) this.thought = null;
    if (this.options.onLink) this.options.onLink(message.link);
    this.render();
  }

  setThought(message) {
    if (!this.state) return;
    this.thought = message;
    const [node, win, score] = message.evaluation;
    this.evaluate(node, win, score);
    if (message.node === this.state.node) this.state.analysis = message.analysis;
    this.later();
  }

  evaluate(node, win, score) {
    const known = this.nodes.get(node);
    if (known) [known.win, known.score] = [win, score];
  }

  later() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      if (this.state) this.render(false);
    });
  }

  notice(text, kind) {
    this.noticeLine.textContent = text;
    this.noticeLine.dataset.kind = kind;
    this.noticeLine.hidden = false;
    clearTimeout(this.noticeTimer);
    if (kind !== "refused") this.noticeTimer = setTimeout(() => this.hideNotice(), 12000);
  }

  hideNotice(kind) {
    if (!kind || this.noticeLine.dataset.kind === kind) this.noticeLine.hidden = true;
  }

  // --- building ---

  build() {
    const button = (text, title, action, name) =>
      h("button", { type: "button", title, onclick: action, "data-name": name }, text);
    const box = (text, title, name) => h("label", { title },
      h("input", { type: "checkbox", checked: this.look[name], "data-look": name,
        onchange: (event) => { this.look[name] = event.target.checked; this.render(); } }), text);
    this.title = h("h2", {});
    this.svg = s("svg", { role: "img", "aria-label": "the board", class: "ag-svg" });
    this.words = h("div", { class: "ag-words", hidden: true });
    this.cards = [1, -1].map((player) => this.card(player));
    this.status = h("p", { class: "ag-status", role: "status", "aria-live": "polite" });
    this.noticeLine = h("p", { class: "ag-notice", role: "alert", hidden: true, onclick: () => this.hideNotice() });
    this.passButton = button("Pass", "pass (P)", () => this.play(this.game.pass), "pass");
    this.openButton = button("Open", "open an SGF file, or drop one on the board", () => this.file.click(), "open");
    this.file = h("input", { type: "file", accept: ".sgf,.json,text/plain", hidden: true, "data-name": "file",
      onchange: () => { this.read(this.file.files[0]); this.file.value = ""; } });
    this.typed = h("input", { type: "text", size: 5, placeholder: "move", "aria-label": "type a move",
      title: "type a move, such as D4, and Enter (/)", "data-name": "typed", autocomplete: "off",
      onkeydown: (event) => { if (event.key === "Enter") this.playTyped(); } });
    this.studyButton = button("Study", "numbers on the board (Space)", () => this.toggle("study"), "study");
    this.analyseButton = button("Analyse", "think about every position that is shown (A)",
      () => this.toggle("analysing"), "analyse");
    this.stopButton = button("Stop", "stop thinking (Escape)", () => this.stop(), "stop");
    this.moveButton = button("Move now", "let the engine move now, for either side (M)",
      () => this.send("move"), "move");
    const play = h("div", { class: "ag-row" },
      this.passButton,
      button("Undo", "take back (U)", () => this.send("undo"), "undo"),
      button("Redo", "play again what was taken back (Y)", () => this.send("redo"), "redo"),
      button("Resign", "give the game up", () => this.send("resign"), "resign"),
      this.moveButton, this.typed);
    const files = h("div", { class: "ag-row" },
      button("New game", "another game, its options, your colour (N)", () => this.openDialog(), "new"),
      this.openButton,
      button("Save", "save the game as a file, with variations and analysis (S)", () => this.send("save"), "save"),
      button("Copy link", "a link that restores this position (L)", () => this.copyLink(), "link"),
      this.file,
      h("label", { title: "a sound at each move" }, h("input", { type: "checkbox", "data-name": "sound",
        onchange: (event) => { this.look.sound = event.target.checked; if (this.look.sound) click(); } }), "sound"));
    const move = h("div", { class: "ag-row ag-steps" },
      ...[["◀◀", "first position (Home)", -FAR, "first"], ["◀", "a move back (←)", -1, "back"],
        ["▶", "a move on (→)", 1, "on"], ["▶▶", "last position (End)", FAR, "last"]].map(
        ([text, title, step, name]) => button(text, title, () => this.step(step), name)),
      this.studyButton, this.analyseButton, this.stopButton);
    this.modes = h("select", { "aria-label": "numbers on the points", title: "numbers on the points (D)", "data-name": "mode",
      onchange: () => { this.look.mode = this.modes.value; this.render(); } },
      ...Object.entries(MODES).map(([name, text]) => h("option", { value: name }, text)));
    this.ownershipBox = box("ownership", "small squares: whose each point becomes (O)", "ownership");
    this.graph = s("svg", { class: "ag-graph", role: "img", "aria-label": "win rate and score by move",
      viewBox: "0 0 320 120", onclick: (event) => this.clickGraph(event) });
    this.graphText = h("p", { class: "ag-small" });
    this.candidates = h("ol", { class: "ag-moves", "data-name": "moves" });
    this.tree = h("div", { class: "ag-tree", "data-name": "tree", tabindex: 0, "aria-label": "tree of variations" });
    this.comment = h("p", { class: "ag-comment" });
    this.study = h("section", { class: "ag-study", hidden: true },
      h("div", { class: "ag-row" }, h("label", {}, "numbers ", this.modes), this.ownershipBox,
        box("move numbers", "the number of each stone's move (K)", "numbers"),
        button("Review", "evaluate every position of this line (R)", () => this.review(), "review")),
      this.candidates, this.graph, this.graphText, this.tree, this.comment,
      this.legend = h("details", { class: "ag-legend", "data-name": "legend" }));
    this.dialog = h("dialog", { class: "ag-dialog", "data-name": "dialog" });
    const frame = h("div", { class: "ag-board", ondragover: (event) => event.preventDefault(),
      ondrop: (event) => { event.preventDefault(); this.read(event.dataTransfer.files[0]); } }, this.svg, this.words);
    this.root.classList.add("ag");
    this.root.replaceChildren(frame, h("div", { class: "ag-side" },
      h("div", { class: "ag-head" }, this.title, this.cards.map((card) => card.element)),
      this.status, this.noticeLine, play, move, this.engineRow(), files, this.study), this.dialog);
    if (this.options.widget) this.root.tabIndex = 0;
    this.root.addEventListener("click", (event) => { // so that Space is the study key again
      if (event.detail && event.target.closest("button")) event.target.closest("button").blur();
    });
    // The board is drawn anew while the engine thinks, perhaps between the press and its release.
    const under = (event) => {
      const target = this.svg.getRootNode().elementFromPoint(event.clientX, event.clientY);
      return target && this.svg.contains(target) ? target.dataset.action : undefined;
    };
    this.svg.addEventListener("pointerdown", (event) => {
      this.pressed = event.button === 0 ? under(event) : undefined;
      if (event.pointerType === "mouse" || !this.lineOf(Number(this.pressed))) return;
      this.holding = setTimeout(() => { // a finger that stays asks, and does not play
        this.hover(Number(this.pressed));
        this.pressed = undefined;
      }, HOLD);
    });
    const release = (event) => {
      clearTimeout(this.holding);
      if (event.pointerType !== "mouse") this.hover(null);
      this.pressed = undefined;
    };
    this.svg.addEventListener("pointercancel", release);
    this.svg.addEventListener("pointerup", (event) => {
      if (this.pressed !== undefined && under(event) === this.pressed) this.play(Number(this.pressed));
      release(event);
    });
    this.svg.addEventListener("contextmenu", (event) => event.pointerType !== "mouse" && event.preventDefault());
    this.svg.addEventListener("pointerleave", () => this.hover(null));
    this.candidates.addEventListener("pointerover", (event) => { // its rows are drawn anew too
      const row = event.target.closest("li");
      if (row && event.pointerType === "mouse") this.hover(Number(row.dataset.action));
    });
    this.candidates.addEventListener("pointerleave", (event) => event.pointerType === "mouse" && this.hover(null));
    this.candidates.addEventListener("pointerdown", (event) => {
      const row = event.target.closest("li");
      if (!row || event.pointerType === "mouse") return;
      const action = Number(row.dataset.action);
      this.hover(this.hovered === action ? null : action);
    });
  }

  card(player) {
    const colour = COLOURS[player];
    const who = h("select", { "data-name": colour, onchange: () => this.send("players", { [colour]: who.value }) },
      h("option", { value: "human" }, "you"), h("option", { value: "engine" }, "engine"));
    const side = h("b", {});
    const captures = h("span", { class: "ag-small" });
    const name = h("span", { class: "ag-small" });
    const element = h("div", { class: "ag-card" }, h("span", { class: `ag-stone ag-${colour}` }), side, who, captures, name);
    return { element, side, who, captures, name };
  }

  side(player) {
    return this.game.sides[player > 0 ? 0 : 1];
  }

  engineRow() {
    const change = () => this.send("strength", this.readStrength());
    const number = (name, title, step, least) => h("input", { type: "number", min: least, step, title,
      "data-name": name, onchange: change });
    this.strength = {
      network: h("select", { "aria-label": "network", "data-name": "network", onchange: change }),
      how: h("select", { "aria-label": "how the engine chooses", "data-name": "how", onchange: change },
        h("option", { value: "tree" }, "network and tree"), h("option", { value: "net" }, "network alone")),
      by: h("select", { "aria-label": "limit of a move", "data-name": "by", onchange: change },
        h("option", { value: "readouts" }, "readouts"), h("option", { value: "seconds" }, "seconds")),
      readouts: number("readouts", "simulations for each move", 1, 1),
      seconds: number("seconds", "seconds for each move", 0.1, 0.1),
    };
    return h("div", { class: "ag-row ag-engine" }, h("span", {}, "Engine"), ...Object.values(this.strength));
  }

  readStrength() {
    const { network, how, by, readouts, seconds } = this.strength;
    const bySeconds = by.value === "seconds";
    const wishes = { network: network.value, tree: how.value === "tree" };
    wishes.seconds = bySeconds ? Number(seconds.value) || 2 : null;
    wishes.readouts = bySeconds ? null : Math.round(Number(readouts.value)) || 200;
    return wishes;
  }

  fillNetworks() {
    if (!this.game) return;
    const shown = (name) => (name === "playouts" ? "random playouts" : name);
    this.strength.network.replaceChildren(...this.game.networks.map((name) => h("option", { value: name }, shown(name))));
    if (this.state) this.strength.network.value = this.state.strength.network;
  }

  explain() {
    const [first, second] = this.game.sides;
    const swatch = (colour) => s("svg", { viewBox: "0 0 20 20", class: "ag-swatch" },
      s("circle", { cx: 10, cy: 10, r: 8, fill: colour }));
    const range = (steps, unit) => LOSSES.map((colour, i) => h("li", {}, swatch(colour),
      i < steps.length ? `up to ${steps[i]} ${unit}` : `more than ${steps[i - 1]} ${unit}`));
    const owner = (colour, stroke) => s("svg", { viewBox: "0 0 20 20", class: "ag-swatch" },
      s("rect", { x: 4, y: 4, width: 12, height: 12, fill: colour, stroke, "stroke-width": 1.5 }));
    return h("div", {},
      h("p", {}, "A coloured disc is a move that the engine has tried; the ring is around the best one. ",
        "A faint disc has few visits; with less than a hundredth of the best one's there is none. Its colour is what the move gives away against the best:"),
      h("ul", {}, range(POINT_STEPS, "points")),
      h("p", {}, `where no score is known, the chance to win, in steps of ${RATE_STEPS.join(", ")} %.`),
      h("p", {}, "Numbers, from the view of the side to move: ", h("b", {}, "difference"),
        " in points (else in % of the chance to win), visits below it; ", h("b", {}, "visits"),
        ", simulations through the move; ", h("b", {}, "prior"), ", what the network alone gives it, in %; ",
        h("b", {}, "Q"), ", the mean value of its simulations, −1 to 1; ", h("b", {}, "Q + prior"), ", their sum."),
      h("p", {}, "Point at a move to see the line that is expected, numbered: with the mouse, with a finger that stays on it, ",
        "by a tap in the list, with the cursor, or with the keys 1 to 6 in the list's order."),
      h("ul", {}, h("li", {}, owner("#111", "#fff"), `becomes ${first}'s`), h("li", {}, owner("#fff", "#111"),
        `becomes ${second}'s; a larger square is surer`), this.game.mark && h("li", {}, `□ ${this.game.mark}`),
        h("li", {}, "○ in the stone: the last move")),
      h("p", {}, `Graph: the line is ${first}'s chance to win, 100 % on top; the dashed line is ${first}'s lead in points. `,
        `Click it to go there. Chances and leads are always ${first}'s, whoever is to move.`),
      h("p", {}, "Keys: ← → a move back or on, Home End first and last, ↑ ↓ other variations, Space study, A analyse, ",
        "Escape stop, M engine moves, P pass, U undo, Y redo, N new game, R review, D other numbers, O ownership, ",
        "K move numbers, 1 to 6 the lines of the listed moves, S save, L copy the link, / type a move; ",
        "Shift and arrows move a cursor on the board, Enter plays there."));
  }

  // --- actions ---

  play(action) {
    if (action !== null && this.state) this.send("play", { move: action });
  }

  playTyped() {
    const text = this.typed.value.trim();
    if (text) this.send("play", { move: text });
    this.typed.value = "";
  }

  // Keys may come faster than answers: what they ask for is counted from where the board then is.
  toggle(what) {
    if (this.state) this.send("toggle", { what });
  }

  step(count) {
    if (this.state) this.send("step", { count });
  }

  sibling(direction) {
    if (this.state) this.send("variation", { direction });
  }

  review() {
    if (!this.state.study) return;
    const readouts = this.state.strength.readouts || 100;
    this.send("review", { readouts: this.state.strength.tree ? readouts : 1 });
  }

  async copyLink() {
    const link = `${location.origin}${location.pathname}#${this.state.link}`;
    try {
      await navigator.clipboard.writeText(link);
      this.notice("The link is in the clipboard.", "hint");
    } catch {
      this.notice(link, "hint");
    }
  }

  async read(file) {
    if (!file) return;
    if (file.size > 900000) this.notice("A file must have at most 900 kB.", "error");
    else this.send("open", { text: await file.text() });
  }

  onKey(event) {
    const inField = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName || "") || this.dialog.open;
    if (inField || event.ctrlKey || event.metaKey || event.altKey || !this.state) return;
    if (this.options.isShown && !this.options.isShown()) return;
    const onButton = event.target.tagName === "BUTTON" || event.target.tagName === "SUMMARY";
    if (onButton && (event.key === " " || event.key === "Enter")) return;
    const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    if (event.shiftKey && moves[event.key]) {
      this.moveCursor(...moves[event.key]);
      event.preventDefault();
      return;
    }
    const action = {
      ArrowLeft: () => this.step(-1), ArrowRight: () => this.step(1), Home: () => this.step(-FAR),
      End: () => this.step(FAR), ArrowUp: () => this.sibling(-1), ArrowDown: () => this.sibling(1),
      " ": () => this.toggle("study"), a: () => this.toggle("analysing"), Escape: () => this.stop(),
      m: () => this.send("move"), p: () => this.play(this.game.pass), u: () => this.send("undo"),
      y: () => this.send("redo"), n: () => this.openDialog(), o: () => this.flip("ownership"),
      k: () => this.flip("numbers"), "/": () => this.typed.focus(), Enter: () => this.playCursor(),
      d: () => this.nextMode(), r: () => this.review(), s: () => this.send("save"), l: () => this.copyLink(),
      ...Object.fromEntries(Array.from({ length: ROWS }, (_, row) => [row + 1, () => this.showLine(row)])),
    }[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (action) {
      action();
      event.preventDefault();
    }
  }

  stop() {
    this.hover(null);
    this.send("stop");
  }

  nextMode() {
    const all = Object.keys(MODES);
    this.modes.value = this.look.mode = all[(all.indexOf(this.look.mode) + 1) % all.length];
    this.render();
  }

  // The line of a listed move, by its row; the same again hides it.
  showLine(row) {
    const move = this.analysis()?.moves[row];
    if (move) this.hover(this.hovered === move[0] ? null : move[0]);
  }

  flip(name) {
    this.look[name] = !this.look[name];
    const input = this.root.querySelector(`[data-look="${name}"]`);
    if (input) input.checked = this.look[name];
    this.render();
  }

  moveCursor(dx, dy) {
    const rows = this.rows();
    if (!rows.length) return;
    const middle = Math.floor(rows.length / 2);
    const [x, y] = this.cursor || [Math.floor(rows[middle].length / 2), middle];
    const row = this.cursor ? (y + dy + rows.length) % rows.length : y;
    this.cursor = [this.cursor ? (x + dx + rows[row].length) % rows[row].length : x, row];
    this.hovered = this.cursorAction(); // so that the cursor shows a move's line, as the mouse does
    this.render();
  }

  // The actions that can be clicked, by rows from the top, each from the left.
  rows() {
    const rows = new Map();
    for (const { action, spots } of this.areas()) {
      const [x, y] = [0, 1].map((axis) => (spots.reduce((sum, spot) => sum + spot[axis], 0) / spots.length).toFixed(3));
      rows.set(y, [...(rows.get(y) || []), [x, action]]);
    }
    const sorted = [...rows].sort(([one], [other]) => one - other);
    return sorted.map(([, row]) => row.sort(([one], [other]) => one - other).map(([, action]) => action));
  }

  cursorAction() {
    const [x, y] = this.cursor;
    return this.rows()[y]?.[x] ?? null;
  }

  playCursor() {
    if (this.cursor) this.play(this.cursorAction());
  }

  // The analysed move of an action, whose line can be shown.
  lineOf(action) {
    return this.analysis()?.moves.find((move) => move[0] === action);
  }

  hover(action) {
    if (this.hovered === action) return;
    this.hovered = action;
    if (this.state) this.render(false);
  }

  // --- rendering ---

  render(all = true) {
    this.showStatus();
    this.drawBoard();
    if (all) {
      this.showControls();
      this.drawTree();
    }
    if (this.state.study) {
      this.listMoves();
      this.drawGraph();
    }
  }

  analysis() {
    return this.state.study && !this.state.over ? this.state.analysis : null;
  }

  showControls() {
    const { state } = this;
    this.cards.forEach((card, i) => {
      card.who.value = state.players[i];
      card.element.classList.toggle("ag-turn", !state.over && state.view.toPlay === (i ? -1 : 1));
      card.captures.hidden = !state.view.captures || this.game.stores.length > 0;
      if (state.view.captures) card.captures.textContent = `${state.view.captures[i]} captured`;
      card.name.textContent = this.names[i];
    });
    const { network, how, by, readouts, seconds } = this.strength;
    network.value = state.strength.network;
    how.value = state.strength.tree ? "tree" : "net";
    by.value = state.strength.seconds ? "seconds" : "readouts";
    how.hidden = network.value === "playouts";
    by.hidden = readouts.hidden = seconds.hidden = !state.strength.tree;
    readouts.hidden ||= by.value === "seconds";
    seconds.hidden ||= by.value !== "seconds";
    readouts.value = state.strength.readouts || 200;
    seconds.value = state.strength.seconds || 2;
    this.study.hidden = !state.study;
    this.studyButton.setAttribute("aria-pressed", state.study);
    this.analyseButton.setAttribute("aria-pressed", state.analysing);
    this.stopButton.disabled = !state.busy && !state.analysing;
    this.passButton.disabled = this.game.pass === null || !state.view.legal.includes(this.game.pass) || state.over;
    this.moveButton.disabled = state.over;
    this.root.querySelector("[data-name=resign]").disabled = state.over;
    this.root.querySelector("[data-name=redo]").disabled = state.line[state.line.length - 1] === state.node;
    this.root.querySelector("[data-name=undo]").disabled = state.node === 0 && !state.over;
    this.comment.textContent = state.comment;
    this.comment.hidden = !state.comment;
  }

  showStatus() {
    const { state, thought } = this;
    if (this.loading) this.status.textContent = this.loading;
    else if (!state) this.status.textContent = this.game ? "Setting up the board …" : "Connecting …";
    else if (state.over) this.status.textContent = `${state.result.text}.`;
    else {
      const side = this.side(state.view.toPlay);
      const turn = state.players[state.view.toPlay > 0 ? 0 : 1] === "human" ? "your move" : "the engine's move";
      const text = [`Move ${state.view.moves + 1}: ${side} to play, ${turn}`];
      if (thought && state.busy) {
        const limit = thought.purpose !== "analyse" && thought.limit && thought.limit < 1e5 ? ` of ${thought.limit}` : "";
        const best = thought.analysis.moves[0];
        text.push(`thinking: ${thought.analysis.visits > 1 ? short(thought.readouts) + limit : "0"} readouts`,
          `${short(thought.rate)}/s`);
        if (thought.purpose === "review") text.push(`${thought.left} positions left`);
        else text.push(`${this.side(1)} wins with ${percent(thought.analysis.win)} %`,
          best ? best[5].slice(0, 6).map((move) => this.game.names[move]).join(" ") : "");
      } else if (state.busy) text.push("thinking …");
      this.status.textContent = text.filter(Boolean).join(" · ");
    }
    this.root.classList.toggle("ag-busy", Boolean(state && state.busy));
  }

  // --- the board, as its game describes it (alphago/env/board_view.py) ---

  // The cell in which an action's piece lands: the first free one of its cells, else the last; null for a pass.
  landing(action, player, isFree) {
    const cells = this.game.places[player > 0 ? 0 : 1][action] || [];
    return cells.find(isFree) ?? cells.at(-1) ?? null;
  }

  // The middle of a cell on the screen.
  at(cell) {
    const [x, y] = this.game.cells[cell];
    return [x * UNIT, y * UNIT];
  }

  // The actions that the side to move can click, each with the middles of its cells.
  areas() {
    const { cells, places } = this.game;
    const own = places[this.state.view.toPlay > 0 ? 0 : 1];
    return own.map((each, action) => ({ action, spots: each.map((cell) => cells[cell]) })).filter(({ spots }) => spots.length);
  }

  drawBoard() {
    const { surface, size, margin } = this.game;
    const text = surface === "text";
    this.svg.toggleAttribute("hidden", text);
    this.drawWords(text);
    if (text) return;
    const box = [-margin, -margin, size[0] + 2 * margin, size[1] + 2 * margin].map((length) => length * UNIT);
    this.svg.setAttribute("viewBox", box.join(" "));
    this.svg.replaceChildren(...this.ground(box), ...(this.state.view.seeds ? this.seeds() : this.stones()), ...this.stores(),
      ...this.overlays(), ...this.targets());
  }

  // Buttons for the actions that have no place on the board, and the board in letters where it has no cells.
  drawWords(text) {
    const { view } = this.state;
    const clicked = new Set(this.areas().map(({ action }) => action));
    const others = view.legal.filter((action) => !clicked.has(action) && (text || action !== this.game.pass)).slice(0, 400);
    this.words.hidden = !text && !others.length;
    this.words.replaceChildren(...(text ? [h("pre", {}, view.drawing)] : []), h("div", { class: "ag-row" },
      ...others.map((action) => h("button", { type: "button", "data-action": action,
        onclick: () => this.play(action) }, this.game.names[action]))));
  }

  ground([left, top, wide, high]) {
    const { surface, size, cells, lines, labels, stars } = this.game;
    const parts = [s("rect", { x: left, y: top, width: wide, height: high, class: "ag-wood" })];
    if (surface === "holes") {
      parts.push(s("rect", { x: 0, y: 0, width: size[0] * UNIT, height: size[1] * UNIT, class: "ag-frame" }),
        ...cells.filter((_, cell) => this.state.view.stones[cell] === ".").map(([x, y]) => s("circle", { cx: x * UNIT,
          cy: y * UNIT, r: this.game.stone * UNIT, class: "ag-hole" })));
    }
    const path = lines.map((ends) => ends.map((length) => length * UNIT)).map(([x, y, u, v]) => `M${x} ${y}L${u} ${v}`);
    if (path.length) parts.push(s("path", { d: path.join(""), class: "ag-lines" }));
    for (const [cx, cy] of stars.map((cell) => this.at(cell))) parts.push(s("circle", { cx, cy, r: 4, class: "ag-star" }));
    return [...parts, ...labels.map(([x, y, text]) => s("text", { x: x * UNIT, y: y * UNIT, class: "ag-label" }, text))];
  }

  stones() {
    const { view } = this.state;
    const parts = [];
    const numbers = this.look.numbers ? this.moveNumbers() : new Map();
    [...view.stones].forEach((sign, cell) => {
      if (sign === ".") return;
      const [x, y] = this.at(cell);
      const colour = COLOURS[sign === "X" ? 1 : -1];
      parts.push(s("circle", { cx: x, cy: y, r: this.game.stone * UNIT, class: `ag-piece ag-${colour}` }));
      if (numbers.has(cell)) parts.push(s("text", { x, y, class: `ag-number ag-on-${colour}` }, numbers.get(cell)));
    });
    if (view.last !== null && !numbers.has(view.last)) {
      const [cx, cy] = this.at(view.last);
      parts.push(s("circle", { cx, cy, r: 11.5, class: view.stones[view.last] === "X" ? "ag-last ag-on-black" : "ag-last" }));
    }
    for (const [x, y] of view.ko.map((cell) => this.at(cell))) {
      parts.push(s("rect", { x: x - 8, y: y - 8, width: 16, height: 16, class: "ag-ko" }));
    }
    return parts;
  }

  // The number of the move that each stone came with, by cell.
  moveNumbers() {
    const path = [];
    for (let node = this.nodes.get(this.state.node); node && node.parent >= 0; node = this.nodes.get(node.parent)) {
      path.push(node);
    }
    const numbers = new Map();
    path.reverse().forEach(({ action, mover }, i) => {
      const cell = this.landing(action, mover, (each) => !numbers.has(each));
      if (cell !== null) numbers.set(cell, i + 1);
    });
    return numbers;
  }

  seeds() {
    const { view } = this.state;
    const live = new Set(view.legal.map((action) => this.landing(action, view.toPlay, () => true)));
    return view.seeds.flatMap((seeds, cell) => {
      const [x, y] = this.at(cell);
      const group = [s("circle", { cx: x, cy: y, r: this.game.stone * UNIT, class: live.has(cell) ? "ag-house ag-live" : "ag-house" })];
      for (let i = 0; i < Math.min(seeds, 24); i += 1) {
        const turn = i * 2.4;
        const far = 4.3 * Math.sqrt(i);
        group.push(s("circle", { cx: x + far * Math.cos(turn), cy: y + far * Math.sin(turn), r: 3.6, class: "ag-seed" }));
      }
      return [...group, s("text", { x: x + 21, y: y + 21, class: "ag-count" }, seeds)];
    });
  }

  stores() {
    return this.game.stores.flatMap((lengths, i) => {
      const [x, y, width, height] = lengths.map((length) => length * UNIT);
      return [s("rect", { x, y, width, height, rx: 20, class: "ag-house" }),
        s("text", { x: x + width / 2, y: y + height / 2, class: "ag-store" }, this.state.view.captures[i]),
        s("text", { x: x + width / 2, y: y + height + 0.3 * UNIT, class: "ag-label" }, this.game.sides[i])];
    });
  }

  // --- overlays ---

  overlays() {
    const found = this.analysis();
    const parts = [];
    const line = this.hovered === null ? null : this.lineOf(this.hovered);
    const above = !found ? [] : line && this.state.view.stones ? this.ghosts(line[5], found.mover) : this.discs(found);
    if (found && found.ownership && this.look.ownership && this.game.ownership) {
      const hidden = new Set(above.map((one) => one.dataset.at).filter(Boolean).map(Number));
      parts.push(...this.owners(found.ownership, hidden));
    }
    parts.push(...above);
    const chosen = this.cursor ? this.cursorAction() : null;
    if (chosen !== null) {
      const [x, y] = this.at(this.landing(chosen, this.state.view.toPlay, () => false));
      parts.push(s("rect", { x: x - 19, y: y - 19, width: 38, height: 38, class: "ag-cursor" }));
    }
    return parts;
  }

  owners(ownership, hidden) {
    return ownership.map((value, i) => {
      const side = 15 * Math.sqrt(Math.abs(value) / 100);
      if (Math.abs(value) < 8 || hidden.has(i)) return null;
      const [x, y] = this.at(i);
      return s("rect", { x: x - side / 2, y: y - side / 2, width: side, height: side,
        class: value > 0 ? "ag-owner ag-owner-black" : "ag-owner ag-owner-white" });
    }).filter(Boolean);
  }

  // What a move gives away against the best: [class of LOSSES, text].
  loss(move, best) {
    if (move[4] !== null && best[4] !== null) {
      const lost = best[4] - move[4];
      return [POINT_STEPS.filter((step) => lost > step).length, move === best ? "0" : (-lost).toFixed(1)];
    }
    if (move[3] === null || best[3] === null) return [null, ""];
    const lost = 100 * (best[3] - move[3]);
    return [RATE_STEPS.filter((step) => lost > step).length, move === best ? "0" : `${(-lost).toFixed(0)}%`];
  }

  numberOf(move, best) {
    const q = move[3] === null ? null : 2 * move[3] - 1;
    const signed = (value) => (value < 0 ? "−" : "") + Math.abs(value).toFixed(2).replace(/^0\./, ".");
    return {
      loss: () => [this.loss(move, best)[1].replace("-", "−").replace(/^−0(\.0)?%?$/, "0"), short(move[1])],
      visits: () => [move[1] ? short(move[1]) : "", ""],
      prior: () => [percent(move[2], move[2] < 0.095 ? 1 : 0), ""],
      q: () => [q === null ? "" : signed(q), ""],
      sum: () => [q === null ? "" : signed(q + move[2]), ""],
      none: () => ["", ""],
    }[this.look.mode]();
  }

  discs(found) {
    const best = found.moves[0];
    const most = best ? best[1] : 0;
    const stones = this.state.view.stones || [];
    const parts = [];
    const byPrior = this.look.mode === "prior";
    for (const move of [...found.moves].reverse()) {
      const cell = this.landing(move[0], found.mover, (each) => stones[each] === ".");
      if (cell === null || (!byPrior && most > 0 && move[1] < Math.max(1, most / 100))) continue; // too few visits to mean much
      const kind = move[1] && most ? this.loss(move, best)[0] : null;
      const fill = kind === null ? "#5aa2d6" : LOSSES[kind];
      const few = byPrior || !most ? 0.35 + 0.65 * Math.sqrt(move[2]) : 0.35 + 0.65 * Math.min(1, (move[1] / most) ** 0.5);
      const [first, second] = this.numberOf(move, best);
      const colour = few < 0.6 || kind === null ? "#000" : DARK_TEXT[kind];
      const [x, y] = this.at(cell);
      parts.push(s("circle", { cx: x, cy: y, r: 17.5, class: "ag-base" }));
      parts.push(s("circle", { cx: x, cy: y, r: 17.5, fill, "fill-opacity": few.toFixed(2), class: "ag-disc",
        "data-move": this.game.names[move[0]], "data-at": move[0] }));
      if (move === best) parts.push(s("circle", { cx: x, cy: y, r: 18, class: "ag-best" }));
      if (first) parts.push(s("text", { x, y: second ? y - 4 : y, class: first.length > 4 ? "ag-value ag-long" : "ag-value",
        fill: colour }, first));
      if (first && second) parts.push(s("text", { x, y: y + 9, class: "ag-visits", fill: colour }, second));
    }
    return parts;
  }

  ghosts(line, mover) {
    const stones = [...this.state.view.stones];
    const parts = [];
    const shown = new Set();
    line.forEach((action, i) => {
      const player = i % 2 ? -mover : mover;
      const cell = this.landing(action, player, (each) => stones[each] === ".");
      if (cell === null || shown.has(cell)) return;
      shown.add(cell);
      stones[cell] = player > 0 ? "X" : "O";
      const [x, y] = this.at(cell);
      parts.push(s("circle", { cx: x, cy: y, r: 17, class: `ag-piece ag-ghost ag-${COLOURS[player]}`, "data-at": cell }),
        s("text", { x, y, class: `ag-number ag-on-${COLOURS[player]}` }, i + 1));
    });
    return parts;
  }

  // Transparent areas that are clicked.
  targets() {
    const { view, over } = this.state;
    const legal = new Set(view.legal);
    const reach = this.game.reach * UNIT;
    const square = ([x, y]) => `M${x * UNIT - reach} ${y * UNIT - reach}h${2 * reach}v${2 * reach}h${-2 * reach}z`;
    return this.areas().map(({ action, spots }) => s("path", { d: spots.map(square).join(""),
      class: over || !legal.has(action) ? "ag-target" : "ag-target ag-open",
      "data-action": action, "data-point": this.game.names[action],
      onpointerenter: (event) => event.pointerType === "mouse" && this.hover(action) }));
  }

  listMoves() {
    const found = this.analysis();
    const rows = found ? found.moves.slice(0, ROWS) : [];
    const best = rows[0];
    this.candidates.replaceChildren(...rows.map((move) => {
      const [kind] = move[1] ? this.loss(move, best) : [null];
      const words = [move[1] ? `${percent(move[3], 1)} %` : "", move[4] === null ? "" : `${move[4] > 0 ? "+" : move[4] < 0 ? "−" : ""}${Math.abs(move[4])}`,
        `${short(move[1])} visits`, `prior ${percent(move[2], 1)} %`].filter(Boolean).join(", ");
      const dot = s("svg", { viewBox: "0 0 20 20", class: "ag-swatch" },
        s("circle", { cx: 10, cy: 10, r: 8, fill: kind === null ? "#999" : LOSSES[kind] }));
      return h("li", { class: this.hovered === move[0] ? "ag-chosen" : "", "data-action": move[0] },
        dot, h("b", {}, this.game.names[move[0]]), ` ${words}`,
        h("span", { class: "ag-small" }, ` ${move[5].slice(0, 8).map((one) => this.game.names[one]).join(" ")}`));
    }));
  }

  // --- graph and tree ---

  drawGraph() {
    const { line, node } = this.state;
    const all = line.map((number) => this.nodes.get(number));
    const width = 320, height = 120, left = 30, right = 30, top = 6, bottom = 14;
    const x = (i) => left + (width - left - right) * (all.length > 1 ? i / (all.length - 1) : 0);
    const y = (share) => top + (height - top - bottom) * (1 - share);
    const most = Math.max(5, ...all.map((one) => Math.abs(one.score ?? 0)));
    const path = (value) => {
      let open = false;
      return all.map((one, i) => {
        const share = value(one);
        if (share === null) { return ""; }
        const text = `${open ? "L" : "M"}${x(i).toFixed(1)} ${y(share).toFixed(1)}`;
        open = true;
        return text;
      }).join("");
    };
    const label = (px, py, text, anchor, kind = "") => s("text", { x: px, y: py, "text-anchor": anchor,
      class: `ag-axis ${kind}` }, text);
    const at = all.findIndex((one) => one.node === node);
    const dots = all.filter((one) => one.win !== null).length < 60 ? all.map((one, i) => (one.win === null ? null
      : s("circle", { cx: x(i), cy: y(one.win), r: 1.8, class: "ag-win-dot" }))).filter(Boolean) : [];
    const scored = all.some((one) => one.score !== null);
    this.graph.replaceChildren(
      s("rect", { x: left, y: top, width: width - left - right, height: height - top - bottom, class: "ag-plot" }),
      s("path", { d: `M${left} ${y(0.5)}H${width - right}`, class: "ag-even" }),
      s("path", { d: `M${x(at)} ${top}V${height - bottom}`, class: "ag-here" }),
      s("path", { d: path((one) => (one.score === null ? null : 0.5 + one.score / (2 * most))), class: "ag-score-line" }),
      s("path", { d: path((one) => one.win), class: "ag-win-line" }), ...dots,
      label(left - 3, y(1) + 7, "100%", "end"), label(left - 3, y(0.5) + 3, "50%", "end"), label(left - 3, y(0), "0%", "end"),
      ...(scored ? [label(width - right + 3, y(1) + 7, `B+${most.toFixed(0)}`, "start", "ag-score-axis"),
        label(width - right + 3, y(0), `W+${most.toFixed(0)}`, "start", "ag-score-axis")] : []),
      label(left, height - 3, "0", "middle"), label(width - right, height - 3, String(all.length - 1), "middle"));
    const here = this.nodes.get(node);
    this.graphText.textContent = here.win === null ? "This position was not evaluated yet."
      : `${this.side(1)} wins with ${percent(here.win, 1)} %` + (here.score === null ? "" : `, expected ${margin(here.score)}`)
        + (this.state.analysis ? `, ${short(this.state.analysis.visits)} visits` : "");
  }

  clickGraph(event) {
    const { line } = this.state;
    const box = this.graph.getBoundingClientRect();
    const share = ((event.clientX - box.left) / box.width * 320 - 30) / (320 - 60);
    const index = Math.round(Math.min(Math.max(share, 0), 1) * (line.length - 1));
    this.send("go", { node: line[index] });
  }

  drawTree() {
    if (!this.state.study) return;
    const places = new Map();
    const stack = [[0, 0, 0]];
    let rows = 0, columns = 0;
    while (stack.length) { // each line keeps its row, each variation takes the next free one
      let [node, column, row] = stack.pop();
      if (row < 0) row = rows + 1;
      places.set(node, [column, row]);
      rows = Math.max(rows, row);
      columns = Math.max(columns, column);
      const { children } = this.nodes.get(node);
      for (let i = children.length - 1; i >= 0; i -= 1) stack.push([children[i], column + 1, i === 0 ? row : -1]);
    }
    const [w, hgt] = [columns * 18 + 24, rows * 18 + 24];
    const at = (node) => places.get(node).map((place) => place * 18 + 12);
    const path = new Set(this.state.line);
    const parts = [];
    for (const [number, node] of this.nodes) {
      const [x, y] = at(number);
      if (node.parent >= 0) {
        const [px, py] = at(node.parent);
        parts.unshift(s("path", { d: `M${px} ${py}V${y}H${x}`, class: path.has(number) ? "ag-branch ag-on" : "ag-branch" }));
      }
      const colour = COLOURS[node.mover] || "root";
      parts.push(s("circle", { cx: x, cy: y, r: number === this.state.node ? 7.5 : 5.5, "data-node": number,
        class: `ag-knot ag-${colour}${number === this.state.node ? " ag-current" : ""}`,
        onclick: () => this.send("go", { node: number }) },
        s("title", {}, node.mover ? this.game.names[node.action] : "start")));
    }
    this.tree.replaceChildren(s("svg", { width: w, height: hgt, viewBox: `0 0 ${w} ${hgt}` }, ...parts));
    const [x, y] = at(this.state.node);
    this.tree.scrollTo({ left: x - this.tree.clientWidth / 2, top: y - this.tree.clientHeight / 2 });
  }

  // --- a new game ---

  openDialog() {
    const { games } = this.welcome;
    const known = games.length ? games : [this.game];
    const choose = h("select", { "data-name": "new-game" }, ...known.map((one) => h("option", { value: one.name }, one.title)));
    choose.value = this.game.name;
    const fields = h("div", { class: "ag-fields" });
    const colour = h("select", { "data-name": "new-colour" });
    const players = this.state ? this.state.players.join() : "human,engine";
    const own = { "human,engine": "black", "engine,human": "white", "human,human": "both" }[players] || "neither";
    let options = [];
    const fill = () => {
      const one = [this.game, ...known].find((each) => each.name === choose.value);
      const chosen = colour.value || own;
      options = one.options.map((option) => [option, this.field(option)]);
      for (const [option, input] of options) {
        const other = options.find(([each]) => each.name === option.follows);
        if (other) other[1].addEventListener("change", () => { input.value = option.usual[other[1].value] ?? input.value; });
      }
      fields.replaceChildren(...options.map(([option, input]) => h("label", {}, option.title, input)));
      colour.replaceChildren(...[["black", one.sides[0]], ["white", one.sides[1]], ["both", "both sides"],
        ["neither", "neither: engine against engine"]].map(([value, text]) => h("option", { value }, text)));
      colour.value = chosen;
    };
    choose.addEventListener("change", fill);
    fill();
    const start = () => {
      const wishes = { game: choose.value, options: {}, setup: {} };
      for (const [option, input] of options) {
        const value = input.type === "number" ? (input.value === "" ? null : Number(input.value)) : input.value;
        (option.at_start ? wishes.setup : wishes.options)[option.name] = value;
      }
      const mine = colour.value;
      this.dialog.close();
      this.send("new", { ...wishes, black: mine === "black" || mine === "both" ? "human" : "engine",
        white: mine === "white" || mine === "both" ? "human" : "engine" });
    };
    this.dialog.replaceChildren(h("h2", {}, "New game"), h("label", {}, "Game", choose), fields,
      h("label", {}, "You play", colour), h("div", { class: "ag-row" },
        h("button", { type: "button", onclick: start, "data-name": "begin", class: "ag-main" }, "Begin"),
        h("button", { type: "button", onclick: () => this.dialog.close() }, "Cancel")));
    this.dialog.onkeydown = (event) => { if (event.key === "Enter" && event.target.tagName !== "BUTTON") start(); };
    this.dialog.showModal();
    choose.focus();
  }

  // The input of an option, see alphago/env/game_options.py.
  field({ name, value, choices, least, most, step }) {
    if (choices.length) {
      const input = h("select", { "data-option": name }, ...choices.map((one) => h("option", { value: one }, one)));
      input.value = value;
      return input;
    }
    if (typeof value !== "number") return h("input", { "data-option": name, type: "text", value });
    return h("input", { "data-option": name, type: "number", value, min: least, max: most, step });
  }
}

function download(name, text) {
  const address = URL.createObjectURL(new Blob([text], { type: "application/octet-stream" }));
  const link = h("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}

let audio = null;

function click() {
  audio ||= new AudioContext();
  const length = 0.05 * audio.sampleRate;
  const buffer = audio.createBuffer(1, length, audio.sampleRate);
  const data = buffer.getChannelData(0);
  for (let i = 0; i < length; i += 1) data[i] = (Math.random() * 2 - 1) * Math.exp(-i / (0.006 * audio.sampleRate));
  const source = audio.createBufferSource();
  source.buffer = buffer;
  source.connect(audio.destination);
  source.start();
}
