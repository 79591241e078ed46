// Motion that explains a move: a stone lands, captures leave, a disc turns over or falls, seeds arrive one by one.

const still = matchMedia("(prefers-reduced-motion: reduce)");

/** The element goes after its `last` motion. @type {(element: any, frames: Keyframe[], options: KeyframeAnimationOptions, last?: boolean) => void} */
function animate(element, frames, options, last = false) {
  const end = () => last && element.remove();
  if (still.matches || document.hidden) return end();
  if (last) for (const piece of element.querySelectorAll(".ag-piece")) piece.classList.replace("ag-piece", "ag-gone");
  element.animate(frames, { fill: "backwards", ...options }).onfinish = end;
}

/** @param {any} element a stone that was just played */
export const lands = (element) => animate(element, [{ transform: "scale(1.3)", opacity: 0 }, { transform: "scale(1)", opacity: 1 }],
  { duration: 130, easing: "cubic-bezier(.2,.8,.3,1)" });

/** @param {any} element a stone that is captured */
export const fades = (element) => animate(element, [{ opacity: 1 }, { transform: "scale(.6) translateY(-6px)", opacity: 0 }],
  { duration: 260, easing: "ease-in" }, true);

/** @type {(element: any, after: boolean) => void} a disc before or after it turns over */
export const flips = (element, after) => (after
  ? animate(element, [{ transform: "scaleX(0)" }, { transform: "scaleX(1)" }], { duration: 150, delay: 150, easing: "ease-out" })
  : animate(element, [{ transform: "scaleX(1)" }, { transform: "scaleX(0)" }], { duration: 150, easing: "ease-in" }, true));

/** @type {(element: any, height: number) => void} a disc falls into its hole */
export const falls = (element, height) => animate(element, [{ transform: `translateY(${-height}px)`, easing: "cubic-bezier(.5,0,.9,.5)" },
  { transform: "none", offset: 0.75, easing: "ease-out" }, { transform: "translateY(-7px)", offset: 0.87, easing: "ease-in" },
  { transform: "none" }], { duration: 220 + height });

/** @type {(element: any, delay: number) => void} a house whose seeds have changed */
export const pulses = (element, delay) => animate(element, [{ transform: "scale(.86)", opacity: 0.4 }, { transform: "scale(1.06)", opacity: 1 },
  { transform: "none" }], { duration: 240, delay, easing: "ease-out" });

/** @type {(element: any, step: number) => void} a piece of a line that is walked through */
export const appears = (element, step) => animate(element, [{ opacity: 0 }, { opacity: 1 }], { duration: 160, delay: 70 * step });
