// The page of `alphago web`: the board, and the runs that are watched.

import { mount } from "./app.js";
import { SocketConnection } from "./connection.js";
import { h } from "./elements.js";
import { say } from "./words.js";

/** @type {Record<string, any>} */
const places = Object.fromEntries(["play", "watch"].map((id) => [id, document.getElementById(id)]));

/** @param {string} name */
function show(name) {
  for (const [key, element] of Object.entries(places)) element.hidden = key !== name;
  places[name].dispatchEvent(new Event("shown"));
}

const connection = new SocketConnection();
const toWatch = h("button", { hidden: true, "data-name": "watch", onclick: () => show("watch") }, say.watch);
mount(places.play, connection, {
  onLink: (link) => connection.remember(link),
  beside: toWatch,
  take: (network, link) => location.assign(`/file?${new URLSearchParams({ network, link })}`),
});
window.addEventListener("hashchange", () => {
  const link = location.hash.slice(1);
  if (link && link !== connection.link) connection.send({ type: "hello", link });
});

connection.listen(async (message) => {
  if (message.type !== "welcome" || !message.runs.length || !toWatch.hidden) return;
  toWatch.hidden = false;
  const { watch } = await import("./watch.js");
  watch(places.watch, (run, game) => {
    if (run >= 0) connection.send({ type: "run-game", run, game });
    show("play");
  });
  if (!connection.link || connection.link.indexOf("moves=") < 0) show("watch");
});
