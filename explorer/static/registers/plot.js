/**
 * A plot of registers along a program that can be brushed: positions across, registers up.
 *
 * It knows nothing of panes: it tells what is pointed at and what is brushed, and lights what it is told to.
 */
import { make, setText } from "../dom.js";
import { stripeOfLine } from "../format.js";
import { makeSvg } from "../svg.js";

export const LEFT = 44;
export const RIGHT = 12;
const TOP = 16;
const BOTTOM = 28;

/**
 * @typedef {object} Series
 * @property {string} name
 * @property {number[]} values one for each position; the first series is filled, others are lines
 *
 * @typedef {object} PlotOptions
 * @property {string} label what it shows, for those who do not see it
 * @property {Series[]} series
 * @property {number[]} sourceLines for each position, 0: none
 * @property {{value: number, kind: "taken" | "limit" | "step", words: string}[]} levels
 * @property {number[]} [spills] positions
 * @property {(position: number) => string} describe
 * @property {(position: number | null) => void} point
 * @property {(from: number, to: number) => void} brush called when a range has been chosen; the same again: none
 * @property {string} firstLabel
 * @property {string} lastLabel
 */

export class LivePlot {
  /** @param {PlotOptions} options @param {number} width @param {number} height */
  constructor(options, width, height) {
    this.options = options;
    this.width = width;
    this.height = height;
    this.count = Math.max(1, options.sourceLines.length);
    /** where a range was begun by keyboard or mouse @type {number | null} */
    this.anchor = null;
    this.cursor = 0;
    const most = Math.max(1, ...options.series.map(({ values }) => values.reduce((largest, value) => Math.max(largest, value), 0)));
    const near = options.levels.map(({ value }) => value).filter((value) => value <= most * 1.5);
    this.top = Math.max(most, ...near) * 1.06;
    this.svg = makeSvg("svg", { class: "register-plot", viewBox: `0 0 ${width} ${height}`, width, height, "aria-hidden": "true" });
    this.lit = makeSvg("g", { class: "lit" });
    this.brushed = makeSvg("rect", { class: "brush", y: TOP, height: height - TOP - BOTTOM, width: 0, x: LEFT });
    this.pointer = makeSvg("line", { class: "pointer", y1: TOP, y2: height - BOTTOM, x1: -9, x2: -9 });
    this.drawFrame();
    this.status = make("div", { class: "visually-hidden", role: "status" });
    this.element = make("div", {
      class: "plot", role: "application", tabindex: "0", "aria-label": `${options.label}. Arrow keys move along it, Shift with them chooses a range, Enter pins its source lines.`,
      onpointermove: (/** @type {PointerEvent} */ event) => this.move(event), onpointerleave: () => this.leave(),
      onpointerdown: (/** @type {PointerEvent} */ event) => this.down(event), onpointerup: (/** @type {PointerEvent} */ event) => this.up(event),
      onkeydown: (/** @type {KeyboardEvent} */ event) => this.key(event), onblur: () => this.leave(),
    }, this.svg, this.status);
  }

  /** @param {number} position */
  x(position) {
    return LEFT + (position / this.count) * (this.width - LEFT - RIGHT);
  }

  /** @param {number} value */
  y(value) {
    return this.height - BOTTOM - (value / this.top) * (this.height - TOP - BOTTOM);
  }

  drawFrame() {
    const { svg, width, height, options } = this;
    const right = width - RIGHT;
    const step = [8, 16, 32, 64, 128, 256].find((size) => this.top / size <= 6) ?? 512;
    for (let value = 0; value <= this.top; value += step) {
      svg.append(
        makeSvg("line", { class: "grid", x1: LEFT, x2: right, y1: this.y(value), y2: this.y(value) }),
        makeSvg("text", { class: "tick", x: LEFT - 7, y: this.y(value) + 4, "text-anchor": "end" }, value),
      );
    }
    svg.append(this.lit);
    options.series.forEach(({ values, name }, index) => {
      const path = this.path(values);
      if (index === 0) svg.append(makeSvg("path", { class: "area", d: `${path}L${this.x(this.count)} ${this.y(0)}L${LEFT} ${this.y(0)}Z` }));
      svg.append(makeSvg("path", { class: `line is-${name}`, d: path }));
    });
    for (const { value, kind, words } of options.levels) {
      if (value > this.top) continue;
      svg.append(
        makeSvg("line", { class: `level is-${kind}`, x1: LEFT, x2: right, y1: this.y(value), y2: this.y(value) }),
        makeSvg("text", { class: `level is-${kind}`, x: kind === "step" ? LEFT + 4 : right, y: this.y(value) + (kind === "taken" ? 13 : -4), "text-anchor": kind === "step" ? "start" : "end" }, words),
      );
    }
    for (const position of options.spills ?? []) svg.append(makeSvg("line", { class: "spill", x1: this.x(position + 0.5), x2: this.x(position + 0.5), y1: height - BOTTOM - 7, y2: height - BOTTOM }));
    for (const [from, to, line] of this.runs(options.sourceLines)) {
      const piece = makeSvg("rect", { class: "strip", x: this.x(from), y: height - BOTTOM + 3, width: Math.max(0.4, this.x(to) - this.x(from)), height: 5 });
      piece.style.setProperty("--stripe", stripeOfLine(line));
      svg.append(piece);
    }
    svg.append(this.brushed, this.pointer,
      makeSvg("text", { class: "tick", x: LEFT, y: height - 4 }, options.firstLabel),
      makeSvg("text", { class: "tick", x: right, y: height - 4, "text-anchor": "end" }, options.lastLabel));
  }

