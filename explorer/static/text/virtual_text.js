/**
 * A long text of which only the visible lines are drawn.
 *
 * Its owner says how many lines there are and fills a line's element when asked; the list calls back when a
 * line is pointed at or chosen, by mouse or by keyboard. Marks beside the scroll bar show where lit lines
 * are.
 * Lines may be hidden; the others keep their numbers.
 */
import { makeSvg } from "../charts/svg.js";
import { make } from "../core/dom.js";
import { RowMap } from "./row_map.js";

export const LINE_HEIGHT_PX = 19;
const OVERSCAN_LINES = 12;
const LEAST_MARK_PX = 3;
/** Whether the page is being printed: paper has all lines. */
export const PAPER = matchMedia("print");

/**
 * @typedef {object} Owner
 * @property {string} label accessible name
 * @property {(row: HTMLElement, line: number) => void} draw fills `row`, which may hold another line's
 *   content
 * @property {(line: number) => void} [point] the mouse or the cursor is on a line; 0: it has left
 * @property {(line: number, add: boolean) => void} [choose]
 * @property {() => void} [moved] other lines are in sight, or the cursor is on another
 */

export class VirtualText {
  /** @param {Owner} owner */
  constructor(owner) {
    this.owner = owner;
    this.map = new RowMap(0);
    this.cursor = 0;
    this.pointed = 0;
    this.scrollTop = 0;
    this.frame = 0;
    this.widest = 0;
    /** 0: it is hidden, or not in the page yet. */
    this.height = 0;
    /** The lines that are lit. @type {Set<number>} */
    this.lit = new Set();
    /** The marks beside the scroll bar. @type {{lines: number[], color: string}[]} */
    this.layers = [];
    /** @type {Map<number, HTMLElement>} */
    this.rows = new Map();
    /** @type {HTMLElement[]} */
    this.pool = [];
    this.body = make("div", { class: "text-rows" });
    /** Behind the rows: a separate background would make the browser repaint the whole row. */
    this.lights = make("div", { class: "lit-lines", "aria-hidden": "true" });
    this.space = make("div", { class: "text-space" }, this.lights, this.body);
    this.scroller = make(
      "div",
      { class: "text", tabindex: "0", role: "group", "aria-label": owner.label },
      this.space,
    );
    this.marks = makeSvg("svg", { class: "marks", "aria-hidden": "true" });
    this.element = make("div", { class: "text-frame" }, this.scroller, this.marks);
    this.scroller.addEventListener(
      "scroll",
      () => {
        if (this.scroller.clientHeight) this.scrollTop = this.scroller.scrollTop;
        this.scroller.classList.toggle("is-shifted", this.scroller.scrollLeft > 0);
        this.schedule();
      },
      { passive: true },
    );
    this.scroller.addEventListener("pointermove", (event) => this.pointAt(this.lineAt(event.clientY)));
    this.scroller.addEventListener("pointerleave", () => this.pointAt(0));
    this.scroller.addEventListener("click", (event) => {
      const line = this.lineAt(event.clientY);
      const isSelecting = getSelection()?.type === "Range";
      // The second click of a double click would undo the first.
      if (line && !isSelecting && event.detail < 2) {
        this.moveCursor(line);
        this.owner.choose?.(line, event.ctrlKey || event.metaKey);
      }
    });
    this.scroller.addEventListener("keydown", (event) => this.key(event));
    this.scroller.addEventListener("blur", () => this.pointAt(0));
    // Read with each drawing of the marks, the height would have the browser lay out the page for each text anew.
    this.resize = new ResizeObserver(() => {
      const height = this.element.clientHeight;
      const lost = this.height - height;
      this.height = height;
      // Elements that grow beside the text must not cover the line of the cursor.
      if (height && lost > 0 && this.cursor && this.isInSight(this.cursor, lost)) this.reveal(this.cursor);
      this.drawMarks(this.layers);
      this.shown();
    });
    this.resize.observe(this.scroller);
    PAPER.addEventListener("change", () => {
      this.render();
      if (PAPER.matches) this.sortRows();
    });
  }

  /** Begin with another text. @param {number} total @param {string} [label] */
  reset(total, label) {
    if (label) this.scroller.setAttribute("aria-label", label);
    this.map = new RowMap(total);
    this.cursor = 0;
    this.widest = 0;
    this.body.style.minWidth = "";
    this.space.style.height = `${total * LINE_HEIGHT_PX}px`;
    for (const row of this.rows.values()) row.remove();
    this.rows.clear();
    this.scroller.style.setProperty("--digits", String(Math.max(3, String(total).length)));
    this.render();
  }

