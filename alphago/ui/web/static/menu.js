// The menu, with what is seldom needed: another game, files, the engine, settings, what the colours mean, the keys.

import { LOSSES, POINT_STEPS, RATE_STEPS } from "./candidates.js";
import { click } from "./effects.js";
import { h, s, select } from "./elements.js";
import { openDialog } from "./game_dialog.js";
import { box, button, dot, swatch } from "./icons.js";
import { buttons, fill, legend, say } from "./words.js";

const USUAL = { readouts: 200, seconds: 2 }; // the limit if its field is empty
const INKS = ["#111", "#fff"];

/** @param {App} app */
export function menuPane(app) {
  const { desk: { strength: { network }, tree, tree: { view } }, look, options: { take } } = app;
  const kind = view.sgf ? "SGF" : say.file;
  const placeholder = view.names[Math.floor(view.names.length / 2)];
  const onkeydown = (/** @type {any} */ { key, target }) => {
    if (key === "Escape") target.blur();
    if (key !== "Enter") return;
    if (target.value.trim()) app.send("play", { move: target.value.trim() });
    target.value = "";
  };
  return h("section.ag-menu", { "aria-label": buttons.menu[0] },
    h("div", h("h2", say.game), h("div.ag-row",
      button("new", () => openDialog(app), { class: "ag-main" }),
      button("open", () => app.file.click(), { word: fill(buttons.open[0], kind) }),
      button("save", () => app.send("save"), { word: fill(buttons.save[0], kind) }),
      button("link", () => app.copyLink()),
      take && button("take", () => take(network, tree.linkHere()), { hidden: network === "playouts" }))),
    engineSettings(app),
    h("div", h("h2", say.settings),
      h("label.ag-field", say.typed, h("input#typed", { type: "text", size: 5, autocomplete: "off", placeholder, onkeydown })),
      box("letters", (checked) => { look.letters = checked; }, look.letters),
      box("sound", (checked) => { look.sound = checked; if (checked) click(); }, look.sound)),
    h("details.ag-legend#legend", h("summary", say.legend), legendOf(view)),
    h("details.ag-legend", h("summary", say.keys),
      h("dl.ag-keys", keysOf([...Object.values(buttons).map(([, title = ""]) => title), ...say.keyList]))));
}

/** The keys in brackets at the end of texts, each with its text. @param {string[]} texts */
const keysOf = (texts) => texts.map((text) => / \((.+)\)$/.exec(text)).map((found) => found && h("div", h("dt", found[1]),
  h("dd", found.input.slice(0, found.index))));

/** The settings of the engine: its network, how it chooses, and the limit of a move. @param {App} app */
function engineSettings({ desk, desk: { strength: { network, tree, ...limits }, tree: { view } } }) {
  const by = limits.seconds ? "seconds" : "readouts";
  /** A listener of a field that changes the engine's strength. @type {(wishes: (value: any) => object) => (event: any) => void} */
  const wish = (wishes) => ({ target }) => desk.send({ type: "strength", ...wishes(target.value) });
  /** @type {(name: "readouts" | "seconds", title: string, more: object, read: (value: number) => number) => any} */
  const limit = (name, title, more, read) => h(`input#${name}`, { type: "number", title, "aria-label": title, ...more, hidden: name !== by,
    value: limits[name] || USUAL[name], onchange: wish((value) => ({ [name]: read(Number(value)) || USUAL[name] })) });
  return h("div.ag-engine", h("h2", say.engineTitle),
    h("label.ag-field", say.network, select({ "data-name": "network", onchange: wish((name) => ({ network: name })) },
      Object.fromEntries(view.networks.map((name) => [name, name === "playouts" ? say.playouts : name])), network)),
    h("label.ag-field", { hidden: network === "playouts" }, say.how,
      select({ "data-name": "how", onchange: wish((how) => ({ tree: how === "tree" })) }, { tree: say.tree, net: say.net }, tree ? "tree" : "net")),
    h("div.ag-field", { hidden: !tree }, say.by, h("span",
      limit("readouts", say.readoutsTitle, { min: 1, step: 1, max: view.mostReadouts }, Math.round),
      limit("seconds", say.secondsTitle, { min: 0.1, step: 0.1 }, Number),
      select({ "data-name": "by", "aria-label": say.by,
        onchange: wish((/** @type {"readouts" | "seconds"} */ name) => ({ readouts: null, seconds: null, [name]: USUAL[name] })) },
      { readouts: say.readouts, seconds: say.seconds }, by))));
}

/** What the colours, numbers and marks of a study mean. @param {GameView} game */
function legendOf(game) {
  const [steps, unit] = game.ownership ? [POINT_STEPS, legend.points] : [RATE_STEPS, "%"];
  const range = LOSSES.map((colour, i) => h("li", dot(colour), fill(steps[i] ? legend.upTo : legend.more, steps[i] || steps[i - 1], unit)));
  const owners = game.sides.map((side, i) => h("li", swatch(s("rect", { x: 4, y: 4, width: 12, height: 12, fill: INKS[i], stroke: INKS[1 - i],
    "stroke-width": 1.5 })), fill(legend.becomes, side)));
  return h("div", h("p", legend.discs), h("ul", range),
    h("p", legend.numbers), h("p", legend.line),
    h("ul", game.territory && owners,
    game.mark && h("li", `□ ${game.mark}`), h("li", legend.last), h("li", legend.better)), h("p", fill(legend.graph, game.sides[0])));
}
