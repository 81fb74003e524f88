/**
 * The earlier runs of this compilation, and the profiles of its kernel.
 *
 * @import { RunRow, RunsDocument } from "../../core/types.js"
 */
import { store } from "../../core/store.js";
import { html, nothing } from "../../core/template.js";
import { outcomeOf, runFacts, runMoment, runTitle } from "../../runs/words.js";

/**
 * @param {RunsDocument} runs @param {string} shown the id of the run on screen
 * @param {(id: string) => void} open
 */
export function runList({ runs, imported, recordings, left_out: leftOut }, shown, open) {
  const part = (/** @type {string} */ title, /** @type {RunRow[]} */ rows) =>
    rows.length
      ? html`<h3>${title}</h3><ul>${rows.map((row) => html`<li>${entry(row, shown, open)}</li>`)}</ul>`
      : nothing;
  const count = runs.length + imported.length + recordings.length;
  if (count === 0 && !leftOut) return nothing;
  return html`<div class="run-lists">
    ${
      count
        ? html`<nav class="run-list" aria-label="Runs of this kernel">
            ${part("Runs", runs)} ${part("From other machines", imported)} ${part("Profiles", recordings)}
          </nav>`
        : nothing
    }
    ${leftOut ? html`<p class="hint">${leftOut}</p>` : nothing}
  </div>`;
}

/** @param {RunRow} known @param {string} shown @param {(id: string) => void} open */
function entry(known, shown, open) {
  // The page knows more of a run that it follows than the list did.
  const row = store.state.runResults.get(known.id)?.document ?? known;
  const { isWrong, words } = outcomeOf(row);
  const state = isWrong ? "failed" : row.status === "complete" ? "complete" : "compiling";
  const outcome = row.matches ? ", matches the reference" : ", complete";
  return html`<button type="button" class=${`run-entry is-${state}`}
      aria-current=${row.id === shown ? "true" : nothing} @click=${() => open(row.id)}>
    <span class="mark" aria-hidden="true"></span><b>${runTitle(row)}</b>
    <span class="run-entry-facts">${runFacts(row)}</span>
    <span class="run-entry-moment">${runMoment(row)}</span>
    ${
      words
        ? html`<span class="run-entry-state" title=${words}>${words}</span>`
        : html`<span class="visually-hidden">${outcome}</span>`
    }
  </button>`;
}
