/**
 * `<comparison-diff>`: two texts side by side or one below the other. Only visible lines are drawn.
 *
 * @import { StageContent } from "../core/result.js"
 * @import { DiffDocument } from "../core/types.js"
 * @import { Row } from "./aligned_rows.js"
 */
import { make } from "../core/dom.js";
import { plural } from "../core/format.js";
import { piecesOf } from "../text/line_pieces.js";
import { LINE_HEIGHT_PX, VirtualText } from "../text/virtual_text.js";
import { AlignedRows } from "./aligned_rows.js";
import { changedSpans } from "./line_changes.js";
import { foldsOf } from "./line_folds.js";

/** @typedef {"before" | "after" | "both"} Side the text or texts of a column */
/** @typedef {"unified" | "split" | ""} Form one column or two; "": two where both have room */
/**
 * @typedef {{title: string, before: StageContent | null, after: StageContent | null, diff: DiffDocument}}
 *   Texts
 * @typedef {{texts: Texts, form: Form, whole?: boolean, kind?: string}} Comparison two texts, with or without
 *   equal lines, and with the changes of all operations ("") or of one kind
 */

/** From this width on, each of two columns shows about 75 characters of code. */
const LEAST_SPLIT_PX = 1200;

class ComparisonDiff extends HTMLElement {
  /** @type {Texts | null} */
  texts = null;
  /** @type {Form} */
  form = "";
  whole = false;
  /** the kind of operation whose changes are shown; "": all */
  kind = "";
  rows = new AlignedRows([], false);
  /** @type {Map<Side, VirtualText>} */
  columns = new Map();
  /** the row of the last selected change; -1: none @type {number} */
  at = -1;
  /**
   * lines that only moved, with their line on the other side
   * @type {{before: Map<number, number>, after: Map<number, number>}}
   */
  moved = { before: new Map(), after: new Map() };
  /** the line of the text after that is marked; 0: none */
  marked = 0;
  isFolding = false;
  /** the row that is outlined, from 0; -1: none */
  lit = -1;
  /** the column that the user scrolls; the other column follows it @type {VirtualText | null} */
  leader = null;
  resize = new ResizeObserver(() => this.fit());

  connectedCallback() {
    this.resize.observe(this);
    // Its pane may have been moved, which discards the scroll position.
    for (const column of this.columns.values()) column.shown();
  }

  disconnectedCallback() {
    this.resize.disconnect();
  }

  /** The shown comparison; null: none yet. @param {Comparison | null} comparison */
  set comparison(comparison) {
    if (comparison) this.show(comparison);
  }

  /** The line of the text after that is marked; 0: none. @param {number} line */
  set markedLine(line) {
    this.mark(line);
  }

  /** Whether long types at the end of operations are folded. @param {boolean} isFolding */
  set foldsTypes(isFolding) {
    if (this.isFolding === isFolding) return;
    this.isFolding = isFolding;
    for (const column of this.columns.values()) column.redraw();
  }

  /** @param {Comparison} comparison */
  show({ texts, form, whole = false, kind = "" }) {
    const isSame = texts === this.texts && whole === this.whole && kind === this.kind;
    Object.assign(this, { texts, form, whole, kind });
    if (isSame) return this.fit();
    this.moved = {
      before: new Map(texts.diff.moves.map(({ before_line, after_line }) => [before_line, after_line])),
      after: new Map(texts.diff.moves.map(({ before_line, after_line }) => [after_line, before_line])),
    };
    return this.arrange(new Set(), 0);
  }

  /** Whether both texts are in one column. */
  get isUnified() {
    return this.rows.unified;
  }

  /** The form other than the shown one. @returns {Form} */
  get otherForm() {
    return this.isUnified ? "split" : "unified";
  }

  /** Arrange the texts by the form, or by the available width. */
  fit() {
    if (this.texts && this.wantsUnified !== this.isUnified)
      this.arrange(this.rows.unfolded, Math.max(0, this.position - 1));
    this.drawMarks();
  }

  get wantsUnified() {
    if (!this.texts?.before) return true;
    if (this.form) return this.form === "unified";
    // An element that is hidden has no width.
    return this.clientWidth ? this.clientWidth < LEAST_SPLIT_PX : this.isUnified;
  }

  /** @param {Set<number>} unfolded runs of equal lines @param {number} change that is shown, from 0 */
  arrange(unfolded, change) {
    const { kind, texts, wantsUnified, whole } = this;
    if (!texts) return;
    const chosen = texts.diff.kinds.find(({ name }) => name === kind);
    this.at = -1;
    this.rows = new AlignedRows(
      texts.diff.runs,
      wantsUnified,
      chosen ? { before: new Set(chosen.before_lines), after: new Set(chosen.after_lines) } : null,
      unfolded,
    );
    if (whole) this.rows.unfoldAll();
    /** @type {Side[]} */
    const sides = wantsUnified ? ["both"] : ["before", "after"];
    if (sides.some((side) => !this.columns.has(side))) {
      this.columns = new Map(sides.map((side) => [side, this.column(side)]));
      this.className = wantsUnified ? "is-unified" : "is-split";
      this.replaceChildren(...[...this.columns.values()].map(({ element }) => element));
    }
    for (const column of this.columns.values()) column.scroller.scrollTop = column.scrollTop = 0;
    this.reset();
    // Scroll to the first difference.
    const row = this.rows.changes[change];
    if (row !== undefined) this.goTo(row, false);
    if (this.marked) this.mark(this.marked);
  }

