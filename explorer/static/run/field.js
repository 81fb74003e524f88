/** A labelled control whose problem stands below it. */
import { make, setText } from "../dom.js";

let count = 0;

/**
 * @typedef {object} Field
 * @property {HTMLElement} element
 * @property {HTMLInputElement} input
 * @property {(value: string, problem: string) => void} draw
 */

/**
 * @param {string} title @param {(value: string) => void} changed
 * @param {{placeholder?: string, wide?: boolean, list?: string, tip?: string}} [more]
 * @returns {Field}
 */
export function field(title, changed, { placeholder, wide, list, tip } = {}) {
  count += 1;
  const id = `run-field-${count}`;
  const input = make("input", {
    type: "text", id, placeholder, list, title: tip, autocomplete: "off", spellcheck: "false", "aria-describedby": `${id}-problem`,
    oninput: () => changed(input.value),
  });
  const problem = make("span", { class: "run-problem", id: `${id}-problem`, role: "alert" });
  const element = make("div", { class: wide ? "run-field is-wide" : "run-field" }, make("label", { for: id }, title), input, problem);
  return { element, input, draw: (value, words) => drawControl(input, problem, value, words) };
}

/**
 * Bring a control up to date without moving the cursor of who is typing in it.
 * @param {HTMLInputElement} input @param {HTMLElement} problem @param {string} value @param {string} words
 */
export function drawControl(input, problem, value, words) {
  if (input.value !== value) input.value = value;
  input.setAttribute("aria-invalid", String(Boolean(words)));
  setText(problem, words);
}
