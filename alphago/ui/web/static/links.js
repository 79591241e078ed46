// The link of what is shown, in the page's address.

/** What the address names, "" for nothing. */
export const linkHere = () => location.hash.slice(1);

/**
 * Go where the address is changed to; what is returned puts a link there.
 * @param {import("./desk.js").Desk} desk
 * @returns {(link: string) => void}
 */
export function followLink(desk) {
  let shown = linkHere();
  window.addEventListener("hashchange", () => {
    if (linkHere() && linkHere() !== shown) desk.send({ type: "hello", link: linkHere() });
  });
  return (link) => {
    shown = link;
    try {
      if (linkHere() !== link) history.replaceState(null, "", `#${link}`);
    } catch { /* a page within another page may have no address of its own */ }
  };
}
