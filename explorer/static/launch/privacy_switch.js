/**
 * The switch of the launch panel that makes results private.
 *
 * @import { Draft } from "../core/types.js"
 */
import { html } from "../core/template.js";
import { switchPrivate } from "./edit.js";

const WORDS = {
  on: "Only who has the link can open the result. Press to compile publicly",
  off: "Compile at an address that nobody can guess",
};

/** @param {Draft} draft */
export function privacySwitch({ private: key }) {
  return html`<button
    type="button"
    class="tool privacy"
    aria-pressed=${String(key !== "")}
    title=${key ? WORDS.on : WORDS.off}
    @click=${() => switchPrivate(key === "")}
    >Private</button
  >`;
}