  /**
   * Show other lines of the same text. The visible lines keep their place.
   * @param {RowMap} map
   * @param {number} [anchor] the line that stays where it is; left out: the topmost
   */
  showLines(map, anchor = this.topLine) {
    const offset = (this.map.rowOf(anchor) - 1) * LINE_HEIGHT_PX - this.scrollTop;
    this.map = map;
    this.space.style.height = `${map.count * LINE_HEIGHT_PX}px`;
    for (const [line, row] of this.rows) {
      if (map.isShown(line)) {
        this.place(row, line);
        this.owner.draw(row, line);
      } else this.recycle(line, row);
    }
    if (this.cursor && !map.isShown(this.cursor)) this.cursor = map.lineOf(map.rowOf(this.cursor));
    this.scrollTop = Math.max(
      0,
      Math.min(
        map.count * LINE_HEIGHT_PX - this.scroller.clientHeight,
        (map.rowOf(anchor) - 1) * LINE_HEIGHT_PX - offset,
      ),
    );
    this.scroller.scrollTop = this.scrollTop;
    this.render();
  }

  /**
   * Show another text in place of this one.
   * @param {RowMap} map
   * @param {{label: string, top: number, cursor: number}} at `top` is the line at the place of the topmost one
   */
  replace(map, { label, top, cursor }) {
    const offset = (this.map.rowOf(this.topLine) - 1) * LINE_HEIGHT_PX - this.scrollTop;
    this.scroller.setAttribute("aria-label", label);
    this.scroller.style.setProperty("--digits", String(Math.max(3, String(map.total).length)));
    this.map = map;
    this.cursor = cursor;
    this.space.style.height = `${map.count * LINE_HEIGHT_PX}px`;
    this.scrollTop = Math.max(0, (map.rowOf(top) - 1) * LINE_HEIGHT_PX - offset);
    this.scroller.scrollTop = this.scrollTop;
    for (const [line, row] of this.rows) this.recycle(line, row);
    this.render();
  }

  /** The first line that is in sight as a whole. */
  get topLine() {
    return this.map.lineOf(Math.min(this.map.count, Math.ceil(this.scrollTop / LINE_HEIGHT_PX) + 1));
  }

  /** @param {HTMLElement} row @param {number} line */
  place(row, line) {
    // Not by a transform: browsers keep a layer's worth of bookkeeping for each.
    row.style.top = `${(this.map.rowOf(line) - 1) * LINE_HEIGHT_PX}px`;
  }

  /** Remove a row and keep its element for reuse. @param {number} line @param {HTMLElement} row */
  recycle(line, row) {
    this.rows.delete(line);
    row.remove();
    this.pool.push(row);
  }

  /** Restore the scroll position: browsers discard it while the element is hidden. */
  shown() {
    if (this.scroller.clientHeight === 0) return;
    if (this.scroller.scrollTop !== this.scrollTop) this.scroller.scrollTop = this.scrollTop;
    this.render();
  }

