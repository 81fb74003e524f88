/**
 * The switch of the launch panel that makes results private.
 *
 * @import { Draft } from "../core/types.js"
 */
import { html } from "../core/template.js";
import { switchPrivate } from "./edit.js";

/** @param {Draft} draft */
export function privacySwitch({ private: key }) {
  return html`<button
    type="button"
    class="tool privacy"
    aria-pressed=${String(key !== "")}
    title="Results whose links nobody can guess"
    @click=${() => switchPrivate(key === "")}
    >Private</button
  >`;
}
