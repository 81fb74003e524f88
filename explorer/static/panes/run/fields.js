/** Controls of the form, each with its problem below it. */
import { html, nothing } from "../../core/template.js";

/**
 * A labelled text field.
 * @param {object} field
 * @param {string} field.name the property of the form; its element has the id `run-<name>`
 * @param {string} [field.title] the label; without one it is the name
 * @param {string} field.value
 * @param {string} field.problem "": none
 * @param {(value: string) => void} field.changed
 * @param {string} [field.placeholder]
 * @param {string} [field.tip]
 * @param {boolean} [field.isWide]
 */
export function textField({ name, title = name, value, problem, changed, placeholder, tip, isWide }) {
  return html`<div class=${isWide ? "run-field is-wide" : "run-field"}>
    <label for=${`run-${name}`}>${title}</label>
    <input type="text" id=${`run-${name}`} placeholder=${placeholder ?? nothing} title=${tip ?? nothing}
      autocomplete="off" spellcheck="false" aria-describedby=${`run-${name}-problem`}
      aria-invalid=${Boolean(problem)} .value=${value} @input=${onValue(changed)}>
    <span class="run-problem" id=${`run-${name}-problem`} role="alert">${problem}</span>
  </div>`;
}

/** A listener that passes on the value of its control. @param {(value: string) => void} changed */
export function onValue(changed) {
  return (/** @type {Event} */ event) =>
    changed(/** @type {HTMLInputElement | HTMLSelectElement} */ (event.currentTarget).value);
}
