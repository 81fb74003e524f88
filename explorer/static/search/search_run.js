/**
 * A search of several texts, one after the other.
 *
 * @import { Query } from "../text/text_search.js"
 * @import { Found } from "./found_lines.js"
 * @import { SearchedText } from "./searched_texts.js"
 * @import { TextWorker } from "./text_worker.js"
 */
import { plural } from "../core/format.js";
import { Closed, TooLong } from "./text_worker.js";

export class SearchRun {
  /** @type {Map<SearchedText, Found>} */
  found = new Map();
  /** The titles of the texts that cannot be read. @type {string[]} */
  missing = [];
  problem = "";
  /** The title of the text that is being loaded. */
  loading = "";
  isDone = false;
  isCanceled = false;

  /**
   * @param {TextWorker} worker
   * @param {SearchedText[]} texts
   * @param {Query} query
   * @param {number} columns the width of the list of lines
   */
  constructor(worker, texts, query, columns) {
    this.worker = worker;
    this.texts = texts;
    this.query = query;
    this.columns = columns;
  }

  /** @param {() => void} changed called before each text is loaded, after each text, and at the end */
  async start(changed) {
    for (const text of this.query.text ? this.texts : []) {
      try {
        const read = async () => {
          this.loading = text.title;
          if (!this.isCanceled) changed();
          return text.read().finally(() => (this.loading = ""));
        };
        const found = await this.worker.find(text.key, read, this.query, this.columns);
        if (this.isCanceled) return;
        if (found) this.found.set(text, found);
        else this.missing.push(text.title);
        this.problem = found?.problem ?? "";
      } catch (error) {
        if (error instanceof Closed || this.isCanceled) return;
        this.problem = error instanceof TooLong ? "took too long" : "failed";
      }
      // An expression that is wrong or slow in one text is so in the others.
      if (this.problem && this.problem !== "and more") break;
      changed();
    }
    this.isDone = true;
    changed();
  }

  cancel() {
    this.isCanceled = true;
    this.worker.cancel();
  }

  /** What the search has found so far, in words. */
  get words() {
    const { found, missing, problem, query, isDone, loading } = this;
    if (!query.text) return "";
    if (problem === "took too long")
      return query.isPattern
        ? "Stopped: the expression takes too long. Avoid repetitions inside of repetitions."
        : "Stopped: the search takes too long. Try again.";
    if (problem === "failed") return "The search failed. Try again.";
    if (problem && problem !== "and more") return `Not a regular expression: ${problem}.`;
    const all = [...found.values()].filter(({ matches }) => matches);
    const matches = all.reduce((sum, each) => sum + each.matches, 0);
    const unread = missing.length ? ` Could not be fetched: ${missing.join(", ")}.` : "";
    if (!isDone)
      return `${plural(matches, "match")} so far, ${loading ? `loading ${loading}` : "searching"} …`;
    const least = all.some((each) => each.problem) ? "At least " : "";
    return matches
      ? `${least}${plural(matches, "match")} in ${plural(all.length, "text")}.${unread}`
      : `No match.${unread}`;
  }
}
