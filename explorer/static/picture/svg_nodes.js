/** Nodes of a picture in SVG. */

const SVG = "http://www.w3.org/2000/svg";

/**
 * Make an element; an attribute without a value is omitted.
 * @param {string} name
 * @param {Record<string, string | number | null | undefined>} attributes
 * @param {(Node | string)[]} children
 */
export function node(name, attributes, children = []) {
  const element = /** @type {SVGElement} */ (document.createElementNS(SVG, name));
  for (const [key, value] of Object.entries(attributes))
    if (value !== null && value !== undefined)
      element.setAttribute(key, typeof value === "number" ? String(Math.round(1000 * value) / 1000) : value);
  element.append(...children);
  return element;
}
