/**
 * The search of a pane with a text: its controls, the matches, and going from one match to the next.
 *
 * @import { Match } from "./text_search.js"
 * @import { TextPane } from "./text_pane.js"
 */
import { debounce } from "../core/dom.js";
import { html } from "../core/template.js";
import { findMatches } from "./text_search.js";
import { byLine } from "./by_line.js";

/** A longer pause would be noticed; without one, each letter would be searched for. */
const TYPING_PAUSE_MS = 25;

export class SearchBar {
  text = "";
  isExact = false;
  isPattern = false;
  /** @type {Match[]} */
  hits = [];
  /** @type {Map<number, Match[]>} */
  byLine = new Map();
  /** Index of the current match. */
  at = 0;
  /** Why not everything was searched. */
  problem = "";
  /** Whether the matches do not belong to the typed text yet. */
  isDue = false;
  findSoon = debounce(() => void this.finish(), TYPING_PAUSE_MS);

  /** @param {TextPane} pane */
  constructor(pane) {
    this.pane = pane;
  }

  render() {
    return html`<span class="count" role="status">${this.count}</span>
      <input
        type="search"
        class="search"
        placeholder="search  /"
        aria-label="Search this text"
        spellcheck="false"
        .value=${this.text}
        @input=${(/** @type {{target: HTMLInputElement}} */ { target }) => {
          this.text = target.value;
          this.isDue = true;
          this.findSoon();
          this.pane.requestUpdate();
        }}
        @keydown=${(/** @type {KeyboardEvent} */ event) => this.key(event)}
      >
      ${this.toggle("Match case", "Aa", "isExact")} ${this.toggle("Regular expression", ".*", "isPattern")}`;
  }

  /** @param {string} title @param {string} text @param {"isExact" | "isPattern"} option */
  toggle(title, text, option) {
    const toggle = () => {
      this[option] = !this[option];
      this.isDue = true;
      void this.find();
    };
    return html`<button
      type="button"
      class="toggle"
      aria-label=${title}
      aria-pressed=${this[option]}
      title=${title}
      @click=${toggle}
    >${text}</button>`;
  }

  /** How many matches there are; "" until that is known. */
  get count() {
    const { at, hits, isDue, problem, text } = this;
    if (isDue) return "";
    if (hits.length === 0) return problem || (text ? "no match" : "");
    return `${at + 1} of ${hits.length}${problem ? ` ${problem}` : ""}`;
  }

  /** The line of the current match; 0: none. */
  get currentLine() {
    return this.hits[this.at]?.line ?? 0;
  }

  open() {
    const input = /** @type {HTMLInputElement | null} */ (this.pane.querySelector(".search"));
    input?.focus();
    input?.select();
  }

  /** @param {Match[]} hits @param {string} [problem] */
  set(hits, problem = "") {
    this.hits = hits;
    this.problem = problem;
    this.at = 0;
    this.byLine = byLine(hits);
    this.pane.requestUpdate();
  }

  /** Forget the matches: another text is shown. */
  clear() {
    this.set([]);
    this.isDue = this.text !== "";
  }

  /** Search for the typed text, unless its matches are already known. */
  async finish() {
    if (this.isDue) await this.find();
  }

  /** @param {boolean} [goes] to the first match */
  async find(goes = true) {
    const { pane, text } = this;
    const { content } = pane;
    const isHere = !text || Boolean(await pane.read());
    if (!this.isDue || text !== this.text || pane.content !== content) return;
    const { isExact, isPattern } = this;
    this.isDue = false;
    const { matches, problem } = isHere
      ? findMatches(pane.lines, { text, isPattern, isExact })
      : { matches: [], problem: "the text could not be fetched" };
    this.set(matches, problem);
    pane.text.redraw();
    pane.drawMarks();
    if (goes) this.goTo(0);
  }

  /** @param {number} index */
  goTo(index) {
    const { length } = this.hits;
    const hit = this.hits[(index + length) % length];
    if (!hit) return;
    this.at = (index + length) % length;
    this.pane.reveal(hit.line);
    this.pane.text.mark({ "is-current-hit": (line) => line === hit.line });
    this.pane.requestUpdate();
  }

  /** Go to the next or the previous match of the typed text. @param {1 | -1} step */
  async step(step) {
    await this.finish();
    this.goTo(this.at + step);
  }

  /** Remove the text. The last match stays visible. */
  async close() {
    const { text } = this;
    this.pane.text.scroller.focus();
    await this.finish();
    if (text !== this.text) return;
    this.text = "";
    this.isDue = true;
    await this.find();
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.key === "Enter") void this.step(event.shiftKey ? -1 : 1);
    if (event.key !== "Escape") return;
    event.stopPropagation();
    void this.close();
  }
}
