/** `<first-steps>`: a one-line introduction, until it is dismissed. */
import { LitElement } from "lit";
import { canCompile } from "../core/host.js";
import { keep, kept } from "../core/storage.js";
import { store } from "../core/store.js";
import { html, nothing } from "../core/template.js";

const KEY = "first-steps";
const FIRST_TOUR = "tour=programs.1";
const DISMISSED = "dismissed";

class FirstSteps extends LitElement {
  /** @override */
  createRenderRoot() {
    return this;
  }

  /** @override */
  render() {
    this.hidden = !canCompile || kept(KEY) === DISMISSED;
    return this.hidden
      ? nothing
      : html`<p>See what the Triton compiler makes of each line, down to machine code: point at a line, or click to pin
          it. New here?
          <button type="button" class="link" @click=${() => store.update({ lesson: FIRST_TOUR })}>Take a tour</button></p>
        <button type="button" class="tool" aria-label="Dismiss" title="Dismiss" @click=${this.dismiss}>×</button>`;
  }

  dismiss() {
    keep(KEY, DISMISSED);
    this.requestUpdate();
  }
}

customElements.define("first-steps", FirstSteps);
