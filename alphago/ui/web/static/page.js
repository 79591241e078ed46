// The page of `alphago web`: the board, and the runs that are watched.

import { h } from "./elements.js";
import { openPage } from "./open_page.js";
import { socketCarrier } from "./socket_carrier.js";
import { say } from "./words.js";

/** @type {Record<string, any>} */
const places = Object.fromEntries(["play", "watch"].map((id) => [id, document.getElementById(id)]));

/** Show one of the two places. @param {string} name "play" or "watch" */
function show(name) {
  for (const [key, element] of Object.entries(places)) element.hidden = key !== name;
  places[name].dispatchEvent(new Event("shown"));
}

const begins = location.hash;
const desk = openPage(places.play, socketCarrier, {
  beside: ({ offered }) => offered.runs.length > 0 && h("button#watch", { onclick: () => show("watch") }, say.watch),
  take: (network, from) => location.assign(`/file?${new URLSearchParams({ network, link: from })}`),
});

desk.soon(async () => { // the server has told then which runs it watches
  if (!desk.offered.runs.length) return;
  const { Watch } = await import("./watch.js");
  new Watch(places.watch, (/** @type {number} */ run, /** @type {string} */ game) => {
    if (run >= 0) desk.send({ type: "run-game", run, game });
    show("play");
  });
  if (!begins.includes("moves=")) show("watch");
});
