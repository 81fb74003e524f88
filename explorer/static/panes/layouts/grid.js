/**
 * A grid of many colored cells on a canvas that mouse and keyboard zoom, scroll and select.
 *
 * All cells are painted once, one pixel each, and scaled; only visible cells get lines and labels.
 *
 * @import { Context } from "../../picture/svg_context.js"
 */
import { textSize } from "../../charts/text_size.js";
import { make, setText } from "../../core/dom.js";
import { packedOf } from "./colors.js";

/**
 * @typedef {object} Picture
 * @property {string} label accessible name
 * @property {number} rows
 * @property {number} columns
 * @property {string} rowTitle
 * @property {string} columnTitle
 * @property {() => void} [begin] called before all cells are painted, in the theme of the page
 * @property {(row: number, column: number) => number} color
 * @property {(row: number, column: number) => string} text label of a cell that is large enough; "": none
 * @property {(row: number, column: number) => void} point called with the cell under the pointer or cursor; -1:
 *   none
 * @property {(row: number, column: number) => void} choose called with the clicked cell
 * @property {number} [largest] the largest cell to begin with
 * @property {boolean} [scrolls] whether it begins with its first rows, as wide as there is room
 */

const LEFT_PX = 40;
const TOP_PX = 34;
const LABEL_FROM_PX = 30;
const LINES_FROM_PX = 7;
const LARGEST_PX = 96;
const STEP = 1.3;
/** A picture with more cells has no labels: as elements of an SVG, they would take seconds. */
const MOST_LABELS = 20_000;

export class Grid {
  /** @type {Picture | null} */
  picture = null;
  /** @type {Set<number>} highlighted cells, as row × columns + column */
  lit = new Set();
  /** @type {Set<number>} cells with an outline of warning */
  warned = new Set();
  row = -1;
  column = -1;
  scale = 8;
  left = 0;
  top = 0;
  isFitted = true;
  frame = 0;

  constructor() {
    this.canvas = make("canvas", { class: "layout-canvas", tabindex: "0", role: "application" });
    this.status = make("p", { class: "layout-status", role: "status" });
    this.element = make("div", { class: "layout-grid" }, this.canvas, this.status, this.tools());
    this.cells = document.createElement("canvas");
    this.over = document.createElement("canvas");
    this.canvas.addEventListener("pointermove", (event) => this.move(event));
    this.canvas.addEventListener("pointerdown", (event) => this.press(event));
    this.canvas.addEventListener("pointerup", (event) => this.release(event));
    this.canvas.addEventListener("pointerleave", () => this.pointAt(-1, -1));
    this.canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    this.canvas.addEventListener("keydown", (event) => this.key(event));
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(this.element);
    this.themes = new MutationObserver(() => this.picture && this.show(this.picture, true));
    this.themes.observe(document.documentElement, { attributeFilter: ["data-theme"] });
  }

  /** @param {Picture} picture @param {boolean} [keep] whether to keep the zoom and the scroll position */
  show(picture, keep = false) {
    const start = performance.now();
    this.picture = picture;
    this.canvas.setAttribute(
      "aria-label",
      `${picture.label}. Arrow keys go from cell to cell, plus and minus zoom.`,
    );
    this.paint();
    if (!keep) {
      this.lit = new Set();
      this.warned = new Set();
      this.row = this.column = -1;
      this.fit();
    }
    this.draw();
    performance.measure("layout-drawn", { start, end: performance.now() });
  }

  /**
   * Highlight cells, and dim all others.
   * @param {Iterable<number>} cells
   * @param {string} words the status text for them
   */
  light(cells, words) {
    this.lit = new Set(cells);
    setText(this.status, words);
    this.paintOver();
    this.schedule();
  }

  /** Outline cells. @param {Iterable<number>} cells */
  warn(cells) {
    this.warned = new Set(cells);
    this.schedule();
  }

  /** Move the cursor to a cell and scroll to it. @param {number} row @param {number} column */
  go(row, column) {
    const { picture, canvas } = this;
    if (!picture) return;
    const limited = (/** @type {number} */ value, /** @type {number} */ count) =>
      Math.max(0, Math.min(count - 1, value));
    this.pointAt(limited(row, picture.rows), limited(column, picture.columns));
    const x = this.column * this.scale;
    const y = this.row * this.scale;
    this.left = Math.max(x + this.scale - (canvas.clientWidth - LEFT_PX), Math.min(this.left, x));
    this.top = Math.max(y + this.scale - (canvas.clientHeight - TOP_PX), Math.min(this.top, y));
    this.schedule();
  }

