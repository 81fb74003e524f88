/** A button of the passes pane. */
import { html, nothing } from "../../core/template.js";

/** @param {string} text @param {string} title @param {() => void} act @param {boolean} [isPressed] */
export function toolButton(text, title, act, isPressed) {
  return html`<button
    type="button"
    class="button small"
    title=${title}
    aria-label=${title}
    aria-pressed=${isPressed ?? nothing}
    @click=${act}
  >${text}</button>`;
}
