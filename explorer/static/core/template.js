/**
 * Templates of Lit in which texts are shown as `make` shows them: invisible characters are escaped.
 *
 * A value is a text if it is between tags or in an attribute that screen readers read; all other attributes, properties
 * and listeners get their values unchanged.
 *
 * @import { ElementPart } from "lit/directive.js"
 * @import { TemplateResult } from "lit"
 */
import { html as litHtml, svg as litSvg, nothing, render } from "lit";
import { Directive, directive } from "lit/directive.js";
import { live } from "lit/directives/live.js";
import { READ_ATTRIBUTES, visible } from "./visible.js";

export { live, nothing, render };

/** @param {TemplateStringsArray} strings @param {...unknown} values @returns {TemplateResult<1>} */
export function html(strings, ...values) {
  return litHtml(strings, ...shownValues(strings, values));
}

/** @param {TemplateStringsArray} strings @param {...unknown} values @returns {TemplateResult<2>} */
export function svg(strings, ...values) {
  return litSvg(strings, ...shownValues(strings, values));
}

/** For each template, which of its values are texts. @type {WeakMap<TemplateStringsArray, boolean[]>} */
const textsOf = new WeakMap();

/** @param {TemplateStringsArray} strings @param {unknown[]} values */
function shownValues(strings, values) {
  let areTexts = textsOf.get(strings);
  if (!areTexts) textsOf.set(strings, (areTexts = textPlaces(strings)));
  const places = areTexts;
  return values.map((value, index) => (places[index] ? shown(value) : value));
}

/** @param {unknown} value @returns {unknown} */
function shown(value) {
  if (typeof value === "string") return visible(value);
  return Array.isArray(value) ? value.map(shown) : value;
}

/**
 * Return for each value of a template whether it is a text that is shown or read by screen readers.
 * @param {readonly string[]} strings the template's strings between the values
 * @returns {boolean[]}
 */
export function textPlaces(strings) {
  /** @type {boolean[]} */
  const places = [];
  // The open tag at the end of a string; empty: none.
  let tag = "";
  for (const string of strings.slice(0, -1)) {
    const before = tag + string;
    const start = before.lastIndexOf("<");
    const isInTag = start > before.lastIndexOf(">");
    const attribute = isInTag ? /([^\s"'<>=]+)=(?:"[^"]*|'[^']*)?$/.exec(before)?.[1] : undefined;
    places.push(isInTag ? READ_ATTRIBUTES.has(attribute ?? "") : true);
    tag = isInTag ? before.slice(start) : "";
  }
  return places;
}

/** Draw a text of the page in which `names` between backticks are code. @param {string} text */
export function prose(text) {
  return text.split("`").map((part, index) => (index % 2 ? html`<code>${part}</code>` : part));
}

class Styles extends Directive {
  /** @param {Record<string, string>} _values */
  render(_values) {
    return nothing;
  }

  /** @param {ElementPart} part @param {[Record<string, string>]} values @override */
  update({ element }, [values]) {
    const { style } = /** @type {HTMLElement | SVGElement} */ (element);
    for (const [name, value] of Object.entries(values)) style.setProperty(name, value);
    return nothing;
  }
}

/**
 * Set style properties of an element: `<span ${styles({ "--share": "50%" })}>`.
 *
 * The policy of the page refuses `style` attributes, which Lit's own `styleMap` writes.
 */
export const styles = directive(Styles);
