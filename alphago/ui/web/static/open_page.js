// A page that is a board: its desk, the game in the browser's storage for a reload, and the link of what is shown in the address.

import { mount } from "./app.js";
import { Desk } from "./desk.js";

const KEY = `alphago-game ${location.pathname}`;

const keeper = { // a browser that keeps nothing plays without
  /** What this tab has kept, null for nothing. @returns {Kept | null} */
  kept() {
    try {
      return JSON.parse(sessionStorage.getItem(KEY) || "null");
    } catch {
      return null;
    }
  },
  /** @param {Kept} game */
  keep(game) {
    try {
      sessionStorage.setItem(KEY, JSON.stringify(game));
    } catch { /* blocked, or too large */ }
  },
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
  let shown = linkHere();
  const onLink = (/** @type {string} */ link) => {
    shown = link;
    try {
      if (linkHere() !== link) history.replaceState(null, "", `#${link}`);
    } catch { /* a page within another page may have no address of its own */ }
  };
  mount(place, desk, { ...options, onLink });
  window.addEventListener("hashchange", () => {
    if (linkHere() && linkHere() !== shown) desk.send({ type: "hello", link: linkHere() });
  });
  window.addEventListener("pagehide", () => desk.keep());
  desk.send({ type: "hello", link: shown });
  return desk;
}
