/** Nodes of a picture in SVG. */

const SVG = "http://www.w3.org/2000/svg";
/** Characters that XML does not permit. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters
const NOT_IN_XML = /[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g;

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
  for (const child of children)
    element.append(typeof child === "string" ? child.replace(NOT_IN_XML, "\ufffd") : child);
  return element;
}
