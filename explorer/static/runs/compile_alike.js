/**
 * A button that compiles with the Triton version of a profile, where the server has it.
 *
 * @import { RunDocument } from "../core/types.js"
 */
import { canCompile } from "../core/host.js";
import { store } from "../core/store.js";
import { html, nothing } from "../core/template.js";
import { choose } from "../launch/edit.js";

/** @param {Pick<RunDocument, "recorded" | "match">} document */
export function compileAlike({ recorded, match }) {
  const triton = recorded?.triton ?? "";
  if (!canCompile || match !== "other triton" || !store.state.tritons.versions.includes(triton))
    return nothing;
  return html`<button type="button" class="link" @click=${() => choose({ triton })}>Compile with Triton
    ${triton}</button>`;
}