  /** @param {Side} side */
  column(side) {
    const column = new VirtualText({
      label: "Difference",
      draw: (element, line) => this.drawRow(side, column, element, line),
      point: (line) => this.point(line),
      choose: (line) => this.choose(line),
    });
    for (const event of ["pointerenter", "pointerdown", "wheel", "touchstart", "focusin"]) {
      column.scroller.addEventListener(event, () => (this.leader = column), { passive: true });
    }
    column.scroller.addEventListener("scroll", () => this.follow(column), { passive: true });
    return column;
  }

  /** Keep the columns side by side. @param {VirtualText} column */
  follow(column) {
    if (this.leader !== null && this.leader !== column) return;
    for (const other of this.columns.values()) {
      if (other === column) continue;
      other.scroller.scrollTop = column.scroller.scrollTop;
      other.scroller.scrollLeft = column.scroller.scrollLeft;
    }
  }

  /** Draw all rows again. */
  reset() {
    const { texts, rows } = this;
    if (!texts) return;
    this.lit = -1;
    const names = { before: "Before", after: "After", both: "Before and after" };
    for (const [side, column] of this.columns) {
      const most = Math.max(texts.before?.row.lines ?? 0, texts.after?.row.lines ?? 0);
      column.reset(rows.rows.length, `${names[side]}: ${texts.title}, ${plural(rows.rows.length, "row")}`);
      column.scroller.style.setProperty("--digits", String(Math.max(3, String(most).length)));
      column.shown();
    }
    this.drawMarks();
    this.dispatchEvent(new CustomEvent("change-shown", { bubbles: true }));
  }

  /** @param {number} line a row, from 1 */
  choose(line) {
    const row = this.rows.rows[line - 1];
    if (!row) return;
    if (row.kind === "fold") this.unfold(line);
    else
      this.dispatchEvent(
        new CustomEvent("line-chosen", { bubbles: true, detail: { before: row.before, after: row.after } }),
      );
  }

  /** Mark a line of the text after, and bring it into sight. @param {number} line 0: none */
  mark(line) {
    this.marked = line;
    let index = line ? this.rows.rows.findIndex((row) => row.after === line) : -1;
    if (line && index < 0) {
      const run = this.rows.runs.findIndex(
        ({ after_line, after_lines }) => line >= after_line && line < after_line + after_lines,
      );
      if (run >= 0) {
        this.rows.unfold(run);
        this.reset();
        index = this.rows.rows.findIndex((row) => row.after === line);
      }
    }
    for (const column of this.columns.values()) {
      if (index >= 0) column.reveal(index + 1);
      column.redraw();
    }
  }

  /** Show a run of equal lines in full. @param {number} line */
  unfold(line) {
    const row = this.rows.rows[line - 1];
    if (row?.kind !== "fold") return;
    this.rows.unfold(row.run);
    this.at = -1;
    this.reset();
    for (const column of this.columns.values())
      if (column.scroller === document.activeElement) column.setCursor(line);
  }

  unfoldAll() {
    const top = this.rows.rows[this.topRow()];
    this.rows.unfoldAll();
    this.at = -1;
    this.reset();
    const index = this.rows.rows.findIndex(
      (row) => row.run === top?.run && row.before === top.before && row.after === top.after,
    );
    if (index >= 0) for (const column of this.columns.values()) column.reveal(index + 1, true);
  }

  /** @param {Side} side @param {VirtualText} column @param {HTMLElement} element @param {number} line */
  drawRow(side, column, element, line) {
    const row = this.rows.rows[line - 1];
    if (!row || !this.texts) return;
    if (row.kind === "fold") {
      element.className = "text-row diff-row is-fold";
      const words = side === "after" ? "" : `⋯ ${plural(this.rows.hidden(row.run), "equal line")}`;
      element.replaceChildren(make("span", { class: "fold-words" }, words));
      return;
    }
    const isBefore = side === "before" || (side === "both" && row.after === 0);
    const number = isBefore ? row.before : row.after;
    const kind = row.kind === "same" ? "" : number === 0 ? "is-absent" : isBefore ? "is-removed" : "is-added";
    const isMoved = kind !== "" && this.moved[isBefore ? "before" : "after"].has(number);
    const isMarked = this.marked > 0 && row.after === this.marked;
    element.className = `text-row diff-row ${isMoved ? "is-moved" : kind}`;
    element.classList.toggle("is-marked", isMarked);
    element.classList.toggle("is-current-change", line - 1 === this.lit);
    const sign = isMoved ? "⇅" : kind === "is-removed" ? "−" : kind === "is-added" ? "+" : "";
    const code = make("span", { class: "code" });
    const numbers = side === "both" ? [row.before, row.after] : [number];
    element.replaceChildren(
      ...numbers.map((each) => make("span", { class: "number" }, each ? String(each) : "")),
      make("span", { class: "sign" }, sign),
      code,
    );
    if (number === 0) return;
    const content = isBefore ? this.texts.before : this.texts.after;
    const again = () => {
      if (column.rows.get(line) !== element || this.rows.rows[line - 1] !== row) return;
      this.drawRow(side, column, element, line);
      column.schedule();
    };
    const text = content?.line(number, again);
    if (!text) return;
    const marks = this.marks(row, isBefore, text.tokens, again);
    const folds = this.isFolding
      ? foldsOf(textOf(text.tokens)).filter((fold) => !marks.unfolded.has(fold.of))
      : [];
    if (folds.length) code.title = textOf(text.tokens).trim();
    const cuts = folds.map((fold) => ({ ...fold, class: "is-cut" }));
    code.replaceChildren(...piecesOf(text.tokens, [...marks.spans, ...cuts]));
  }

