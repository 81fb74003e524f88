/**
 * What a search has tried, and what the taken changes make of the kernel.
 *
 * @import { Search } from "./improve.js"
 */
import { comparisonUrl } from "../compare/address.js";
import { time } from "../core/numbers.js";
import { html, nothing } from "../core/template.js";
import { marked } from "../glossary/marks.js";
import { differencesOf, figuresOf } from "./differences.js";
import { changedLines } from "./improve.js";

/**
 * @param {Search} search @param {Map<string, string>} titles of rules
 * @param {(() => void) | null} apply takes all changes; null: the kernel is no longer shown
 */
export function improvement(search, titles, apply) {
  const { tries, isOver } = search;
  return html`<section class="finding-search" aria-label="Improvement">
    <ol>${tries.map(
      ({ rule, text, words, details, isTaken }) => html`<li class=${isTaken ? "is-proven" : ""}>
        <b>${marked(text)}</b> <span class="finding-more" title=${details || nothing}>${titles.get(rule) ?? rule}: ${marked(words)}</span></li>`,
    )}</ol>
    <div role="status">${isOver ? sum(search, apply) : html`<p>Trying the next change …</p>`}</div>
  </section>`;
}

/** @param {Search} search @param {(() => void) | null} apply */
function sum(search, apply) {
  const { first, last, taken, isStopped, problem } = search;
  const reason = problem || "further changes may help.";
  const end = problem || isStopped ? html`<p>The search was stopped: ${reason}</p>` : nothing;
  if (!taken.length) return html`<p>No change is proven to help: the kernel stays as it is.</p>${end}`;
  const settings = taken.flatMap(({ change }) => Object.entries({ ...change.options, ...change.constants }));
  const before = taken[0]?.results?.before;
  const after = taken.at(-1)?.results?.timing;
  return html`<p class="finding-facts finding-difference">${differenceWords(differencesOf(figuresOf(first), figuresOf(last)))}
      <span>${before && after ? html`Time ${time(before.median_ns)} → <b>${time(after.median_ns)}</b>` : "Time not measured"}</span></p>
    ${settings.length ? html`<p>Launch: ${settings.map(([name, value]) => html`<code>${name}=${String(value)}</code> `)}</p>` : nothing}
    ${changedLines(search).map(
      (each) =>
        html`<pre class="finding-lines"><del class="removed">${each.before.trim()}</del><ins class="added">${each.after.trim()}</ins></pre>`,
    )}
    <p>${apply ? html`<button type="button" class="button small" @click=${apply}>Apply</button>` : nothing}
      <a class="link" href=${comparisonUrl(first.id, last.id)}>Compare</a></p>${end}`;
}

/** @param {ReturnType<typeof differencesOf>} figures */
export function differenceWords(figures) {
  return figures.map(({ title, before, after }) => html`<span>${title} ${before} → <b>${after}</b></span> `);
}
