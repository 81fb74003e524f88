/**
 * The link between a stage pane and the other panes: the lines that come from highlighted or pinned source lines.
 *
 * @import { StagePane } from "../stage.js"
 */
import { IN_PLACE, TOUR } from "../../core/selection.js";
import { store } from "../../core/store.js";
import { LINE_HEIGHT_PX } from "../../text/virtual_text.js";

export class Links {
  hovered = new Set();
  pinned = new Set();
  /** The lines of the operation whose lineage is shown. */
  operation = new Set();
  frame = 0;

  /** @param {StagePane} pane */
  constructor(pane) {
    this.pane = pane;
  }

  /** Light the lines that come from the lit source lines. */
  light() {
    const { hovered, pinned } = store.state;
    const before = this.pinned;
    this.hovered = this.linesFrom(hovered);
    this.pinned = this.linesFrom(pinned);
    this.pane.text.light(this.hovered);
    this.pane.text.mark({ "is-pinned": (line) => this.pinned.has(line) }, [...before, ...this.pinned]);
    this.drawMarks();
  }

  /** Mark the lines of the operation whose lineage is shown. */
  markOperation() {
    const { lineage } = store.state;
    this.operation = lineage?.lines.get(this.pane.content?.row.name ?? "") ?? new Set();
    this.pane.text.mark({ "is-operation": (line) => this.operation.has(line) });
    this.drawMarks();
  }

  /** Mark them, and bring them in sight. */
  lightOperation() {
    this.markOperation();
    this.bringInSight([...this.operation].sort((one, other) => one - other));
  }

  /**
   * Mark beside the scroll bar where the marked lines are: in the next frame, as reading sizes now would lay
   * the page out once for each pane.
   */
  drawMarks() {
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      this.pane.text.drawMarks([
        { lines: this.pane.heat.marked(), color: "var(--heat)" },
        { lines: [...this.pane.search.byLine.keys()], color: "var(--warn)" },
        { lines: [...this.pane.names.byLine.keys()], color: "var(--ok)" },
        { lines: [...this.pane.textUpdate.tinted], color: "var(--ok)" },
        { lines: [...this.operation], color: "var(--accent)" },
        { lines: [...this.pinned], color: "var(--accent)" },
        { lines: [...this.hovered], color: "var(--text)" },
      ]);
    });
  }

  /** @param {number[]} sourceLines @returns {Set<number>} */
  linesFrom(sourceLines) {
    const lines = new Set();
    for (const sourceLine of sourceLines) {
      for (const line of this.pane.content?.shownLines.get(sourceLine) ?? []) lines.add(line);
    }
    return lines;
  }

  /** Scroll to the source line that every pane was asked to show. */
  followShown() {
    const { shown, origin } = store.state;
    const first = shown.line && origin !== this.pane.id ? this.inOrder([shown.line])[0] : undefined;
    if (first !== undefined) this.pane.reveal(first, true);
  }

  /** @param {number[]} sourceLines */
  inOrder(sourceLines) {
    return [...this.linesFrom(sourceLines)].sort((one, other) => one - other);
  }

  /** Scroll to what another pane has pinned. */
  followPin() {
    const { pinned, origin, secondCursor } = store.state;
    // A tour that pins a line has its own line for this pane.
    if (secondCursor?.stage === this.pane.content?.row.name && origin === TOUR) return;
    const isElsewhere = origin !== this.pane.id && origin !== IN_PLACE;
    if (pinned.length > 0 && isElsewhere && this.pane.content?.locations)
      this.bringInSight(this.inOrder(pinned));
  }

  /** Scroll to the first of some lines, unless one of them is in sight. @param {number[]} lines in order */
  bringInSight(lines) {
    const { text } = this.pane;
    const first = lines[0];
    const top = text.topLine;
    const bottom = text.map.lineOf(
      Math.min(
        text.map.count,
        text.map.rowOf(top) + Math.floor(text.scroller.clientHeight / LINE_HEIGHT_PX) - 2,
      ),
    );
    if (first !== undefined && !lines.some((line) => line >= top && line <= bottom && text.map.isShown(line)))
      this.pane.reveal(first, true);
  }
}
