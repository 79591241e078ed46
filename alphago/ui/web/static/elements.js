// Elements of the page and of its drawings, and numbers as text.

const SVG = "http://www.w3.org/2000/svg";

/** A part of the page, which has an element. */
export class Part {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
  }
}

/**
 * Make an element of the page. An attribute that begins with "on" is a listener; true is one without a value; false, null
 * and undefined leave it out.
 * @param {string} tag
 * @param {Record<string, any>} [attributes]
 * @param {...any} children elements and texts, or lists of them; left out as attributes are
 * @returns {any}
 */
export function h(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), tag === "button" ? { type: tag, ...attributes } : attributes, children);
}

/** Make an element of a drawing; the arguments are those of `h`. @type {typeof h} */
export const s = (tag, attributes = {}, ...children) => filled(document.createElementNS(SVG, tag), attributes, children);

/** @param {Element} node @param {Record<string, any>} attributes @param {any[]} children */
function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value === true) node.setAttribute(name, "");
    else if ((value ?? false) !== false) node.setAttribute(name, value);
  }
  node.append(...children.flat(Infinity).filter((child) => (child ?? false) !== false));
  return node;
}

/** Put new children in place of the old ones; those that are equal stay, not painted again. @param {Element} parent @param {Element[]} children */
export function renew(parent, children) {
  const old = [...parent.children];
  children.forEach((child, i) => {
    if (!old[i]) parent.append(child);
    else if (!old[i].isEqualNode(child)) old[i].replaceWith(child);
  });
  for (const one of old.slice(children.length)) one.remove();
}

/** @param {Record<string, string>} texts of the choices of a field, by value */
export const choicesOf = (texts) => Object.entries(texts).map(([value, text]) => h("option", { value }, text));

/** @param {number} share 0 .. 1 */
export const percent = (share, digits = 0) => (100 * share).toFixed(digits);

/** @param {number} count */
export const short = (count) => count < 1e3 ? `${count}` : count < 9950 ? (count / 1e3).toFixed(1) + "k"
  : count < 999500 ? Math.round(count / 1e3) + "k" : (count / 1e6).toFixed(1) + "M";

/** A lead in points, as B+2.5, from the first side's. @type {(score: number, sides: [string, string], digits?: number) => string} */
export const margin = (score, sides, digits = 1) => (score ? `${sides[score > 0 ? 0 : 1][0]}+${Math.abs(score).toFixed(digits)}` : "even");
