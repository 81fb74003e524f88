/**
 * A range of selected lines, by Shift and arrows or by dragging. Scrolling reuses the elements of lines for other
 * lines, so the browser's own selection cannot go beyond one line.
 *
 * @import { TextPane } from "./text_pane.js"
 */
import { copy, numbered } from "./clipboard.js";

const SCROLL_STEP_LINES = 2;
const LINE_HEIGHT_PX = 19;

export class LineRange {
  anchor = 0;
  head = 0;
  start = 0;
  isDragging = false;
  pointerY = 0;
  frame = 0;

  /** @param {TextPane} pane */
  constructor(pane) {
    this.pane = pane;
  }

  /** Listen to the text of the pane. */
  listen() {
    const { scroller } = this.pane.text;
    let before = 0;
    scroller.addEventListener("keydown", () => (before = this.pane.text.cursor), { capture: true });
    this.pane.text.element.addEventListener("keydown", (event) => this.key(event, before));
    scroller.addEventListener("pointerdown", (event) => this.press(event));
    scroller.addEventListener("pointermove", (event) => this.drag(event));
    for (const type of ["pointerup", "pointercancel"])
      scroller.addEventListener(type, () => (this.start = 0));
    // Before the text itself sees it: the end of a drag pins nothing.
    scroller.addEventListener(
      "click",
      (event) => {
        if (!this.isDragging && !event.shiftKey) return;
        this.isDragging = false;
        event.stopImmediatePropagation();
      },
      { capture: true },
    );
    this.pane.addEventListener("copy", (event) => this.copyEvent(event));
  }

  get isEmpty() {
    return this.anchor === 0;
  }

  /** @param {number} line */
  has(line) {
    return (
      this.anchor > 0 && Math.min(this.anchor, this.head) <= line && line <= Math.max(this.anchor, this.head)
    );
  }

  /** @param {number} anchor 0: nothing @param {number} head */
  set(anchor, head) {
    if (anchor === this.anchor && head === this.head) return;
    this.anchor = anchor;
    this.head = head;
    this.pane.text.mark({ "is-selected": (line) => this.has(line) });
    if (anchor) void this.pane.read();
  }

  /** @param {KeyboardEvent} event @param {number} before where the cursor was */
  key(event, before) {
    const { text } = this.pane;
    if (event.target !== text.scroller) return;
    const isMove = /^(Arrow(Up|Down)|Page(Up|Down)|Home|End)$/.test(event.key);
    if (isMove && event.shiftKey) this.set(this.anchor || before || text.cursor, text.cursor);
    else if (isMove || event.key === "Escape") this.set(0, 0);
    else if (event.key === "a" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      getSelection()?.removeAllRanges();
      this.set(1, this.pane.text.map.total);
    }
  }

  /** @param {PointerEvent} event */
  press(event) {
    const { text } = this.pane;
    const line = text.lineAt(event.clientY);
    if (event.button !== 0 || event.pointerType === "touch" || !line) return;
    this.isDragging = false;
    if (event.shiftKey && text.cursor) {
      event.preventDefault();
      text.scroller.focus();
      return this.set(this.anchor || text.cursor, line);
    }
    this.start = line;
    return this.set(0, 0);
  }

  /** @param {PointerEvent} event */
  drag(event) {
    if (!this.start || !(event.buttons & 1)) return;
    this.pointerY = event.clientY;
    const line = this.pane.text.lineAt(event.clientY);
    if (!this.isDragging && (line === this.start || !line)) return;
    if (!this.isDragging) {
      this.isDragging = true;
      this.pane.text.scroller.setPointerCapture(event.pointerId);
    }
    getSelection()?.removeAllRanges();
    if (line) this.set(this.start, line);
    this.scrollWhileOutside();
  }

  /** Scroll on while the mouse is held above or below the text. */
  scrollWhileOutside() {
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      const { text } = this.pane;
      const { top, bottom } = text.scroller.getBoundingClientRect();
      const step = this.pointerY < top ? -1 : this.pointerY > bottom ? 1 : 0;
      if (!this.start || !step) return;
      text.scroller.scrollTop += step * SCROLL_STEP_LINES * LINE_HEIGHT_PX;
      text.schedule();
      const line = text.lineAt(step < 0 ? top + 1 : bottom - LINE_HEIGHT_PX);
      if (line) this.set(this.start, line);
      this.scrollWhileOutside();
    });
  }

  /** The selected lines, or that of the cursor. @returns {[number, number]} */
  get span() {
    if (this.isEmpty) return [this.pane.text.cursor, this.pane.text.cursor];
    return [Math.min(this.anchor, this.head), Math.max(this.anchor, this.head)];
  }

  /** @param {ClipboardEvent} event */
  copyEvent(event) {
    if (this.isEmpty || (event.target instanceof Element && event.target.closest("input"))) return;
    event.preventDefault();
    const [from, to] = this.span;
    if (this.pane.lines.length)
      event.clipboardData?.setData("text/plain", `${this.pane.lines.slice(from - 1, to).join("\n")}\n`);
    else void this.copy(false);
  }

  /** Copy the selected lines, or that of the cursor. @param {boolean} withNumbers */
  async copy(withNumbers) {
    const [from, to] = this.span;
    if (from) await this.copyLines(from, to, withNumbers);
  }

  async copyAll() {
    await this.copyLines(1, this.pane.text.map.total, false);
  }

  /** @param {number} from @param {number} to @param {boolean} withNumbers */
  async copyLines(from, to, withNumbers) {
    if (!(await this.pane.read())) return;
    const lines = this.pane.lines.slice(from - 1, to);
    await copy(withNumbers ? numbered(lines, from) : lines, from);
  }
}