  /** Steps along the values; where several share a pixel, the largest counts. @param {number[]} values */
  path(values) {
    const pixels = Math.max(1, Math.round(this.width - LEFT - RIGHT));
    const each = Math.max(1, values.length / pixels);
    let path = `M${LEFT} ${this.y(values[0] ?? 0)}`;
    for (let from = 0; from < values.length; from += each) {
      const to = Math.max(Math.floor(from) + 1, Math.floor(from + each));
      let most = 0;
      for (let at = Math.floor(from); at < Math.min(to, values.length); at += 1) most = Math.max(most, values[at] ?? 0);
      path += `L${this.x(from).toFixed(1)} ${this.y(most).toFixed(1)}L${this.x(Math.min(from + each, values.length)).toFixed(1)} ${this.y(most).toFixed(1)}`;
    }
    return path;
  }

  /** Positions in a row with the same line: from, to, line. @param {number[]} lines @returns {[number, number, number][]} */
  runs(lines) {
    /** @type {[number, number, number][]} */
    const found = [];
    for (let from = 0; from < lines.length; ) {
      const line = lines[from] ?? 0;
      let to = from + 1;
      while (to < lines.length && lines[to] === line) to += 1;
      if (line) found.push([from, to, line]);
      from = to;
    }
    return found;
  }

  /** Light what comes from these source lines. @param {Set<number>} lines */
  light(lines) {
    const { height } = this;
    this.lit.replaceChildren(...this.runs(this.options.sourceLines.map((line) => (lines.has(line) ? 1 : 0))).map(([from, to]) =>
      makeSvg("rect", { x: this.x(from), y: TOP, width: Math.max(1, this.x(to) - this.x(from)), height: height - TOP - BOTTOM })));
  }

  /** Show a range as chosen. @param {number} from @param {number} to beyond the last; the same as `from`: none */
  show(from, to) {
    this.brushed.setAttribute("x", String(this.x(from)));
    this.brushed.setAttribute("width", String(Math.max(0, this.x(to) - this.x(from))));
  }

  /** @param {PointerEvent} event */
  at(event) {
    const { left, width } = this.svg.getBoundingClientRect();
    const share = ((event.clientX - left) * (this.width / width) - LEFT) / (this.width - LEFT - RIGHT);
    return Math.min(this.count - 1, Math.max(0, Math.floor(share * this.count)));
  }

  /** @param {number} position */
  pointAt(position) {
    this.cursor = position;
    const x = String(this.x(position + 0.5));
    this.pointer.setAttribute("x1", x);
    this.pointer.setAttribute("x2", x);
    this.options.point(position);
  }

  leave() {
    if (this.anchor !== null) return;
    this.pointer.setAttribute("x1", "-9");
    this.pointer.setAttribute("x2", "-9");
    this.options.point(null);
  }

  /** @param {PointerEvent} event */
  move(event) {
    this.pointAt(this.at(event));
    if (this.anchor !== null) this.show(Math.min(this.anchor, this.cursor), Math.max(this.anchor, this.cursor) + 1);
  }

  /** @param {PointerEvent} event */
  down(event) {
    if (event.button !== 0) return;
    this.element.setPointerCapture(event.pointerId);
    this.anchor = this.at(event);
  }

  /** @param {PointerEvent} event */
  up(event) {
    if (this.anchor === null) return;
    const [from, to] = [Math.min(this.anchor, this.at(event)), Math.max(this.anchor, this.at(event)) + 1];
    this.anchor = null;
    this.show(from, to);
    this.options.brush(from, to);
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const page = Math.max(1, Math.round(this.count / 20));
    const step = { ArrowRight: 1, ArrowLeft: -1, PageDown: page, PageUp: -page, Home: -this.count, End: this.count }[event.key];
    if (step !== undefined) {
      if (event.shiftKey) this.anchor ??= this.cursor;
      else this.anchor = null;
      this.pointAt(Math.min(this.count - 1, Math.max(0, this.cursor + step)));
      if (this.anchor !== null) this.show(Math.min(this.anchor, this.cursor), Math.max(this.anchor, this.cursor) + 1);
      setText(this.status, this.options.describe(this.cursor));
    } else if (event.key === "Enter") {
      const anchor = this.anchor ?? this.cursor;
      this.anchor = null;
      this.options.brush(Math.min(anchor, this.cursor), Math.max(anchor, this.cursor) + 1);
    } else return;
    event.preventDefault();
  }
}
