// Elements of the page and of its drawings, how they are drawn anew, and numbers as text.

const SVG = "http://www.w3.org/2000/svg";
const SAME = "ag-same";

/**
 * Make an element of the page. An attribute that begins with "on" is a listener; true is one without a value; false, null
 * and undefined leave it out.
 * @param {string} tag with its classes and its name, such as "p.ag-small#about"
 * @param {...any} given its attributes as an object, unless it has none; then elements and texts, or lists of them, left out as attributes are
 * @returns {any}
 */
export const h = (tag, ...given) => filled((name) => document.createElement(name), tag, given);

/** Make an element of a drawing; the arguments are those of `h`. @type {typeof h} */
export const s = (tag, ...given) => filled((name) => document.createElementNS(SVG, name), tag, given);

/** Make an element with `make`, and fill it; the other arguments are those of `h`. @param {(name: string) => any} make @param {string} tag @param {any[]} given */
function filled(make, tag, [first, ...rest]) {
  const [kind, part] = tag.split("#");
  const [name, ...classes] = kind.split(".");
  const node = make(name);
  const [{ class: more, ...attributes }, children] = first?.constructor === Object ? [first, rest] : [{}, [first, rest]];
  const all = { class: [...classes, more].filter(Boolean).join(" ") || null, type: name === "button" && name, "data-name": part, ...attributes };
  for (const [key, value] of Object.entries(all)) {
    if (key.startsWith("on")) node[key] = value;
    else if (key === "style") node.style.cssText = value; // the attribute is forbidden by the server's policy
    else if (value === true) node.setAttribute(key, "");
    else if ((value ?? false) !== false) node.setAttribute(key, value);
  }
  node.append(...children.flat(Infinity).filter((child) => (child ?? false) !== false));
  return node;
}

/** A placeholder for an element that `renew` is to leave as it is. */
export const same = () => h(SAME);

/**
 * Put new children in place of the old ones. An element whose tag stays the same is changed, not replaced, so that it keeps its focus and what is
 * open or typed in it. Rows of lists and drawings that are equal stay too, and are not painted again.
 * @param {Element} parent @param {any[]} children
 */
export function renew(parent, children) {
  const old = [...parent.childNodes];
  children.forEach((child, i) => (old[i] ? become(old[i], child) : parent.append(child)));
  for (const one of old.slice(children.length)) one.remove();
}

/** Change an element into another one, or replace it. @param {any} old @param {any} fresh */
function become(old, fresh) {
  if (fresh.localName === SAME || ((old.localName === "li" || !(old instanceof HTMLElement)) && old.isEqualNode(fresh))) return;
  if (old.nodeName !== fresh.nodeName || !(old instanceof HTMLElement)) return old.replaceWith(fresh);
  for (const name of new Set([...old.getAttributeNames(), ...fresh.getAttributeNames()])) {
    const value = fresh.getAttribute(name);
    if (value === old.getAttribute(name) || name === "open") continue;
    if (name === "style") old.style.cssText = value;
    else if (value === null) old.removeAttribute(name);
    else old.setAttribute(name, value);
  }
  for (const name of /** @type {const} */ (["onclick", "onchange", "oninput"])) old[name] = fresh[name];
  renew(old, [...fresh.childNodes]);
  const field = /** @type {HTMLInputElement} */ (old);
  if ("checked" in fresh) field.checked = fresh.checked;
  const isTyped = field.type === "number" && field === document.activeElement;
  if ((fresh.hasAttribute("value") || "selectedIndex" in fresh) && field.value !== fresh.value && !isTyped) field.value = fresh.value;
}

/**
 * A field to choose from texts by their values.
 * @param {Record<string, any>} attributes @param {Record<string, string>} texts @param {string} [chosen]
 */
export const select = (attributes, texts, chosen) => h("select", attributes, Object.entries(texts).map(([value, text]) => h("option",
  { value, selected: value === chosen }, text)));

/** @param {number} share 0 .. 1 */
export const percent = (share, digits = 0) => (100 * share).toFixed(digits);

/** @param {number} count */
export const short = (count) => count < 1e3 ? `${count}` : count < 9950 ? (count / 1e3).toFixed(1) + "k"
  : count < 999500 ? Math.round(count / 1e3) + "k" : (count / 1e6).toFixed(1) + "M";

/** A lead in points, as B+2.5, from the first side's. @type {(score: number, sides: [string, string], digits?: number) => string} */
export const margin = (score, sides, digits = 1) => (score ? `${sides[score > 0 ? 0 : 1][0]}+${Math.abs(score).toFixed(digits)}` : "even");
