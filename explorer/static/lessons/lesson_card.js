/**
 * The common parts of the cards of tours and exercises: their place above the panes, their head, and opening a kernel.
 *
 * @import { State } from "../core/store.js"
 * @import { Draft, LessonLaunch } from "../core/types.js"
 * @import { Dock } from "../dock/dock.js"
 */
import { LitElement } from "lit";
import { ApiError, api } from "../core/api.js";
import { freshDraft } from "../core/fresh_draft.js";
import { follow } from "../core/pane.js";
import { store } from "../core/store.js";
import { html } from "../core/template.js";
import { draftOf, sameRequest } from "../launch/draft.js";
import { choose } from "../launch/edit.js";

export class LessonCard extends LitElement {
  /** The name of the lesson's kind in the address, before "=". */
  static kind = "";
  /** The parts of the store that are drawn, besides the lesson. @type {(keyof State)[]} */
  static slices = ["result", "edited"];

  constructor() {
    super();
    /** @type {Dock | null} */
    this.dock = null;
    const { slices } = /** @type {typeof LessonCard} */ (this.constructor);
    follow(this, ["lesson", ...slices], () => (this.address === null ? this.remove() : this.requestUpdate()));
  }

  /** @override */
  createRenderRoot() {
    return this;
  }

  /** The text behind "=" in the address; null: a lesson of a different kind, or none. @returns {string | null} */
  get address() {
    const { kind } = /** @type {typeof LessonCard} */ (this.constructor);
    const { lesson } = store.state;
    return lesson.startsWith(`${kind}=`) ? lesson.slice(kind.length + 1) : null;
  }

  /** Show the lesson of the address. */
  async show() {}

  close() {
    store.update({ lesson: "" });
  }

  /** In a narrow window, the card is below the source. */
  async scrollToSight() {
    await this.updateComplete;
    if (matchMedia("(max-width: 720px)").matches) this.scrollIntoView();
  }

  /** Take the focus from where the lesson was opened by a key. After the palette, nothing has it. */
  takeFocus() {
    const { activeElement, body } = document;
    const isFree = activeElement === body || activeElement?.matches(":focus-visible");
    if (isFree && !this.contains(activeElement)) this.focus();
  }

  /** @param {string} title @param {string} words @param {string} leave what the button does */
  head(title, words, leave) {
    return html`<header class="lesson-head">
      <b>${title}</b>
      <span>${words}</span>
      <button type="button" class="tool" aria-label=${leave} title=${leave} @click=${this.close}>×</button>
    </header>`;
  }
}

/**
 * The draft of a launch; null: the page says why there is none.
 * @param {LessonLaunch} launch @returns {Promise<Draft | null>}
 */
export async function draftOfLaunch({ example, source, kernel, target, options, signature, replace }) {
  const { draft, tritons } = store.state;
  const text = source || (await sourceOf(example));
  if (text === null) return null;
  return freshDraft(replaced(text, replace), target, {
    kernel,
    options,
    signature,
    mode: signature ? "signature" : "launch",
    triton: draft.triton ?? (tritons.default || null),
  });
}

/** A source with parts of it replaced. @param {string} source @param {Record<string, string>} parts */
export function replaced(source, parts) {
  return Object.entries(parts).reduce((text, [old, now]) => text.replaceAll(old, () => now), source);
}

/**
 * The result that is shown, when it is finished: a frame, a file and a link open with their card before it.
 * @returns {Promise<NonNullable<State["result"]>>}
 */
export function firstResult() {
  return new Promise((resolve) => {
    const stop = store.watch(["result"], () => {
      const { result } = store.state;
      if (!result?.finished) return;
      resolve(result);
      queueMicrotask(() => stop());
    });
  });
}

/** Compile a draft, unless the page shows its result. @param {Draft} wanted */
export function openDraft(wanted) {
  const { result, edited } = store.state;
  if (result && !edited && sameRequest({ ...draftOf(result.document), private: "" }, wanted)) return;
  choose(wanted);
}

/**
 * The script of an example; null: the page says why there is none.
 * @param {string} example
 */
async function sourceOf(example) {
  try {
    return (await api.example(example, new AbortController().signal)).source;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    store.update({ problem: error.problem });
    return null;
  }
}