  /** Render in the next frame; asked for by each line that arrives, so that nothing is measured here. */
  schedule() {
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      this.render();
    });
  }

  /** Draw the visible lines that are missing, and remove the others. */
  render() {
    const height = this.scroller.clientHeight;
    const isPrinted = PAPER.matches && this.scroller.isConnected;
    if (height === 0 && !isPrinted) return;
    const first = isPrinted
      ? 1
      : Math.max(1, Math.floor(this.scroller.scrollTop / LINE_HEIGHT_PX) + 1 - OVERSCAN_LINES);
    const last = isPrinted
      ? this.map.count
      : Math.min(
          this.map.count,
          Math.ceil((this.scroller.scrollTop + height) / LINE_HEIGHT_PX) + OVERSCAN_LINES,
        );
    const [firstLine, lastLine] = [this.map.lineOf(first), this.map.lineOf(last)];
    for (const [line, row] of this.rows) {
      if (line < firstLine || line > lastLine) this.recycle(line, row);
    }
    for (let index = first; index <= last; index += 1) {
      const line = this.map.lineOf(index);
      if (this.rows.has(line)) continue;
      const row = this.pool.pop() ?? make("div", { class: "text-row" });
      this.place(row, line);
      this.rows.set(line, row);
      this.owner.draw(row, line);
      this.body.append(row);
    }
    this.widen();
    this.drawLights();
    this.owner.moved?.();
  }

  /** Put the rows in the order of their lines: on paper, each is below the last. */
  sortRows() {
    this.body.append(...[...this.rows].sort(([one], [other]) => one - other).map(([, row]) => row));
  }

  /** Light lines, and no others. @param {Set<number>} lines */
  light(lines) {
    this.lit = lines;
    this.drawLights();
  }

  drawLights() {
    const drawn = [...this.rows.keys()].filter((line) => this.lit.has(line));
    this.lights.replaceChildren(
      ...drawn.map((line) => {
        const light = make("div", { class: "is-lit" });
        this.place(light, line);
        return light;
      }),
    );
  }

  /** As wide as the widest line seen so far, so that the text does not jump sideways while it is scrolled. */
  widen() {
    const widest = Math.max(this.widest, ...[...this.rows.values()].map((row) => row.scrollWidth));
    if (widest > this.widest) {
      this.widest = widest;
      this.body.style.minWidth = `${widest}px`;
    }
  }

  /** Draw the visible lines again. */
  redraw() {
    for (const [line, row] of this.rows) this.owner.draw(row, line);
    this.widen();
  }

  /**
   * Give classes to the lines in sight.
   * @param {Record<string, (line: number) => boolean>} classes
   * @param {Iterable<number>} [lines] the only lines whose classes may have changed
   */
  mark(classes, lines = this.rows.keys()) {
    const entries = Object.entries(classes);
    for (const line of lines) {
      const row = this.rows.get(line);
      if (row) for (const [name, has] of entries) row.classList.toggle(name, has(line));
    }
  }

  /**
   * Show beside the scroll bar where lines are: at the relative height of each line, or beside the lines if the whole
   * text is visible.
   * @param {{lines: number[], color: string}[]} layers later ones on top; colors as CSS has them
   */
  drawMarks(layers) {
    this.layers = layers;
    const { height } = this;
    if (height === 0) return;
    const rowHeight = Math.min(LINE_HEIGHT_PX, height / Math.max(1, this.map.count));
    const paths = this.marks.children;
    while (paths.length < layers.length) this.marks.append(makeSvg("path"));
    for (const [index, { lines, color }] of layers.entries()) {
      let shape = "";
      let before = -1;
      for (const line of lines) {
        const row = Math.max(0, this.map.rowOf(line) - 1);
        const top = Math.min(Math.round(row * rowHeight), height - LEAST_MARK_PX);
        const bottom = Math.max(top + LEAST_MARK_PX, Math.round((row + 1) * rowHeight));
        if (top !== before) shape += `M1 ${top}h6V${bottom}H1z`;
        before = top;
      }
      const path = paths[index];
      if (path?.getAttribute("d") !== shape) path?.setAttribute("d", shape);
      if (path?.getAttribute("fill") !== color) path?.setAttribute("fill", color);
    }
  }

  /** Bring a line to the middle, unless it is in sight. @param {number} line @param {boolean} [always] */
  reveal(line, always = false) {
    if (this.isInSight(line) && !always) return;
    const top = (this.map.rowOf(line) - 1) * LINE_HEIGHT_PX;
    this.scrollTop = Math.max(0, Math.round(top - this.scroller.clientHeight / 3));
    this.scroller.scrollTop = this.scrollTop;
    this.render();
  }

  /** @param {number} line @param {number} [below] the height below the text that counts, too, in pixels */
  isInSight(line, below = 0) {
    const top = (this.map.rowOf(line) - 1) * LINE_HEIGHT_PX;
    return (
      this.map.isShown(line) &&
      top >= this.scrollTop &&
      top + LINE_HEIGHT_PX <= this.scrollTop + this.scroller.clientHeight + below
    );
  }

  /** @param {number} y @returns {number} 0: below the last line */
  lineAt(y) {
    const row = Math.floor((y - this.space.getBoundingClientRect().top) / LINE_HEIGHT_PX) + 1;
    return row >= 1 && row <= this.map.count ? this.map.lineOf(row) : 0;
  }

  /** @param {number} line */
  pointAt(line) {
    if (line === this.pointed) return;
    this.pointed = line;
    this.owner.point?.(line);
  }

  /** @param {number} line @param {boolean} [isPointed] as if the mouse were there */
  setCursor(line, isPointed = true) {
    this.moveCursor(line);
    this.reveal(line);
    if (isPointed) this.pointAt(line);
  }

  /** @param {number} line in sight */
  moveCursor(line) {
    this.cursor = line;
    this.mark({ "is-cursor": (each) => each === line });
    this.owner.moved?.();
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const from = this.cursor ? this.map.rowOf(this.cursor) : Math.floor(this.scrollTop / LINE_HEIGHT_PX);
    const page = Math.max(1, Math.floor(this.scroller.clientHeight / LINE_HEIGHT_PX) - 2);
    const target = {
      ArrowDown: from + 1,
      ArrowUp: from - 1,
      PageDown: from + page,
      PageUp: from - page,
      Home: 1,
      End: this.map.count,
    }[event.key];
    if (target !== undefined) {
      event.preventDefault();
      this.setCursor(this.map.lineOf(Math.min(this.map.count, Math.max(1, target))));
    } else if (event.key === "Enter" && this.cursor) {
      this.owner.choose?.(this.cursor, event.shiftKey);
    }
  }
}
