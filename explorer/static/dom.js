/** Make elements. Text is only ever set as text, never parsed as markup, and what cannot be seen of it is made visible. */
import { visible } from "./visible.js";

/** Attributes that are read out or shown; the others are names and values. */
const READ_ATTRIBUTES = new Set(["title", "aria-label", "aria-description", "alt"]);

/**
 * Make an element with attributes, listeners and children.
 *
 * A property whose name starts with "on" is a listener, `class` and `data-…` and other names are attributes,
 * true is an empty attribute, and false, null and undefined are left out.
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
 * @param {Record<string, unknown>} properties as those of `make`
 * @param {(Node | string | number | null | undefined | false)[]} children
 */
export function filled(element, properties, children) {
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on") && typeof value === "function") {
      element.addEventListener(name.slice(2), /** @type {EventListener} */ (value));
    } else {
      element.setAttribute(name, value === true ? "" : READ_ATTRIBUTES.has(name) ? visible(String(value)) : String(value));
    }
  }
  for (const child of children) {
    if (child !== null && child !== undefined && child !== false) element.append(child instanceof Node ? child : visible(String(child)));
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
 * Put a text into an element; nothing is done where it stands there already.
 * @param {Element} element
 * @param {string} text
 */
export function setText(element, text) {
  const shown = visible(text);
  if (element.textContent !== shown) element.textContent = shown;
}

/**
 * Put a value into a control without moving the cursor of somebody who is typing there.
 * @param {HTMLInputElement | HTMLSelectElement} control
 * @param {string} value
 */
export function setValue(control, value) {
  if (control.value !== value) control.value = value;
}

/**
 * A sentence of ours with `names` between backticks as code.
 * @param {string} text
 * @returns {(string | HTMLElement)[]}
 */
export function prose(text) {
  return text.split("`").map((part, index) => (index % 2 ? make("code", {}, part) : part));
}

let toastTimer = 0;

/**
 * Say something short that goes away by itself.
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
 * Call `work` once things have been quiet for `delay_ms`.
 * @template {unknown[]} Parameters_
 * @param {(...values: Parameters_) => void} work
 * @param {number} delay_ms
 */
export function debounce(work, delay_ms) {
  let timer = 0;
  const later = (/** @type {Parameters_} */ ...values) => {
    clearTimeout(timer);
    timer = window.setTimeout(() => work(...values), delay_ms);
  };
  later.cancel = () => clearTimeout(timer);
  return later;
}

/** Scroll a row sideways until a part of it is in sight; `scrollIntoView` would move the page, too. @param {Element} row @param {Element} part */
export function scrollSideways(row, part) {
  const { left, right } = row.getBoundingClientRect();
  const place = part.getBoundingClientRect();
  if (place.left < left) row.scrollLeft -= left - place.left;
  else if (place.right > right) row.scrollLeft += place.right - right;
}
