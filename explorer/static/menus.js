/**
 * The menus of the top bar and of the panes: native popovers, placed below their button.
 *
 * @import { DockviewGroupPanel } from "dockview-core"
 * @import { Dock } from "./dock.js"
 */
import { ApiError, api } from "./api.js";
import { byId, make, toast } from "./dom.js";
import { freshDraft, forgetDraft } from "./draft.js";
import { choose } from "./edit.js";
import { forgetScroll } from "./editor.js";
import { size } from "./format.js";
import { hueClass, stageTitle } from "./stages.js";
import { pathOf } from "./pipeline.js";
import { store } from "./store.js";

/** Open an example of the gallery and compile it. @param {string} name */
export async function openExample(name) {
  try {
    const example = await api.example(name);
    const { draft, tritons } = store.state;
    forgetScroll();
    store.update({ pinned: [], origin: null, inspection: null });
    choose(freshDraft(example.source, {
      kernel: example.kernel ?? null,
      target: example.target ?? draft.target,
      triton: draft.triton ?? (tritons.default || null),
    }));
    // An example as it came is nothing to keep.
    forgetDraft();
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    store.update({ problem: error.problem });
  }
}

/** Copy the address of exactly what is shown. */
async function share() {
  const result = store.state.failure ?? store.state.result;
  if (!result) return toast("Compile something first: there is nothing to share yet.");
  const link = `${location.origin}/k/${result.id}${location.hash}`;
  try {
    await navigator.clipboard.writeText(link);
    toast(store.state.edited ? "Link copied. It shows the last compilation, without the edits since." : "Link to this view copied.");
  } catch {
    // Without permission for the clipboard the address bar has it.
    toast("The address bar has the link to this view.");
  }
}

/** @param {Dock} dock */
export function startMenus(dock) {
  byId("share-button").addEventListener("click", () => void share());

  const gallery = menu("gallery-menu", "gallery-button");
  store.watch(["gallery"], () => {
    gallery.replaceChildren(
      ...store.state.gallery.map(({ name, title, summary }) =>
        make("button", { type: "button", class: "card", onclick: () => { gallery.hidePopover(); void openExample(name); } }, make("b", {}, title), make("span", {}, firstSentence(summary)))),
    );
  });

  const download = menu("download-menu", "download-button");
  download.addEventListener("beforetoggle", () => {
    const { result } = store.state;
    const entry = (/** @type {string} */ path, /** @type {string} */ title, /** @type {string} */ more, /** @type {string} */ file) =>
      make("a", { class: "entry", href: api.url(/** @type {string} */ (result?.id), path), download: file }, make("span", {}, title), make("small", {}, more));
    download.replaceChildren(
      ...(result
        ? [
            entry("archive.zip", "Everything", "zip with result.json", `${result.document.kernel ?? "kernel"}-${result.id}.zip`),
            make("hr"),
            ...result.document.stages.map(({ name, title, bytes }) => entry(`stages/${name}?raw=1`, title, size(bytes), `${result.document.kernel ?? "kernel"}.${name}`)),
            make("hr"),
            entry("source", "Source", "Python", `${result.document.kernel ?? "kernel"}.py`),
          ]
        : [make("p", { class: "hint" }, "Compile something first.")]),
    );
  });

  download.addEventListener("click", (event) => {
    if (event.target instanceof Element && event.target.closest("a")) download.hidePopover();
  });

  const panes = menu("pane-menu", null);
  document.addEventListener("pane-menu", (event) => {
    const { group, anchor } = /** @type {CustomEvent<{group: DockviewGroupPanel, anchor: HTMLElement}>} */ (event).detail;
    const entry = (/** @type {string} */ title, /** @type {string} */ summary, /** @type {string} */ hue, /** @type {() => void} */ act) =>
      make("button", { type: "button", class: `entry ${hue}`, title: summary, onclick: () => { panes.hidePopover(); act(); } }, make("span", {}, title));
    const { paneKinds, result } = store.state;
    panes.replaceChildren(
      ...paneKinds.flatMap(({ name, title, summary, per_stage }) =>
        per_stage
          ? [...pathOf(result).map((stage) => entry(stageTitle(stage), summary, hueClass(stage), () => dock.addTo(group, `${name}:${stage}`))), make("hr")]
          : [entry(title, summary, "", () => dock.addTo(group, name))]),
      make("hr"),
      entry("Split to the right", "", "", () => dock.split(group, "right")),
      entry("Split below", "", "", () => dock.split(group, "below")),
    );
    place(panes, anchor);
    panes.showPopover();
  });
}

/** @param {string} id @param {string | null} buttonId */
function menu(id, buttonId) {
  const element = byId(id);
  element.addEventListener("toggle", (event) => {
    const isOpen = /** @type {ToggleEvent} */ (event).newState === "open";
    if (buttonId) byId(buttonId).setAttribute("aria-expanded", String(isOpen));
    if (isOpen) /** @type {HTMLElement | null} */ (element.querySelector("button, a"))?.focus();
  });
  if (buttonId) element.addEventListener("beforetoggle", () => place(element, byId(buttonId)));
  element.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const entries = /** @type {HTMLElement[]} */ ([...element.querySelectorAll("button, a")]);
    const at = entries.indexOf(/** @type {HTMLElement} */ (document.activeElement));
    entries[(at + step + entries.length) % entries.length]?.focus();
  });
  return element;
}

/** Put a menu below its button, inside the window. @param {HTMLElement} element @param {HTMLElement} anchor */
function place(element, anchor) {
  const { bottom, right } = anchor.getBoundingClientRect();
  element.style.top = `${Math.round(bottom + 6)}px`;
  element.style.right = `${Math.max(8, Math.round(innerWidth - right))}px`;
  element.style.maxHeight = `${Math.max(160, Math.round(innerHeight - bottom - 24))}px`;
}

/** @param {string} text */
function firstSentence(text) {
  const plain = text.replace(/\s+/g, " ").trim();
  return /^.*?[.:](?= |$)/.exec(plain)?.[0].replace(/:$/, ".") ?? plain;
}
