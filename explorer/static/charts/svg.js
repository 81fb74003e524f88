/** Make SVG elements, as `make` of dom.js does for HTML. Text is only ever set as text. */
import { filled } from "../core/dom.js";

const NAMESPACE = "http://www.w3.org/2000/svg";

/**
 * @template {keyof SVGElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, unknown>} [properties] "on…" is a listener; false, null and undefined are left out
 * @param {...(Node | string | number | null | undefined | false)} children
 * @returns {SVGElementTagNameMap[Tag]}
 */
export function makeSvg(tag, properties = {}, ...children) {
  return filled(document.createElementNS(NAMESPACE, tag), properties, children);
}
