/**
 * Folding of regions, blocks and long lists of a stage's text.
 *
 * @import { Syntax } from "../../core/languages.js"
 * @import { Outline } from "../../text/outline.js"
 */
import { longLists } from "./lists.js";

/**
 * @typedef {object} Fold a part that can be folded
 * @property {number} first its header's line, which stays in sight
 * @property {number} from first line that it hides
 * @property {number} to last line that it hides
 * @property {boolean} holds whether it is a function, or has one inside
 * @property {string} [title] of a list: what its lines are
 * @property {boolean} [atFirst] whether it is folded until it is opened
 */

/** The state in which nothing is folded. */
const NONE = "none";

export class Folding {
  /** @type {Map<number, Fold>} by the line of the header */
  folds = new Map();
  /** @type {Set<number>} headers of the folded parts */
  folded = new Set();

  /**
   * Find the foldable parts of a text.
   * @param {string[]} lines
   * @param {Outline} outline
   * @param {Syntax} syntax
   */
  read(lines, outline, syntax) {
    this.folds = new Map();
    const add = (/** @type {Fold} */ fold) => {
      const there = this.folds.get(fold.first);
      if (fold.to >= fold.from && (!there || there.to < fold.to)) this.folds.set(fold.first, fold);
    };
    for (const { first, last, title } of longLists(lines, syntax))
      if (title) {
        const atFirst = syntax.foldedAtFirst?.includes(title) ?? false;
        add({ first, from: first + 1, to: last, holds: false, title, atFirst });
      }
    const functions = outline.regions.filter(({ kind }) => kind === "function");
    for (const { first, last, closes } of outline.regions) {
      const holds = functions.some((each) => first <= each.first && each.first <= last);
      add({ first, from: first + 1, to: closes ? last - 1 : last, holds });
    }
    for (const line of this.folded) if (!this.folds.has(line)) this.folded.delete(line);
  }

  clear() {
    this.folds = new Map();
    this.folded = new Set();
  }

  /** @param {number} line @returns {Fold | null} the part with its header there */
  at(line) {
    return this.folds.get(line) ?? null;
  }

  /**
   * The innermost fold that a line is in or heads.
   * @param {number} line
   * @param {boolean} isOpen that is not folded yet
   * @returns {Fold | null}
   */
  around(line, isOpen) {
    let found = null;
    for (const fold of this.folds.values()) {
      if (
        fold.first <= line &&
        line <= fold.to &&
        !(isOpen && this.folded.has(fold.first)) &&
        (!found || found.first <= fold.first)
      )
        found = fold;
    }
    return found;
  }

  /** @param {number} line a header @param {boolean} isFolded */
  set(line, isFolded) {
    if (isFolded && this.folds.has(line)) this.folded.add(line);
    else this.folded.delete(line);
  }

  /**
   * Fold everything inside of functions and beside them, so that their skeletons stay; or unfold everything.
   * @param {boolean} isFolded
   */
  setAll(isFolded) {
    this.folded = isFolded ? this.all() : new Set();
  }

  /** The headers of everything that `setAll` folds. */
  all() {
    return new Set([...this.folds.values()].filter(({ holds }) => !holds).map(({ first }) => first));
  }

  /** The first lines of the regions that are folded until they are opened. */
  atFirst() {
    return new Set([...this.folds.values()].filter(({ atFirst }) => atFirst).map(({ first }) => first));
  }

  /**
   * Return the folds for the address: lines of headers, "6.61"; "all", with the lines of exceptions, "all.61"; "none";
   * or "" for the initial folds.
   */
  get state() {
    const atFirst = this.atFirst();
    if (atFirst.size === this.folded.size && [...atFirst].every((line) => this.folded.has(line))) return "";
    if (this.folded.size === 0) return NONE;
    const all = this.all();
    const differing = [
      ...[...all].filter((line) => !this.folded.has(line)),
      ...[...this.folded].filter((line) => !all.has(line)),
    ];
    const isNearlyAll = differing.length < this.folded.size;
    const lines = (isNearlyAll ? differing : [...this.folded]).sort((one, other) => one - other);
    return [...(isNearlyAll ? ["all"] : []), ...lines].join(".");
  }

  /** Apply the folds of the address that this text has. @param {string} state */
  set state(state) {
    if (!state || state === NONE) {
      this.folded = state ? new Set() : this.atFirst();
      return;
    }
    const [first, ...others] = state.split(".");
    this.setAll(first === "all");
    for (const line of (first === "all" ? others : [first, ...others]).map(Number))
      this.set(line, !this.folded.has(line));
  }

  /** Unfold the parts that hide a line. @param {number} line @returns {boolean} whether anything did */
  uncover(line) {
    let any = false;
    for (const first of this.folded) {
      const fold = this.folds.get(first);
      if (fold && fold.from <= line && line <= fold.to) any = this.folded.delete(first) || any;
    }
    return any;
  }

  /** Mark the lines that are folded away. @param {Uint8Array} hidden by line */
  hide(hidden) {
    for (const first of this.folded) {
      const fold = this.folds.get(first);
      if (fold) hidden.fill(1, fold.from, fold.to + 1);
    }
  }
}
