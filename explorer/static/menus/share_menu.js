/**
 * The Share menu: the link to this view, the snippet that embeds it, and the result as files.
 *
 * @import { Result } from "../core/result.js"
 * @import { Download } from "./share.js"
 */
import { api } from "../core/api.js";
import { byId, make, toast } from "../core/dom.js";
import { targetTitle } from "../core/format.js";
import { canCompile, isFile } from "../core/host.js";
import { ACCOUNT } from "../core/privacy.js";
import { html, live, nothing, render } from "../core/template.js";
import { store } from "../core/store.js";
import { deletion } from "./deletion.js";
import { NOTHING, permalink, shown, textDownloads, wholeDownloads } from "./share.js";

const EMBED_HEIGHT_PX = 560;

/**
 * HTML for another page that shows this view in a frame.
 * @param {Result} result
 * @param {boolean} withSource
 */
function embedSnippet({ id, document: { kernel, target, triton } }, withSource) {
  const fragment = location.hash
    .replace(/^#/, "")
    .split("&")
    .filter((part) => part && part !== "read");
  if (withSource) fragment.push("source");
  const frame = make("iframe", {
    src: `${location.origin}/embed/${id}${fragment.length ? `#${fragment.join("&")}` : ""}`,
    title: `${kernel ?? "Kernel"}, ${targetTitle(target)}, Triton ${triton}`,
    width: "100%",
    height: EMBED_HEIGHT_PX,
    loading: "lazy",
  });
  frame.style.border = "0";
  return frame.outerHTML;
}

/** @param {HTMLElement} popover */
export function draw(popover) {
  drawAsking(popover, false);
}

/** @param {HTMLElement} popover @param {boolean} isAsking whether to delete the result */
function drawAsking(popover, isAsking) {
  const result = shown();
  const setAsking = (/** @type {boolean} */ asking) => {
    drawAsking(popover, asking);
    if (asking) byId("deletion-button").focus();
  };
  const all = result && html`${choices(result)}${isFile ? nothing : deletion(result, isAsking, setAsking)}`;
  render(all ?? html`<p class="hint">${NOTHING}</p>`, popover);
}

/** @param {Result} result */
function choices(result) {
  const entry = (/** @type {Download} */ { path, title, more, file, hue = "" }) =>
    html`<a class="entry ${hue}" href=${api.url(result.id, path)} download=${file} @click=${close}
      ><span>${title}</span><small>${more}</small></a
    >`;
  const texts = textDownloads(result).map(entry);
  if (isFile) return html`<section class="share-files" aria-label="Files">${texts}</section>`;
  const edited = html`<p class="hint">It shows the last compilation, without the edits since.</p>`;
  const fill = (/** @type {Event} */ event) => {
    const { checked } = /** @type {HTMLInputElement} */ (event.currentTarget);
    /** @type {HTMLTextAreaElement} */ (byId("share-embed")).value = embedSnippet(result, checked);
  };
  return html`<section>
      <h2>Link to this view</h2>
      <div class="share-row">
        ${copyButton(result.id, "share-link", "Copy link", "Link to this view copied.")}
        <input
          type="text"
          readonly
          id="share-link"
          aria-label="Link to this view"
          .value=${live(permalink(result))}
        />
      </div>
      ${privacyHint(result)} ${store.state.edited ? edited : nothing}
    </section>
    <section>
      <h2>Embed in a page</h2>
      <textarea
        readonly
        rows="3"
        id="share-embed"
        aria-label="HTML that embeds this view"
        spellcheck="false"
        .value=${live(embedSnippet(result, false))}
      ></textarea>
      <div class="share-row">
        ${copyButton(result.id, "share-embed", "Copy HTML", "HTML to embed this view copied.")}
        <label class="check"
          ><input type="checkbox" .checked=${live(false)} @change=${fill} />with the source</label
        >
      </div>
    </section>
    ${
      canCompile
        ? html`<section>
      <h2>Teach</h2>
      <button type="button" class="button" @click=${() => makeExercise(result)}>Make an exercise …</button>
    </section>`
        : nothing
    }
    <section class="share-files" aria-label="Files">
      <h2>Files</h2>
      ${wholeDownloads(result).map(entry)}
      <hr />
      ${texts}
    </section>`;
}

/** Who can open the link, unless everybody who has it can. @param {Result} result */
function privacyHint({ document: { request } }) {
  if (!request.private) return nothing;
  const words = request.private.startsWith(ACCOUNT)
    ? "Only you can open it, signed in. For others, compile with a private link, and send them that."
    : "Everybody with this link can open it. Nobody can guess it.";
  return html`<p class="hint">${words}</p>`;
}

/** @param {Result} result */
function makeExercise(result) {
  close();
  void import("../lessons/exercise_maker.js").then((maker) => maker.makeExercise(result));
}

function close() {
  byId("share-menu").hidePopover();
}

/** @param {string} id of the result @param {string} fieldId @param {string} title @param {string} done */
export function copyButton(id, fieldId, title, done) {
  const copy = async () => {
    const field = /** @type {HTMLInputElement | HTMLTextAreaElement} */ (byId(fieldId));
    if (await isCopied(field)) {
      close();
      toast(done);
      void api.retain(id);
    } else {
      toast("This browser does not let the page copy. The text is selected: press Ctrl+C.");
    }
  };
  return html`<button type="button" class="button primary" @click=${copy}>${title}</button>`;
}

/**
 * Copy the text of a field. A browser without a clipboard for this page (plain HTTP, or refused) copies a
 * selection; where that fails, too, the text stays selected.
 * @param {HTMLInputElement | HTMLTextAreaElement} field
 */
async function isCopied(field) {
  try {
    await navigator.clipboard.writeText(field.value);
    return true;
  } catch {
    field.focus();
    field.select();
    return document.execCommand("copy");
  }
}
