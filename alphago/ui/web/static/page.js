// The page of `alphago web`: the board, and the runs that are watched.

import { mount } from "./board.js";
import { SocketConnection } from "./connection.js";

const place = (/** @type {string} */ id) => /** @type {HTMLElement} */ (document.getElementById(id));
const banner = place("connection");
/** @type {Record<string, HTMLElement>} */
const places = { play: place("play"), watch: place("watch") };
/** @type {HTMLButtonElement[]} */
const tabs = Array.from(document.querySelectorAll("nav button"));

/** @param {string} name */
function show(name) {
  for (const [key, element] of Object.entries(places)) element.hidden = key !== name;
  for (const button of tabs) button.setAttribute("aria-pressed", String(button.dataset.tab === name));
  places[name].dispatchEvent(new Event("shown"));
}

const connection = new SocketConnection((text) => {
  banner.textContent = text;
  banner.hidden = !text;
});
mount(places.play, connection, {
  keys: document,
  isShown: () => !places.play.hidden,
  onLink: (link) => connection.remember(link),
});
window.addEventListener("hashchange", () => {
  const link = location.hash.slice(1);
  if (link && link !== connection.link) connection.send({ type: "hello", link });
});
for (const button of tabs) button.addEventListener("click", (event) => {
  if (event.detail) button.blur();
  show(button.dataset.tab || "play");
});

let watching = false;
connection.listen(async (message) => {
  if (message.type !== "welcome" || !message.runs.length || watching) return;
  watching = true;
  place("tabs").hidden = false;
  const { watch } = await import("./watch.js");
  watch(places.watch, (run, game) => {
    connection.send({ type: "run-game", run, game });
    show("play");
  });
  if (!connection.link || connection.link.indexOf("moves=") < 0) show("watch");
});
