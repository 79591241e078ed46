// The game in the browser's storage, for a reload; a browser that keeps nothing plays without.

const KEY = `alphago-game ${location.pathname}`;

export const keeper = {
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