  tools() {
    const tool = (
      /** @type {string} */ label,
      /** @type {string} */ text,
      /** @type {() => void} */ onclick,
    ) => make("button", { type: "button", class: "tool", "aria-label": label, title: label, onclick }, text);
    return make(
      "div",
      { class: "layout-zoom" },
      tool("Zoom in", "+", () => this.zoom(STEP)),
      tool("Zoom out", "−", () => this.zoom(1 / STEP)),
      tool("Fit", "▢", () => {
        this.fit();
        this.schedule();
      }),
    );
  }

  /** Paint one pixel per cell. */
  paint() {
    const { picture } = this;
    if (!picture) return;
    picture.begin?.();
    const { rows, columns } = picture;
    this.cells.width = this.over.width = columns;
    this.cells.height = this.over.height = rows;
    const context = /** @type {CanvasRenderingContext2D} */ (this.cells.getContext("2d"));
    const image = context.createImageData(columns, rows);
    const pixels = new Uint32Array(image.data.buffer);
    for (let row = 0, at = 0; row < rows; row += 1) {
      for (let column = 0; column < columns; column += 1, at += 1) pixels[at] = picture.color(row, column);
    }
    context.putImageData(image, 0, 0);
    this.paintOver();
  }

  /** Draw the highlighted cells, and a shade over all others. */
  paintOver() {
    const { width, height } = this.over;
    const context = /** @type {CanvasRenderingContext2D} */ (this.over.getContext("2d"));
    context.clearRect(0, 0, width, height);
    if (!this.lit.size || !width || !height) return;
    const style = getComputedStyle(this.element);
    const image = context.createImageData(width, height);
    const pixels = new Uint32Array(image.data.buffer).fill(
      packedOf(context, style.getPropertyValue("--panel").trim(), 120),
    );
    const bright = packedOf(context, style.getPropertyValue("--ok").trim());
    for (const cell of this.lit) pixels[cell] = bright;
    context.putImageData(image, 0, 0);
  }

  /** Show the whole grid, unless the cells would be too small or the picture scrolls. */
  fit() {
    const { picture, canvas } = this;
    if (!picture || !canvas.clientWidth) return;
    const wide = (canvas.clientWidth - LEFT_PX - 8) / picture.columns;
    const high = (canvas.clientHeight - TOP_PX - 8) / picture.rows;
    const scale = picture.scrolls ? wide : Math.min(wide, high);
    this.scale = Math.max(1, Math.min(picture.largest ?? 44, scale));
    this.left = this.top = 0;
    this.isFitted = true;
  }

  resize() {
    const { canvas } = this;
    const ratio = devicePixelRatio || 1;
    const width = Math.round(canvas.clientWidth * ratio);
    const height = Math.round(canvas.clientHeight * ratio);
    if (canvas.width === width && canvas.height === height) return;
    canvas.width = width;
    canvas.height = height;
    if (this.isFitted) this.fit();
    this.draw();
  }