  /**
   * Return the differences between a changed line and its counterpart.
   * @param {Row} row
   * @param {boolean} isBefore
   * @param {[string, string][]} tokens
   * @param {() => void} again
   * @returns {{spans: {from: number, to: number, class: string}[], unfolded: Set<string>}} `unfolded`: the parts that
   *   differ, which are folded in neither line
   */
  marks(row, isBefore, tokens, again) {
    const pair = this.rows.unified ? row.pair : isBefore ? row.after : row.before;
    const content = isBefore ? this.texts?.after : this.texts?.before;
    const other = row.kind === "changed" && pair ? content?.line(pair, again) : null;
    if (!other) return { spans: [], unfolded: new Set() };
    const [mine, theirs] = [textOf(tokens), textOf(other.tokens)];
    const changed = isBefore ? changedSpans(mine, theirs) : changedSpans(theirs, mine);
    const [own, others] = isBefore ? [changed.before, changed.after] : [changed.after, changed.before];
    return {
      spans: own.map((span) => ({ ...span, class: "is-changed" })),
      unfolded: new Set([...changedFolds(mine, own), ...changedFolds(theirs, others)]),
    };
  }

  /** @param {number} line 0: none */
  point(line) {
    for (const column of this.columns.values()) column.mark({ "is-lit": (each) => each === line });
  }

  drawMarks() {
    const { rows } = this.rows;
    const layer = (
      /** @type {"before" | "after"} */ side,
      /** @type {boolean} */ areMoved,
      /** @type {string} */ color,
    ) => ({
      lines: rows.flatMap((row, index) =>
        row.kind === "changed" && row[side] && this.moved[side].has(row[side]) === areMoved
          ? [index + 1]
          : [],
      ),
      color: `var(${color})`,
    });
    for (const [side, column] of this.columns) {
      column.drawMarks([
        ...(side === "after" ? [] : [layer("before", true, "--accent"), layer("before", false, "--bad")]),
        ...(side === "before" ? [] : [layer("after", true, "--accent"), layer("after", false, "--ok")]),
      ]);
    }
  }

  get count() {
    return this.rows.changes.length;
  }

  /** The number of the selected change, from 1; 0: none is selected. */
  get position() {
    return this.rows.changes.indexOf(this.at) + 1;
  }

  /** Go to the next change, or the one before; after the last one comes the first. @param {1 | -1} step */
  step(step) {
    const { changes } = this.rows;
    if (changes.length === 0) return;
    const [column] = this.columns.values();
    const isInSight =
      this.at >= 0 &&
      column &&
      Math.abs((this.at + 0.5) * LINE_HEIGHT_PX - column.scrollTop - column.scroller.clientHeight / 2) <
        column.scroller.clientHeight / 2;
    const from = isInSight ? this.at : this.topRow() - (step > 0 ? 1 : 0);
    const next =
      step > 0
        ? (changes.find((row) => row > from) ?? changes[0])
        : (changes.findLast((row) => row < from) ?? changes.at(-1));
    this.goTo(/** @type {number} */ (next), true);
  }

  topRow() {
    const [column] = this.columns.values();
    return Math.floor((column?.scrollTop ?? 0) / LINE_HEIGHT_PX);
  }

  /** @param {number} row from 0 @param {boolean} isLit whether to outline it */
  goTo(row, isLit) {
    this.at = row;
    this.lit = isLit ? row : -1;
    for (const column of this.columns.values()) {
      column.reveal(row + 1, true);
      column.mark({ "is-current-change": (each) => each - 1 === this.lit });
    }
    this.dispatchEvent(new CustomEvent("change-shown", { bubbles: true }));
  }
}

/** The parts of a line that would be folded, although something in them changed. @param {string} text @param {{from: number, to: number}[]} changed */
function changedFolds(text, changed) {
  return foldsOf(text)
    .filter((fold) => changed.some(({ from, to }) => from < fold.to && to > fold.from))
    .map((fold) => fold.of);
}

/** @param {[string, string][]} tokens */
function textOf(tokens) {
  return tokens.map(([, text]) => text).join("");
}

customElements.define("comparison-diff", ComparisonDiff);
export { ComparisonDiff };
