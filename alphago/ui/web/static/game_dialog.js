// The dialogue for a new game: which, with which options, and who plays.

import { h, select } from "./elements.js";
import { button } from "./icons.js";
import { buttons, say } from "./words.js";

/** @type {Record<string, string>} */
const OWN_SIDE = { "human,engine": "black", "engine,human": "white", "human,human": "both" }; // by the players

/** Show the dialogue. @param {App} app */
export function openDialog(app) {
  const { desk: { offered, players, tree: { view: game } }, dialog } = app;
  const known = offered.games.length ? offered.games : [game];
  const choose = select({ "data-name": "new-game" }, Object.fromEntries(known.map(({ name, title }) => [name, title])), game.name);
  const fields = h("div");
  const colours = h("label");
  let colour = select({}, {});
  /** @type {{option: OptionView, input: any}[]} */
  let options = [];
  /** Fill the dialogue with the options and sides of the chosen game. */
  const fill = () => {
    const one = [game, ...known].find((each) => each.name === choose.value) || game;
    options = one.options.map((option) => ({ option, input: inputOf(option) }));
    for (const { option, input } of options) {
      const other = options.find((each) => each.option.name === option.follows)?.input;
      const bringer = options.find((each) => option.name in each.option.also);
      const settle = () => { input.value = Number(bringer?.input.value) ? bringer?.option.also[option.name] : option.usual[other?.value] ?? input.value; };
      for (const each of [other, bringer?.input]) each?.addEventListener("change", settle);
    }
    fields.replaceChildren(...options.map(({ option, input }) => h("label", option.title, h("span", input,
      option.common.map((value) => h("button", { onclick: () => { input.value = value; input.dispatchEvent(new Event("change")); } }, value))))));
    colour = select({ "data-name": "new-colour" }, { black: one.sides[0], white: one.sides[1], both: say.both, neither: say.neither },
      colour.value || OWN_SIDE[players.join()] || "neither");
    colours.replaceChildren(say.youPlay, colour);
  };
  choose.addEventListener("change", fill);
  fill();
  /** Begin the game. */
  const start = () => {
    /** @type {Record<string, Record<string, any>>} */
    const chosen = { options: {}, setup: {} };
    for (const { option, input } of options) {
      const value = input.type === "number" ? (input.value === "" ? null : Number(input.value)) : input.value;
      chosen[option.at_start ? "setup" : "options"][option.name] = value;
    }
    const player = (/** @type {string} */ side) => ([side, "both"].includes(colour.value) ? "human" : "engine");
    app.send("new", { game: choose.value, ...chosen, black: player("black"), white: player("white") });
  };
  const onkeydown = (/** @type {any} */ { key, target }) => key === "Enter" && target.tagName === "SELECT" && target.form.requestSubmit();
  dialog.replaceChildren(h("form", { method: "dialog", onsubmit: start, onkeydown }, h("h2", buttons.new[0]), h("label", say.gameWord, choose), fields,
    colours, h("div.ag-row", h("button.ag-main", { type: "submit", "data-name": "begin" }, buttons.begin[0]), button("cancel", () => dialog.close()))));
  dialog.showModal();
}

/** The field of an option: a list of its choices, or a field for a number or a text. @param {OptionView} option */
function inputOf({ name, value, choices, least, most, step }) {
  const input = choices.length ? h("select", { "data-option": name }, choices.map((one) => h("option", one)))
    : h("input", { "data-option": name, type: typeof value === "number" ? "number" : "text", min: least, max: most, step, title: most && `${least} … ${most}` });
  input.value = value;
  return input;
}
