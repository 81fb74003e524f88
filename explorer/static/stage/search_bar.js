/**
 * The search of a stage pane: its controls, what is found, and going from one match to the next.
 *
 * @import { StagePane } from "../panes/stage.js"
 * @import { Match } from "../text_search.js"
 */
import { debounce, make, setText } from "../dom.js";
import { findMatches } from "../text_search.js";
import { byLine } from "./places.js";

/** Letters that are typed fast are searched for together; a pause that is felt would be longer than the search. */
const TYPING_PAUSE_MS = 25;

export class SearchBar {
  /** @param {StagePane} pane */
  constructor(pane) {
    this.pane = pane;
    /** @type {Match[]} */
    this.hits = [];
    /** @type {Map<number, Match[]>} */
    this.byLine = new Map();
    this.at = 0;
    /** why not everything was searched */
    this.problem = "";
    this.input = make("input", {
      type: "search", class: "search", placeholder: "search  /", "aria-label": "Search this stage", spellcheck: "false",
      oninput: debounce(() => void this.find(), TYPING_PAUSE_MS), onkeydown: (/** @type {KeyboardEvent} */ event) => this.key(event),
    });
    this.exact = this.toggle("Match case", "Aa");
    this.pattern = this.toggle("Regular expression", ".*");
    this.count = make("span", { class: "count", role: "status" });
    this.elements = [this.count, this.input, this.exact, this.pattern];
  }

  /** @param {string} label @param {string} text */
  toggle(label, text) {
    return make("button", {
      type: "button", class: "toggle", "aria-label": label, "aria-pressed": "false", title: label,
      onclick: (/** @type {Event} */ event) => {
        const button = /** @type {HTMLElement} */ (event.currentTarget);
        button.setAttribute("aria-pressed", String(button.getAttribute("aria-pressed") !== "true"));
        void this.find();
      },
    }, text);
  }

  open() {
    this.input.focus();
    this.input.select();
  }

  /** @param {Match[]} hits */
  set(hits) {
    this.hits = hits;
    this.at = 0;
    this.byLine = byLine(hits);
  }

  async find() {
    const { pane } = this;
    const query = {
      text: this.input.value,
      isPattern: this.pattern.getAttribute("aria-pressed") === "true",
      isExact: this.exact.getAttribute("aria-pressed") === "true",
    };
    const { content } = pane;
    const isHere = !query.text || Boolean(await pane.read());
    if (query.text !== this.input.value || pane.content !== content) return;
    const { matches, problem } = isHere ? findMatches(pane.lines, query) : { matches: [], problem: "the text cannot be had just now" };
    this.problem = problem;
    this.set(matches);
    pane.text.redraw();
    pane.text.mark({ "is-current-hit": () => false });
    pane.links.drawMarks();
    this.goTo(0);
  }

  /** @param {number} index */
  goTo(index) {
    const { hits, problem, input } = this;
    if (hits.length === 0) {
      setText(this.count, problem || (input.value ? "no match" : ""));
      return;
    }
    this.at = (index + hits.length) % hits.length;
    const { line } = /** @type {Match} */ (hits[this.at]);
    this.pane.reveal(line);
    this.pane.text.mark({ "is-current-hit": (each) => each === line });
    setText(this.count, `${this.at + 1} of ${hits.length}${problem ? ` ${problem}` : ""}`);
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.key === "Enter") this.goTo(this.at + (event.shiftKey ? -1 : 1));
    if (event.key === "Escape") {
      event.stopPropagation();
      this.input.value = "";
      void this.find();
      this.pane.text.scroller.focus();
    }
  }
}
