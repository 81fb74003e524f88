/**
 * Turns the SVG of a layout into elements of the page.
 *
 * Only shapes, their positions and texts are copied. Everything else in the SVG is left out, also its
 * colors: the style sheet of the page colors the classes.
 */

import { setText } from "../../core/dom.js";

const SVG = "http://www.w3.org/2000/svg";
const ELEMENTS = new Set(["g", "polygon", "polyline", "path", "ellipse", "text"]);
const ATTRIBUTES = [
  "class",
  "points",
  "d",
  "cx",
  "cy",
  "rx",
  "ry",
  "x",
  "y",
  "text-anchor",
  "font-size",
  "transform",
];
/** The elements that are made before the page handles events. */
const ELEMENTS_AT_ONCE = 3000;

/**
 * @typedef {object} Drawing
 * @property {SVGGElement} root
 * @property {number} width
 * @property {number} height
 * @property {Map<string, SVGGElement>} parts nodes, edges and clusters by their ids
 */

/**
 * @param {string} svg
 * @param {() => boolean} isWanted
 * @returns {Promise<Drawing | null>} null: the drawing is no longer wanted
 */
export async function draw(svg, isWanted) {
  const parsed = new DOMParser().parseFromString(svg, "image/svg+xml").documentElement;
  const [, , width = 0, height = 0] = (parsed.getAttribute("viewBox") ?? "").split(/\s+/).map(Number);
  const root = document.createElementNS(SVG, "g");
  /** @type {Map<string, SVGGElement>} */
  const parts = new Map();
  /** @type {{from: Element, to: SVGElement}[]} */
  const waiting = [{ from: parsed, to: root }];
  let made = 0;
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    for (const child of next.from.children) {
      if (!ELEMENTS.has(child.localName)) continue;
      const copy = document.createElementNS(SVG, child.localName);
      for (const name of ATTRIBUTES) {
        const value = child.getAttribute(name);
        if (value !== null) copy.setAttribute(name, value);
      }
      if (child.localName === "text") setText(copy, child.textContent ?? "");
      else if (child.localName === "g") {
        waiting.push({ from: child, to: copy });
        const { id } = child;
        if (id) {
          copy.setAttribute("data-part", id);
          parts.set(id, /** @type {SVGGElement} */ (copy));
        }
      }
      next.to.append(copy);
      made += 1;
    }
    if (made > ELEMENTS_AT_ONCE) {
      made = 0;
      await new Promise((resolve) => setTimeout(resolve));
      if (!isWanted()) return null;
    }
  }
  return { root, width, height, parts };
}
