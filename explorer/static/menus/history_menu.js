/**
 * The History menu: own results, each one click away.
 *
 * @import { Result } from "../core/result.js"
 * @import { Status } from "../core/types.js"
 * @import { Entry } from "./history.js"
 */
import { orderedUrl } from "../compare/address.js";
import { openResult } from "../launch/edit.js";
import { byId, toast } from "../core/dom.js";
import { ago } from "../core/format.js";
import { html, nothing, render } from "../core/template.js";
import { clearHistory, ownResults, setFavourite, shownResults } from "./history.js";
import { store } from "../core/store.js";

/** @type {Partial<Record<Status, string>>} */
const STATUS_WORDS = { complete: "complete", failed: "failed", kernels_found: "kernels found" };

/** Forget the results of this browser that are no favourites. */
export function clear() {
  clearHistory();
  byId("history-menu").hidePopover();
  toast(ownResults().length ? "History cleared. Favourites are kept." : "History cleared.");
}

/** @param {HTMLElement} popover */
export function draw(popover) {
  const entries = shownResults();
  const shown = store.state.failure ?? store.state.result;
  const rows = entries.map(
    (entry) =>
      html`<div class="history-row">${star(entry, popover)}${ownResult(entry, shown)}${comparison(entry, shown)}</div>`,
  );
  const all = html`${rows}
    <hr />
    <button type="button" class="entry" @click=${clear}>
      <span>Clear the history</span><small>${entries.length} in this browser; favourites are kept</small>
    </button>`;
  const none = html`<p class="hint">What you compile is listed here, in this browser only.</p>`;
  render(entries.length ? all : none, popover);
}

/** @param {Entry} entry @param {Result | null} shown */
function ownResult({ id, status, kernel, title, target, triton, facts, at }, shown) {
  const open = (/** @type {MouseEvent} */ event) => {
    // Other buttons and keys open another tab, as for any link.
    if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    byId("history-menu").hidePopover();
    store.update({ pinned: [], origin: null });
    void openResult(id);
  };
  return html`<a
    class="history-entry"
    href="/k/${encodeURIComponent(id)}"
    aria-current=${id === shown?.id ? "true" : nothing}
    @click=${open}
    ><span class="state is-${status}" role="img" aria-label=${STATUS_WORDS[status] ?? nothing}></span
    ><b>${kernel || (status === "kernels_found" ? "torch.compile" : "no kernel")}</b
    ><span class="history-title">${title}</span
    ><small>${[target, `Triton ${triton}`, facts].filter(Boolean).join(" · ")}</small
    ><time datetime=${new Date(at).toISOString()}>${ago(Date.now() - at)}</time></a
  >`;
}

/** A button that keeps a result at the top. @param {Entry} entry @param {HTMLElement} popover */
function star({ id, kernel, isFavourite = false, at }, popover) {
  const toggle = () => {
    setFavourite(id, !isFavourite);
    draw(popover);
    // The row has moved.
    /** @type {HTMLElement | null} */ (popover.querySelector(`[data-star="${CSS.escape(id)}"]`))?.focus();
  };
  const label = `Favourite: ${kernel || "the result"}, compiled ${ago(Date.now() - at)}`;
  return html`<button type="button" class="history-star" data-star=${id} aria-pressed=${String(isFavourite)}
    aria-label=${label} title="Keep it at the top" @click=${toggle}>${isFavourite ? "★" : "☆"}</button>`;
}

/** @param {Entry} entry @param {Result | null} shown */
function comparison({ id, kernel, triton, at }, shown) {
  if (!shown || id === shown.id) return nothing;
  const label = `Compare ${kernel || "the result"}, compiled ${ago(Date.now() - at)}, with the result shown`;
  return html`<a class="history-compare" href=${orderedUrl({ id, triton }, shown.document)} aria-label=${label}>compare</a>`;
}
