/**
 * What links a stage pane to the others: the lines that come from the source lines that are lit or pinned.
 *
 * @import { StagePane } from "../panes/stage.js"
 */
import { store } from "../store.js";
import { LINE_HEIGHT_PX } from "../virtual_text.js";

export class Links {
  hovered = new Set();
  pinned = new Set();
  frame = 0;

  /** @param {StagePane} pane */
  constructor(pane) {
    this.pane = pane;
  }

  /** Light the lines that come from the lit source lines. */
  light() {
    const { hovered, pinned } = store.state;
    this.hovered = this.linesFrom(hovered);
    this.pinned = this.linesFrom(pinned);
    this.pane.text.mark({ "is-lit": (line) => this.hovered.has(line), "is-pinned": (line) => this.pinned.has(line) });
    this.drawMarks();
  }

  /** Show beside the scroll bar where everything that is marked is: in the next frame, as reading colours and sizes now would lay the page out once for each pane. */
  drawMarks() {
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      const style = getComputedStyle(this.pane);
      this.pane.text.drawMarks([
        { lines: this.pane.heat.marked(), color: style.getPropertyValue("--heat") },
        { lines: [...this.pane.search.byLine.keys()], color: style.getPropertyValue("--warn") },
        { lines: [...this.pane.names.byLine.keys()], color: style.getPropertyValue("--ok") },
        { lines: [...this.pinned], color: style.getPropertyValue("--accent") },
        { lines: [...this.hovered], color: style.getPropertyValue("--text") },
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

  /** Scroll to what somebody has asked every pane to show. */
  followShown() {
    const { shown, origin } = store.state;
    const first = shown.line && origin !== this.pane.id ? this.inOrder([shown.line])[0] : undefined;
    if (first !== undefined) this.pane.reveal(first, true);
  }

  /** @param {number[]} sourceLines */
  inOrder(sourceLines) {
    return [...this.linesFrom(sourceLines)].sort((one, other) => one - other);
  }

  /** Scroll to what somebody else has pinned. */
  followPin() {
    const { pinned, origin } = store.state;
    const { text, content, id } = this.pane;
    if (pinned.length === 0 || origin === id || !content?.locations) return;
    const lines = this.inOrder(pinned);
    const first = lines[0];
    const top = text.topLine;
    const bottom = text.map.lineOf(Math.min(text.map.count, text.map.rowOf(top) + Math.floor(text.scroller.clientHeight / LINE_HEIGHT_PX) - 2));
    if (first !== undefined && !lines.some((line) => line >= top && line <= bottom && text.map.isShown(line))) this.pane.reveal(first, true);
  }
}