  schedule() {
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      this.draw();
    });
  }

  draw() {
    const { canvas, picture } = this;
    const context = canvas.getContext("2d");
    if (!picture || !context || !canvas.width) return;
    this.limit();
    const ratio = devicePixelRatio || 1;
    const { clientWidth: width, clientHeight: height } = canvas;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    this.drawPart(context, { left: this.left, top: this.top, width, height });
  }

  /** The whole grid with its zoom, as a part of a picture; null: there is none. */
  get whole() {
    const { picture, scale } = this;
    if (!picture) return null;
    const width = LEFT_PX + picture.columns * scale + 1;
    const height = TOP_PX + picture.rows * scale + 1;
    const draw = (/** @type {Context} */ context) =>
      this.drawPart(context, { left: 0, top: 0, width, height });
    return { draw, width, height };
  }

  /** @param {Context} context @param {{left: number, top: number, width: number, height: number}} part */
  drawPart(context, { left, top, width, height }) {
    const { picture, scale } = this;
    if (!picture) return;
    const style = getComputedStyle(this.element);
    const token = (/** @type {string} */ name) => style.getPropertyValue(name).trim();
    context.save();
    context.beginPath();
    context.rect(LEFT_PX, TOP_PX, width, height);
    context.clip();
    context.translate(LEFT_PX - left, TOP_PX - top);
    context.imageSmoothingEnabled = false;
    for (const layer of [this.cells, this.over])
      context.drawImage(layer, 0, 0, picture.columns * scale, picture.rows * scale);
    const first = { row: Math.floor(top / scale), column: Math.floor(left / scale) };
    const last = {
      row: Math.min(picture.rows, Math.ceil((top + height) / scale)),
      column: Math.min(picture.columns, Math.ceil((left + width) / scale)),
    };
    if (scale >= LINES_FROM_PX) this.drawLines(context, token("--panel"), first, last);
    const hasRoom = scale >= LABEL_FROM_PX;
    const hasLabels = hasRoom && (last.row - first.row) * (last.column - first.column) <= MOST_LABELS;
    if (hasLabels)
      this.drawLabels(context, token("--text"), token("--accent-text"), token("--mono"), first, last);
    context.strokeStyle = token("--bad");
    context.lineWidth = 2;
    for (const cell of this.warned)
      context.strokeRect(
        (cell % picture.columns) * scale + 1,
        Math.floor(cell / picture.columns) * scale + 1,
        scale - 2,
        scale - 2,
      );
    if (this.row >= 0) {
      context.strokeStyle = token("--text");
      context.strokeRect(this.column * scale, this.row * scale, scale, scale);
    }
    context.restore();
    const note = hasRoom && !hasLabels ? "   (too many cells for labels)" : "";
    this.drawAxes(context, token("--mute"), token("--sans"), first, last, { left, top, note });
  }

  /** @typedef {{row: number, column: number}} Corner */

  /**
   * @param {Context} context
   * @param {string} color
   * @param {Corner} first
   * @param {Corner} last
   */
  drawLines(context, color, first, last) {
    const { scale } = this;
    context.strokeStyle = color;
    context.lineWidth = 1;
    context.beginPath();
    for (let row = first.row; row <= last.row; row += 1) {
      context.moveTo(first.column * scale, row * scale);
      context.lineTo(last.column * scale, row * scale);
    }
    for (let column = first.column; column <= last.column; column += 1) {
      context.moveTo(column * scale, first.row * scale);
      context.lineTo(column * scale, last.row * scale);
    }
    context.stroke();
  }

  /**
   * @param {Context} context
   * @param {string} color
   * @param {string} litColor
   * @param {string} font
   * @param {Corner} first
   * @param {Corner} last
   */
  drawLabels(context, color, litColor, font, first, last) {
    const { picture, scale } = this;
    if (!picture) return;
    context.font = `${Math.min(textSize("text"), scale / 3.4)}px ${font}`;
    context.textAlign = "center";
    context.textBaseline = "middle";
    for (let row = first.row; row < last.row; row += 1) {
      for (let column = first.column; column < last.column; column += 1) {
        context.fillStyle = this.lit.has(row * picture.columns + column) ? litColor : color;
        context.fillText(picture.text(row, column), (column + 0.5) * scale, (row + 0.5) * scale, scale - 3);
      }
    }
  }

  /**
   * @param {Context} context
   * @param {string} color
   * @param {string} font
   * @param {Corner} first
   * @param {Corner} last
   * @param {{left: number, top: number, note: string}} hidden the part that is scrolled out of sight, and a note on it
   */
  drawAxes(context, color, font, first, last, { left, top, note }) {
    const { picture, scale } = this;
    if (!picture) return;
    context.fillStyle = color;
    context.font = `${textSize("small")}px ${font}`;
    context.textBaseline = "middle";
    context.textAlign = "left";
    context.fillText(`${picture.rowTitle} ↓   ${picture.columnTitle} →${note}`, 4, 9);
    const stepOf = (/** @type {number} */ room) => 2 ** Math.max(0, Math.ceil(Math.log2(room / scale)));
    context.textAlign = "center";
    const across = stepOf(30);
    for (let column = Math.ceil(first.column / across) * across; column < last.column; column += across) {
      context.fillText(String(column), LEFT_PX - left + (column + 0.5) * scale, TOP_PX - 8);
    }
    context.textAlign = "right";
    const down = stepOf(15);
    for (let row = Math.ceil(first.row / down) * down; row < last.row; row += down) {
      const y = TOP_PX - top + (row + 0.5) * scale;
      if (y > TOP_PX) context.fillText(String(row), LEFT_PX - 6, y);
    }
  }

  /** Keep the scroll position inside the grid. */
  limit() {
    const { picture, canvas, scale } = this;
    if (!picture) return;
    this.left = Math.max(0, Math.min(this.left, picture.columns * scale + LEFT_PX + 8 - canvas.clientWidth));
    this.top = Math.max(0, Math.min(this.top, picture.rows * scale + TOP_PX + 8 - canvas.clientHeight));
  }

  /** @param {number} factor @param {number} [x] the point that stays in place @param {number} [y] */
  zoom(factor, x = this.canvas.clientWidth / 2, y = this.canvas.clientHeight / 2) {
    const scale = Math.max(1.5, Math.min(LARGEST_PX, this.scale * factor));
    const grown = scale / this.scale;
    this.left = (this.left + x - LEFT_PX) * grown - x + LEFT_PX;
    this.top = (this.top + y - TOP_PX) * grown - y + TOP_PX;
    this.scale = scale;
    this.isFitted = false;
    this.schedule();
  }

  /** @param {{offsetX: number, offsetY: number}} event @returns {[number, number]} */
  cellAt({ offsetX, offsetY }) {
    const { picture } = this;
    const row = Math.floor((offsetY - TOP_PX + this.top) / this.scale);
    const column = Math.floor((offsetX - LEFT_PX + this.left) / this.scale);
    const isInside =
      picture && offsetX >= LEFT_PX && offsetY >= TOP_PX && row < picture.rows && column < picture.columns;
    return isInside ? [row, column] : [-1, -1];
  }

  /** @param {number} row @param {number} column */
  pointAt(row, column) {
    if (row === this.row && column === this.column) return;
    this.row = row;
    this.column = column;
    this.picture?.point(row, column);
    this.schedule();
  }

  /** @param {PointerEvent} event */
  move(event) {
    if (this.dragged) {
      this.left -= event.offsetX - this.dragged.x;
      this.top -= event.offsetY - this.dragged.y;
      this.dragged = { x: event.offsetX, y: event.offsetY, moved: true };
      this.schedule();
    } else this.pointAt(...this.cellAt(event));
  }

  /** @param {PointerEvent} event */
  press(event) {
    if (event.button !== 0) return;
    this.dragged = { x: event.offsetX, y: event.offsetY, moved: false };
    this.canvas.setPointerCapture(event.pointerId);
  }

  /** @param {PointerEvent} event */
  release(event) {
    const wasDragged = this.dragged?.moved;
    this.dragged = null;
    const [row, column] = this.cellAt(event);
    if (!wasDragged && row >= 0) this.picture?.choose(row, column);
  }

  /** @param {WheelEvent} event */
  wheel(event) {
    if (event.ctrlKey || event.metaKey) {
      event.preventDefault();
      this.zoom(event.deltaY < 0 ? STEP : 1 / STEP, event.offsetX, event.offsetY);
      return;
    }
    const before = [this.left, this.top];
    this.left += event.shiftKey ? event.deltaY : event.deltaX;
    this.top += event.shiftKey ? 0 : event.deltaY;
    this.limit();
    if (before[0] === this.left && before[1] === this.top) return;
    event.preventDefault();
    this.schedule();
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.ctrlKey || event.altKey || event.metaKey || !this.picture) return;
    const page = event.shiftKey ? 8 : 1;
    const steps = /** @type {Record<string, [number, number]>} */ ({
      ArrowUp: [-page, 0],
      ArrowDown: [page, 0],
      ArrowLeft: [0, -page],
      ArrowRight: [0, page],
    });
    const step = steps[event.key];
    if (step && this.row < 0) this.go(0, 0);
    else if (step) this.go(this.row + step[0], this.column + step[1]);
    else if (event.key === "Home") this.go(0, 0);
    else if (event.key === "End") this.go(this.picture.rows - 1, this.picture.columns - 1);
    else if (event.key === "+" || event.key === "=") this.zoom(STEP);
    else if (event.key === "-") this.zoom(1 / STEP);
    else if (event.key === "0") {
      this.fit();
      this.schedule();
    } else if (event.key === "Enter" && this.row >= 0) this.picture.choose(this.row, this.column);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  close() {
    this.observer.disconnect();
    this.themes.disconnect();
  }
}
