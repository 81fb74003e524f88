/**
 * The part of the Share menu that deletes a result of this browser or account.
 *
 * @import { Result } from "../core/result.js"
 */
import { ApiError, api } from "../core/api.js";
import { byId, toast } from "../core/dom.js";
import { account } from "../core/host.js";
import { ACCOUNT } from "../core/privacy.js";
import { html, nothing } from "../core/template.js";
import { forgetDraft } from "../launch/draft.js";
import { keep } from "../core/storage.js";
import { STORAGE_KEY, ownResults } from "./history.js";

/** How long a message is read before the page opens anew. */
const MESSAGE_MS = 1500;

/**
 * @param {Result} result
 * @param {boolean} isAsking whether the user has pressed Delete
 * @param {(isAsking: boolean) => void} setAsking draws the menu again
 */
export function deletion({ id, document }, isAsking, setAsking) {
  const isOfAccount = account && document.request.private.startsWith(`${ACCOUNT}:${account}:`);
  if (!isOfAccount && !ownResults().some((entry) => entry.id === id)) return nothing;
  if (!isAsking)
    return html`<section class="share-files">
      <button type="button" class="entry" @click=${() => setAsking(true)}>
        <span>Delete this result …</span><small>with its runs and its source</small>
      </button>
    </section>`;
  return html`<section class="deletion" role="group" aria-label="Delete this result">
    <p>Delete this result with its runs and its source? Links to it will not work any more.</p>
    <div class="share-row">
      <button type="button" class="button" id="deletion-button" @click=${() => void remove(id)}>Delete</button>
      <button type="button" class="button" @click=${() => setAsking(false)}>Keep</button>
    </div>
  </section>`;
}

/** @param {string} id */
async function remove(id) {
  try {
    const { removed } = await api.remove(id);
    keep(STORAGE_KEY, JSON.stringify(ownResults().filter((entry) => entry.id !== id)));
    byId("share-menu").hidePopover();
    if (!removed.includes(id))
      return toast("The result stays for other clients, who have submitted or retained it.");
    forgetDraft();
    toast("Deleted.");
    setTimeout(() => location.assign("/"), MESSAGE_MS);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    toast(error.problem.detail);
  }
}
