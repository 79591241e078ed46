// The page of `alphago web`: the board, and the runs that are watched.

import { mount } from "./app.js";
import { Desk } from "./desk.js";
import { h } from "./elements.js";
import { keeper } from "./keeping.js";
import { followLink, linkHere } from "./links.js";
import { socketCarrier } from "./socket_carrier.js";
import { say } from "./words.js";

/** @type {Record<string, any>} */
const places = Object.fromEntries(["play", "watch"].map((id) => [id, document.getElementById(id)]));

/** @param {string} name */
function show(name) {
  for (const [key, element] of Object.entries(places)) element.hidden = key !== name;
  places[name].dispatchEvent(new Event("shown"));
}

const link = linkHere();
const desk = new Desk(socketCarrier, keeper);
const toWatch = h("button", { hidden: true, "data-name": "watch", onclick: () => show("watch") }, say.watch);
mount(places.play, desk, {
  onLink: followLink(desk),
  beside: toWatch,
  take: (network, from) => location.assign(`/file?${new URLSearchParams({ network, link: from })}`),
});
window.addEventListener("pagehide", () => desk.keep());
desk.send({ type: "hello", link });

desk.listen(async (message) => {
  if (message.type !== "welcome" || !message.runs.length) return;
  toWatch.hidden = false;
  const { watch } = await import("./watch.js");
  watch(places.watch, (run, game) => {
    if (run >= 0) desk.send({ type: "run-game", run, game });
    show("play");
  });
  if (!link.includes("moves=")) show("watch");
});
