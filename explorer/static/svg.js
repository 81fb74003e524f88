/** Make SVG elements, as `make` of dom.js does for HTML. Text is only ever set as text. */

const NAMESPACE = "http://www.w3.org/2000/svg";

/**
 * @template {keyof SVGElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, unknown>} [properties] "on…" is a listener; false, null and undefined are left out
 * @param {...(Node | string | number | null | undefined | false)} children
 * @returns {SVGElementTagNameMap[Tag]}
 */
export function makeSvg(tag, properties = {}, ...children) {
  const element = document.createElementNS(NAMESPACE, tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on") && typeof value === "function") {
      element.addEventListener(name.slice(2), /** @type {EventListener} */ (value));
    } else {
      element.setAttribute(name, value === true ? "" : String(value));
    }
  }
  for (const child of children) {
    if (child !== null && child !== undefined && child !== false) element.append(/** @type {Node} */ (typeof child === "number" ? String(child) : child));
  }
  return element;
}
