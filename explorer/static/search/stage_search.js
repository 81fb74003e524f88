/**
 * `<stage-search>`: one search over all texts of the result. Arrow keys choose a line, Enter goes to it.
 *
 * @import { Dock } from "../dock/dock.js"
 * @import { FoundLine } from "./found_lines.js"
 * @import { SearchedText } from "./searched_texts.js"
 */
import { LitElement } from "lit";
import { debounce } from "../core/dom.js";
import { grouped, plural } from "../core/format.js";
import { store } from "../core/store.js";
import { html, nothing } from "../core/template.js";
import { workerAddress } from "../core/worker_script.js";
import { SearchRun } from "./search_run.js";
import { searchedTexts } from "./searched_texts.js";
import { TextWorker } from "./text_worker.js";

const TYPING_PAUSE_MS = 80;
/** The lines of a text that are listed until more are wanted. */
const FEW_LINES = 6;
const FEW_PASS_LINES = 2;
/** The width of a letter of the code, and of all beside the code. */
const LETTER_PX = 7.5;
const BESIDE_CODE_PX = 94;
const STEPS = /** @type {Record<string, number>} */ ({ ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 });

/** The last search. */
const last = { text: "", isExact: false, isPattern: false, withPasses: false };
const worker = new TextWorker(() => workerAddress("text_search"));
/** The result whose texts the worker may have. @type {string | undefined} */
let searchedId;

/** The texts of the result that is shown. */
const textsNow = () => (store.state.result ? searchedTexts(store.state.result, last.withPasses) : []);
const keysOf = (/** @type {SearchedText[]} */ texts) => texts.map(({ key }) => key).join("\n");

/** @typedef {{text: SearchedText, found: FoundLine | null}} Option without a line: it lists more lines of the text */

class StageSearch extends LitElement {
  static properties = { run: { state: true }, at: { state: true } };

  /** The texts of which all lines are listed. @type {Set<string>} */
  unfolded = new Set();
  /** @type {(() => void) | undefined} */
  unwatch;
  searchSoon = debounce(() => this.search(), TYPING_PAUSE_MS);

  /** @param {Dock} dock */
  constructor(dock) {
    super();
    this.dock = dock;
    /** @type {SearchRun | null} */
    this.run = null;
    /** The chosen option. */
    this.at = 0;
  }

  /** @override */
  createRenderRoot() {
    return this;
  }

  get dialog() {
    return /** @type {HTMLDialogElement} */ (this.querySelector("dialog"));
  }

  get input() {
    return /** @type {HTMLInputElement} */ (this.querySelector("input[type=text]"));
  }

  /** The characters of a line that have room in the list. */
  get columns() {
    return Math.floor((this.dialog.clientWidth - BESIDE_CODE_PX) / LETTER_PX);
  }

  /** The options, in the order of the list. @returns {Option[]} */
  get options() {
    return [...(this.run?.found ?? [])].flatMap(([text, found]) => {
      const listed = found.listed.slice(0, this.shownLines(text, found.listed.length));
      const lines = listed.map((each) => ({ text, found: each }));
      return listed.length < found.listed.length ? [...lines, { text, found: null }] : lines;
    });
  }

  /** @override */
  render() {
    const { at, options, run } = this;
    return html`<dialog class="palette stage-search" aria-label="Search all stages" @close=${() => this.close()}
      @click=${(/** @type {Event} */ { target }) => target === this.dialog && this.dialog.close()}>
      <div class="search-head">
        <input type="text" role="combobox" aria-label="Search all stages" aria-controls="search-list"
          aria-expanded="true" aria-autocomplete="list" aria-activedescendant=${options.length ? `found-${at}` : nothing}
          placeholder="Search the source and all stages" autocomplete="off" spellcheck="false" .value=${last.text}
          @input=${this.type} @keydown=${this.key}>
        ${this.toggle("Match case", "Aa", "isExact")} ${this.toggle("Regular expression", ".*", "isPattern")}
        <label class="check" title="Search the modules after all passes that changed something, too"><input
          type="checkbox" .checked=${last.withPasses}
          @change=${(/** @type {{target: HTMLInputElement}} */ { target }) => this.set({ withPasses: target.checked })}
        >passes</label>
      </div>
      <div class="search-counts">${this.counts()}</div>
      <div class="palette-list" role="listbox" id="search-list" aria-label="Matching lines">
        ${options.map((option, index) => this.row(option, index, options[index - 1]))}
      </div>
      <p class="search-status" role="status">${run?.words || hint()}</p>
    </dialog>`;
  }

  /** @param {string} title @param {string} text @param {"isExact" | "isPattern"} name */
  toggle(title, text, name) {
    return html`<button type="button" class="toggle" aria-label=${title} title=${title} aria-pressed=${last[name]}
      @click=${() => this.set({ [name]: !last[name] })}>${text}</button>`;
  }

