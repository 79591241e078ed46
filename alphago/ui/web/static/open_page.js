// A page that is a board: its desk, the game in the browser's storage for a reload, and the link of what is shown in the address.

import { App } from "./app.js";
import { Desk } from "./desk.js";
import { tried } from "./effects.js";

const KEY = `alphago-game ${location.pathname}`;

const keeper = {
  /** What this tab has kept, null for nothing. @returns {Kept | null} */
  kept: () => tried(() => JSON.parse(sessionStorage.getItem(KEY) || "null")),
  /** @param {Kept} game */
  keep: (game) => tried(() => sessionStorage.setItem(KEY, JSON.stringify(game))),
};

/** What the address names, "" for nothing. */
const linkHere = () => location.hash.slice(1);

/**
 * Mount a board, and begin with what the address names.
 * @param {HTMLElement} place
 * @param {ConstructorParameters<typeof Desk>[0]} connect
 * @param {Options} options
 */
export function openPage(place, connect, options) {
  const desk = new Desk(connect, keeper);
  const onLink = (/** @type {string} */ link) => { // a page within another may have no address of its own
    if (linkHere() !== link) tried(() => history.replaceState(null, "", `#${link}`));
  };
  new App(place, desk, { ...options, onLink });
  window.addEventListener("hashchange", () => linkHere() && desk.send({ type: "hello", link: linkHere() }));
  window.addEventListener("pagehide", () => desk.keep());
  desk.send({ type: "hello", link: linkHere() });
  return desk;
}
