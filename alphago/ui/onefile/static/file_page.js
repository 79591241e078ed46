// A file that plays: the page of `alphago web` without a server, with a network of its own.

import { h } from "./elements.js";
import { makeEngine } from "./engine.js";
import { fileCarrier } from "./file_carrier.js";
import { openPage } from "./open_page.js";
import { loadRules } from "./position.js";
import { unpacked, weightsOf } from "./unpacking.js";

/**
 * @param {string} name of a part of this file
 * @returns {string}
 */
const part = (name) => /** @type {HTMLElement} */ (document.getElementById(name)).textContent || "";

/**
 * What makes a button that tells what is known of the network.
 * @param {{title: string, facts: Record<string, string>}} about
 */
function aboutButton({ title, facts }) {
  const rows = Object.entries(facts).flatMap(([name, text]) => [h("dt", name), h("dd", text)]);
  const dialog = h("dialog.ag-dialog.file-about", { "aria-label": title,
    onkeydown: (/** @type {Event} */ event) => event.stopPropagation() }, h("h2", title), h("dl", rows),
    h("div.ag-row", h("button.ag-main", { onclick: () => dialog.close() }, "Close")));
  return () => h("button#about-network", { onclick: () => {
    if (!dialog.isConnected) place.append(dialog);
    dialog.showModal();
  } }, "About");
}

const place = /** @type {HTMLElement} */ (document.getElementById("play"));
const begin = async () => {
  const facts = JSON.parse(new TextDecoder().decode(await unpacked(part("facts"))));
  const weights = weightsOf(await unpacked(part("weights")));
  const [kernels, tree, rules] = /** @type {any[]} */ (await Promise.all(["kernels", "tree", "rules"].map((name) => unpacked(part(name)))));
  const lacks = () => { throw new Error("it has no WebAssembly with SIMD, or the site of this file forbids it"); };
  if (typeof WebAssembly !== "object" || !WebAssembly.validate(kernels)) lacks();
  await loadRules(rules).catch(lacks);
  const source = new TextDecoder().decode(await unpacked(part("worker")));
  const engine = makeEngine(source, { ...facts.model, weights, kernels, tree, rules });
  openPage(place, (hear) => fileCarrier(facts, engine, hear), { beside: aboutButton(facts.about) });
};
begin().catch((error) => {
  place.textContent = `This browser cannot show this file: ${error.message || error}. Any browser since 2023 can.`;
});
