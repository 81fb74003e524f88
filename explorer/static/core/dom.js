/**
 * Make elements. Text is never parsed as markup, and its invisible characters are shown as escapes.
 */
import { READ_ATTRIBUTES, visible } from "./visible.js";

/**
 * Make an element with attributes, listeners and children.
 *
 * A property whose name starts with "on" is a listener, `class` and `data-…` and other names are attributes,
 * true is an empty attribute, and false, null and undefined are omitted.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, unknown>} [properties]
 * @param {...(Node | string | number | null | undefined | false)} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function make(tag, properties = {}, ...children) {
  return filled(document.createElement(tag), properties, children);
}

/**
 * @template {Element} Filled
 * @param {Filled} element
 * @param {Record<string, unknown>} properties as for `make`
 * @param {(Node | string | number | null | undefined | false)[]} children
 */
export function filled(element, properties, children) {
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on") && typeof value === "function") {
      element.addEventListener(name.slice(2), /** @type {EventListener} */ (value));
    } else {
      element.setAttribute(
        name,
        value === true ? "" : READ_ATTRIBUTES.has(name) ? visible(String(value)) : String(value),
      );
    }
  }
  for (const child of children) {
    if (child !== null && child !== undefined && child !== false)
      element.append(child instanceof Node ? child : visible(String(child)));
  }
  return element;
}

/**
 * The element of the page with this id, which must exist.
 * @param {string} id
 */
export function byId(id) {
  const element = document.getElementById(id);
  if (!element) throw new Error(`The page has no #${id}`);
  return element;
}

/**
 * Set the text of an element, unless the element already has this text.
 * @param {Element} element
 * @param {string} text
 */
export function setText(element, text) {
  const shown = visible(text);
  if (element.textContent !== shown) element.textContent = shown;
}

let toastTimer = 0;

/**
 * Show a short message that disappears after a while.
 * @param {string} text
 */
export function toast(text) {
  const element = byId("toast");
  setText(element, text);
  element.classList.add("shown");
  clearTimeout(toastTimer);
  toastTimer = window.setTimeout(() => element.classList.remove("shown"), 2600);
}

/**
 * Return a function that calls `work` when it has not been called for `delay_ms`, a number or a function that returns
 * a number.
 * @template {unknown[]} Parameters_
 * @param {(...values: Parameters_) => void} work
 * @param {number | (() => number)} delay_ms
 */
export function debounce(work, delay_ms) {
  let timer = 0;
  const later = (/** @type {Parameters_} */ ...values) => {
    clearTimeout(timer);
    timer = window.setTimeout(() => work(...values), typeof delay_ms === "number" ? delay_ms : delay_ms());
  };
  later.cancel = () => clearTimeout(timer);
  return later;
}

/**
 * Scroll a row sideways until a part of it is visible. `scrollIntoView` would move the page, too.
 * @param {Element} row
 * @param {Element} part
 */
export function scrollSideways(row, part) {
  const { left, right } = row.getBoundingClientRect();
  const place = part.getBoundingClientRect();
  if (place.left < left) row.scrollLeft -= left - place.left;
  else if (place.right > right) row.scrollLeft += place.right - right;
}

/** Return the value of the field of an event. @param {Event} event */
export function chosenValue({ currentTarget }) {
  return /** @type {HTMLInputElement | HTMLSelectElement} */ (currentTarget).value;
}