  /** The matches of each text; a click goes to the first of them in the list. */
  counts() {
    const { run } = this;
    if (!run?.query.text) return nothing;
    const shown = run.texts.filter((text) => !text.isPass);
    const inPasses = [...run.found].filter(([{ isPass }]) => isPass);
    const passMatches = inPasses.reduce((sum, [, { matches }]) => sum + matches, 0);
    const chip = (
      /** @type {string} */ title,
      /** @type {string} */ hue,
      /** @type {number | undefined} */ matches,
      /** @type {(text: SearchedText) => boolean} */ isOf,
    ) =>
      html`<button type="button" class="chip of-stage ${hue}" ?disabled=${!matches}
        title=${matches === undefined ? "Not searched yet" : plural(matches, "match")}
        @click=${() => this.goToText(isOf)}>${title} <b>${matches === undefined ? "…" : grouped(matches)}</b></button>`;
    return [
      ...shown.map((text) =>
        chip(text.title, text.hue, run.found.get(text)?.matches, (each) => each === text),
      ),
      last.withPasses ? chip("passes", "", passMatches, ({ isPass }) => isPass) : nothing,
    ];
  }

  /** @param {Option} option @param {number} index @param {Option} [before] */
  row({ text, found }, index, before) {
    const of = this.run?.found.get(text);
    const head =
      before?.text === text || !of
        ? nothing
        : html`<div class="search-text ${text.hue}" role="presentation"><b>${text.title}</b>
            <small>${plural(of.matches, "match")}${of.lines === of.matches ? "" : ` in ${plural(of.lines, "line")}`}</small></div>`;
    const left = of ? of.listed.length - this.shownLines(text, of.listed.length) : 0;
    const beyond = of && of.lines > of.listed.length ? `, of ${grouped(of.lines)} in all` : "";
    return html`${head}<div role="option" id="found-${index}" class="search-line" aria-selected=${String(index === this.at)}
      @click=${() => this.choose(index)}>${
        found
          ? html`<span class="number">${found.line}</span><code>${found.pieces.map(([words, isMatch]) => (isMatch ? html`<mark>${words}</mark>` : words))}</code>`
          : html`<span class="number"></span><span class="search-more">${`${grouped(left)} more${beyond}`}</span>`
      }</div>`;
  }

  /** @param {SearchedText} text @param {number} all */
  shownLines(text, all) {
    return this.unfolded.has(text.key) ? all : Math.min(all, text.isPass ? FEW_PASS_LINES : FEW_LINES);
  }

  /** @override */
  firstUpdated() {
    this.dialog.showModal();
    this.input.focus();
    this.input.select();
    this.unwatch = store.watch(["result"], () => this.follow());
  }

  /** Search again when there are other texts. */
  follow() {
    if (!this.run || keysOf(textsNow()) !== keysOf(this.run.texts)) this.search();
  }

  /** @override @param {Map<string, unknown>} changed */
  updated(changed) {
    if (changed.has("at")) this.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }

  /** @param {{target: HTMLInputElement}} event */
  type({ target }) {
    last.text = target.value;
    this.searchSoon();
  }

  /** @param {Partial<typeof last>} changes */
  set(changes) {
    Object.assign(last, changes);
    this.search();
    this.input.focus();
  }

  search() {
    const { result } = store.state;
    this.searchSoon.cancel();
    this.run?.cancel();
    this.unfolded.clear();
    this.at = 0;
    // The worker keeps the texts of one result.
    if (result?.id !== searchedId) worker.close();
    searchedId = result?.id;
    const { withPasses, ...query } = last;
    const run = new SearchRun(worker, textsNow(), query, this.columns);
    this.run = run;
    void run.start(() => this.run === run && this.requestUpdate());
  }

  /** Choose the first line of a text. @param {(text: SearchedText) => boolean} isOf */
  goToText(isOf) {
    this.at = Math.max(
      0,
      this.options.findIndex(({ text }) => isOf(text)),
    );
    this.input.focus();
  }

  /** Go to a line, or list more of them. @param {number} index */
  choose(index) {
    const option = this.options[index];
    if (!option) return;
    const { text, found } = option;
    if (!found) {
      this.unfolded.add(text.key);
      this.at = index;
      this.requestUpdate();
      this.input.focus();
      return;
    }
    this.dialog.close();
    const pane = text.paneOf(found.line);
    if (pane) document.dispatchEvent(new CustomEvent("pane-open", { detail: pane }));
    text.go(found.line);
    if (pane) this.dock.focus();
  }

  close() {
    this.unwatch?.();
    this.run?.cancel();
    this.searchSoon.cancel();
    this.remove();
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const { length } = this.options;
    const step = STEPS[event.key];
    if (step && length) {
      const next = this.at + step;
      this.at = Math.abs(step) === 1 ? (next + length) % length : Math.min(length - 1, Math.max(0, next));
    } else if (event.key === "Enter") this.enter();
    else return;
    event.preventDefault();
  }

  /** Go to the chosen line. Some users press Enter before the search has begun. */
  enter() {
    if (this.run?.query.text !== last.text) this.search();
    else this.choose(this.at);
  }
}

const hint = () =>
  store.state.result
    ? "Arrow keys choose a line, Enter goes to it."
    : "Compile a kernel to search its stages.";

customElements.define("stage-search", StageSearch);

/** @param {Dock} dock */
export function openStageSearch(dock) {
  if (!document.querySelector("stage-search")) document.body.append(new StageSearch(dock));
}
