/** The edits of stages and passes of the draft. */
import { choose } from "./edit.js";
import { changesOf } from "../core/pass_edits.js";
import { stageTitle } from "../core/stages.js";
import { store } from "../core/store.js";
import { html, nothing } from "../core/template.js";

/** The edits of stages and passes, each with a button that removes it. */
export function editChips() {
  const changes = changesOf(store.state.draft.edits, stageTitle);
  if (!changes.length) return nothing;
  return html`<div class="chips" role="group" aria-label="Edits of stages and passes">
    ${changes.map(
      ({ words, without }) => html`<button
        type="button"
        class="chip"
        title="Remove this edit"
        aria-label=${`Remove: ${words}`}
        @click=${() => choose({ edits: without })}
      >${words} ×</button>`,
    )}
  </div>`;
}
