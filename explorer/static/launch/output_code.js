/** The output code: the script with the kernels that `torch.compile` or Helion writes for the draft. */
import { freshDraft } from "../core/fresh_draft.js";
import { choose } from "./edit.js";
import { store } from "../core/store.js";
import { html, nothing } from "../core/template.js";

/** The hint that the draft has output code, with a button that opens it. */
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

/** Edit the output code. The program becomes a file beside it. */
export function openOutputCode() {
  const { draft, inspection } = store.state;
  const code = inspection?.output_code;
  if (!code) return;
  const { target, triton } = draft;
  const { source, path, files } = code;
  store.update({ openFile: "" });
  choose(freshDraft(source, target, { triton, path, files }));
}
