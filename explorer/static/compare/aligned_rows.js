/**
 * Two aligned texts as rows to draw: side by side or one below the other, with runs of equal lines folded.
 *
 * @import { DiffSpan } from "../core/types.js"
 *
 * A line number of 0 says that the row has nothing on that side. `pair` is where the row's counterpart is:
 * the line of the other side that a changed line took the place of.
 * @typedef {{kind: "same" | "changed" | "fold", before: number, after: number, pair: number, run: number}}
 *   Row
 * @typedef {{before: Set<number>, after: Set<number>}} Chosen the changed lines that are shown
 */

const CONTEXT_LINES = 3;
/** A fold hides at least this many lines: less is no gain. */
const LEAST_FOLDED = 4;

export class AlignedRows {
  /**
   * @param {DiffSpan[]} runs
   * @param {boolean} unified
   * @param {Chosen | null} [chosen] null: all are shown
   * @param {Set<number>} [unfolded] runs that are shown in full
   */
  constructor(runs, unified, chosen = null, unfolded = new Set()) {
    this.runs = runs;
    this.unified = unified;
    this.chosen = chosen;
    this.unfolded = unfolded;
    this.build();
  }

  build() {
    /** @type {Row[]} */
    this.rows = [];
    /** @type {number[]} the index of the first row of each change */
    this.changes = [];
    this.runs.forEach((run, index) => {
      if (run.same) this.addSame(run, index);
      else this.addChanged(run, index);
    });
  }

  /** @param {number} run */
  unfold(run) {
    this.unfolded.add(run);
    this.build();
  }

  unfoldAll() {
    this.runs.forEach((_, index) => this.unfolded.add(index));
    this.build();
  }

  get isFolded() {
    return this.rows.some(({ kind }) => kind === "fold");
  }

  /** How many lines a fold hides. @param {number} index */
  hidden(index) {
    const [first, last] = this.foldOf(index);
    return last - first;
  }

  /**
   * The lines of a run that are hidden while it is folded, as offsets.
   * @param {number} index
   * @returns {[number, number]}
   */
  foldOf(index) {
    const count = this.runs[index]?.before_lines ?? 0;
    const first = index === 0 ? 0 : CONTEXT_LINES;
    const last = index === this.runs.length - 1 ? count : count - CONTEXT_LINES;
    // Texts that are the same throughout are shown.
    return this.runs.length > 1 && last - first >= LEAST_FOLDED && !this.unfolded.has(index)
      ? [first, last]
      : [0, 0];
  }

  /** @param {DiffSpan} run @param {number} index */
  addSame({ before_line, after_line, before_lines }, index) {
    const [first, last] = this.foldOf(index);
    for (let offset = 0; offset < before_lines; offset += 1) {
      if (offset === first && last > first) {
        this.rows.push({ kind: "fold", before: 0, after: 0, pair: 0, run: index });
        offset = last;
        if (offset >= before_lines) return;
      }
      this.rows.push({
        kind: "same",
        before: before_line + offset,
        after: after_line + offset,
        pair: 0,
        run: index,
      });
    }
  }

  /** @param {DiffSpan} run @param {number} index */
  addChanged({ before_line, before_lines, after_line, after_lines }, index) {
    const first = this.rows.length;
    const both = Math.min(before_lines, after_lines);
    const most = Math.max(before_lines, after_lines);
    const { chosen } = this;
    const row = (/** @type {number} */ before, /** @type {number} */ after, /** @type {number} */ pair) => {
      const shown = {
        before: !chosen || chosen.before.has(before) ? before : 0,
        after: !chosen || chosen.after.has(after) ? after : 0,
      };
      if (shown.before || shown.after)
        this.rows.push({ kind: "changed", ...shown, pair: chosen ? 0 : pair, run: index });
    };
    if (this.unified) {
      for (let i = 0; i < before_lines; i += 1) row(before_line + i, 0, i < both ? after_line + i : 0);
      for (let i = 0; i < after_lines; i += 1) row(0, after_line + i, i < both ? before_line + i : 0);
    } else {
      for (let i = 0; i < most; i += 1)
        row(i < before_lines ? before_line + i : 0, i < after_lines ? after_line + i : 0, 0);
    }
    const isFirst = this.runs[index - 1]?.same !== false || this.rows[first - 1]?.kind !== "changed";
    if (this.rows.length > first && isFirst) this.changes.push(first);
  }
}
