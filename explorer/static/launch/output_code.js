/** The kernels that PyTorch's compiler writes for the draft. */
import { freshDraft } from "../core/fresh_draft.js";
import { choose } from "./edit.js";
import { store } from "../core/store.js";
import { html, nothing } from "../core/template.js";

/** The button that opens the script that PyTorch's compiler writes for the draft. */
export function outputCode() {
  if (!store.state.inspection?.output_code) return nothing;
  return html`<p class="hint output-code">
    A compiler writes the kernels of this program.
    <button
      type="button"
      class="button small"
      title="Edit the script with the kernels; the program becomes a file beside it"
      @click=${openOutputCode}
    >Open the kernels</button>
  </p>`;
}

/** Edit the script that PyTorch's compiler writes for the draft. */
export function openOutputCode() {
  const { draft, inspection } = store.state;
  const code = inspection?.output_code;
  if (!code) return;
  const { target, triton } = draft;
  const { source, path, files } = code;
  store.update({ openFile: "" });
  choose(freshDraft(source, target, { triton, path, files }));
}
