/**
 * `<register-plot>`: registers along a program, of which a range can be selected: positions from left to right,
 * registers from bottom to top.
 *
 * @import { PropertyDeclarations } from "lit"
 */
import { LitElement } from "lit";
import { guard } from "lit/directives/guard.js";
import { stripeOfLine } from "../../core/format.js";
import { sequencesOf } from "../../core/source_lines.js";
import { placeLevels } from "../../charts/level_labels.js";
import { html, nothing, styles, svg } from "../../core/template.js";
import { topOf } from "./data.js";

export const LEFT = 44;
export const RIGHT = 12;
const TOP = 16;
const BOTTOM = 28;

/**
 * @typedef {object} Series
 * @property {string} name
 * @property {number[]} values one for each position; the first series is filled, the others are lines
 *
 * @typedef {{value: number, kind: "taken" | "limit" | "step", words: string}} Level
 *
 * @typedef {object} Plot
 * @property {string} label what the plot shows, for screen readers
 * @property {Series[]} series
 * @property {number[]} sourceLines for each position, 0: none
 * @property {Level[]} levels
 * @property {number[]} spills positions
 * @property {(position: number) => string} describe
 * @property {string} firstLabel
 * @property {string} lastLabel
 */

class RegisterPlot extends LitElement {
  /** @type {PropertyDeclarations} */
  static properties = {
    plot: { attribute: false },
    width: { attribute: false },
    height: { attribute: false },
    lit: { attribute: false },
    selected: { attribute: false },
    point: { attribute: false },
    select: { attribute: false },
    anchor: { state: true },
    cursor: { state: true },
    isPointed: { state: true },
    status: { state: true },
  };

  constructor() {
    super();
    /** @type {Plot | null} */
    this.plot = null;
    this.width = 0;
    this.height = 0;
    /** Source lines that are highlighted. @type {Set<number>} */
    this.lit = new Set();
    /** The range that is selected; `to` is the position behind the last one. @type {{from: number, to: number} | null} */
    this.selected = null;
    /** Called with the position under the mouse or the cursor. @type {(position: number | null) => void} */
    this.point = () => {};
    /** Called with a range that was selected. @type {(from: number, to: number) => void} */
    this.select = () => {};
    /** Where the range that is being selected begins. @type {number | null} */
    this.anchor = null;
    this.cursor = 0;
    this.isPointed = false;
    /** The description for screen readers. */
    this.status = "";
  }

  /** @override */
  createRenderRoot() {
    return this;
  }

  get count() {
    return Math.max(1, this.plot?.sourceLines.length ?? 0);
  }

  /** @param {number} position */
  x(position) {
    return LEFT + (position / this.count) * (this.width - LEFT - RIGHT);
  }

  /** The range that is being selected, or the selected one. */
  get range() {
    const { anchor, cursor, count } = this;
    if (anchor !== null) return { from: Math.min(anchor, cursor), to: Math.max(anchor, cursor) + 1 };
    return this.selected ? { from: this.selected.from, to: Math.min(this.selected.to, count) } : null;
  }

  /** @override */
  render() {
    const { plot, width, height, range } = this;
    if (!plot) return nothing;
    const inner = height - TOP - BOTTOM;
    const lit = sequencesOf(plot.sourceLines.map((line) => (this.lit.has(line) ? 1 : 0)));
    const pointer = this.x(this.cursor + 0.5);
    return html`<div class="plot" role="application" tabindex="0"
        aria-label=${`${plot.label}. Arrow keys move along it, Shift with them selects a range, Enter pins its source lines.`}
        @pointermove=${this.move} @pointerleave=${this.leave} @pointerdown=${this.down} @pointerup=${this.up}
        @keydown=${this.key} @blur=${this.leave}>
      <svg class="register-plot" viewBox=${`0 0 ${width} ${height}`} width=${width} height=${height}
          aria-hidden="true">
        <g class="lit">${lit.map(
          ({ from, to }) =>
            svg`<rect x=${this.x(from)} y=${TOP} width=${Math.max(1, this.x(to) - this.x(from))}
              height=${inner}></rect>`,
        )}</g>
        ${guard([plot, width, height], () => this.frame(plot))}
        <rect class="brush" x=${range ? this.x(range.from) : LEFT} y=${TOP}
          width=${range ? Math.max(0, this.x(range.to) - this.x(range.from)) : 0} height=${inner}></rect>
        ${
          this.isPointed
            ? svg`<line class="pointer" x1=${pointer} x2=${pointer} y1=${TOP} y2=${height - BOTTOM}></line>`
            : nothing
        }
      </svg>
      <div class="visually-hidden" role="status">${this.status}</div>
    </div>`;
  }

  /** The part of the plot that does not depend on the mouse. @param {Plot} plot */
  frame({ series, levels, spills, sourceLines, firstLabel, lastLabel }) {
    const { width, height } = this;
    const right = width - RIGHT;
    const bottom = height - BOTTOM;
    const top = topOf(series, levels);
    const y = (/** @type {number} */ value) => bottom - (value / top) * (bottom - TOP);
    const step = [8, 16, 32, 64, 128, 256].find((size) => top / size <= 6) ?? 512;
    const ticks = Array.from({ length: Math.floor(top / step) + 1 }, (_, index) => index * step).map(
      (value) => svg`<line class="grid" x1=${LEFT} x2=${right} y1=${y(value)} y2=${y(value)}></line>
        <text class="tick" x=${LEFT - 7} y=${y(value) + 4} text-anchor="end">${value}</text>`,
    );
    const lines = series.map(({ name, values }, index) => {
      const path = this.path(values, y);
      const area = `${path}L${this.x(this.count)} ${y(0)}L${LEFT} ${y(0)}Z`;
      return svg`${index === 0 ? svg`<path class="area" d=${area}></path>` : nothing}
        <path class=${`line is-${name}`} d=${path}></path>`;
    });
    const shown = levels.filter(({ value }) => value <= top);
    const places = placeLevels(
      shown.map(({ value, kind, words }) => ({
        y: y(value),
        words,
        side: kind === "step" ? "left" : "right",
        isBelow: kind === "taken",
      })),
      { left: LEFT, right, bottom },
    );
    return svg`${ticks} ${lines}
      ${shown.map(({ value, kind }) => svg`<line class=${`level is-${kind}`} x1=${LEFT} x2=${right} y1=${y(value)} y2=${y(value)}></line>`)}
      ${shown.map(({ kind, words }, index) => {
        const place = places[index];
        return place
          ? svg`<text class=${`level is-${kind}`} x=${place.x} y=${place.y} text-anchor=${place.anchor}>${words}</text>`
          : nothing;
      })}
      ${spills.map((position) => {
        const x = this.x(position + 0.5);
        return svg`<line class="spill" x1=${x} x2=${x} y1=${bottom - 7} y2=${bottom}></line>`;
      })}
      ${sequencesOf(sourceLines).map(
        ({ from, to, line }) =>
          svg`<rect class="strip" x=${this.x(from)} y=${bottom + 3}
            width=${Math.max(0.4, this.x(to) - this.x(from))} height="5"
            ${styles({ "--stripe": stripeOfLine(line) })}></rect>`,
      )}
      <text class="tick" x=${LEFT} y=${height - 4}>${firstLabel}</text>
      <text class="tick" x=${right} y=${height - 4} text-anchor="end">${lastLabel}</text>`;
  }

  /**
   * Steps along the values; of several values at one pixel the largest is drawn.
   * @param {number[]} values @param {(value: number) => number} y
   */
  path(values, y) {
    const pixels = Math.max(1, Math.round(this.width - LEFT - RIGHT));
    const each = Math.max(1, values.length / pixels);
    let path = `M${LEFT} ${y(values[0] ?? 0)}`;
    for (let from = 0; from < values.length; from += each) {
      const to = Math.min(values.length, Math.max(Math.floor(from) + 1, Math.floor(from + each)));
      const most = Math.max(0, ...values.slice(Math.floor(from), to));
      const height = y(most).toFixed(1);
      const end = this.x(Math.min(from + each, values.length)).toFixed(1);
      path += `L${this.x(from).toFixed(1)} ${height}L${end} ${height}`;
    }
    return path;
  }

  /** @param {number} position */
  pointAt(position) {
    this.cursor = Math.min(this.count - 1, Math.max(0, position));
    this.isPointed = true;
    this.point(this.cursor);
  }

  /** @param {PointerEvent} event */
  positionOf(event) {
    const { left, width } = /** @type {Element} */ (this.querySelector("svg")).getBoundingClientRect();
    const share = ((event.clientX - left) * (this.width / width) - LEFT) / (this.width - LEFT - RIGHT);
    return Math.floor(share * this.count);
  }

  leave() {
    if (this.anchor !== null) return;
    this.isPointed = false;
    this.point(null);
  }

  /** @param {PointerEvent} event */
  move(event) {
    this.pointAt(this.positionOf(event));
  }

  /** @param {PointerEvent} event */
  down(event) {
    if (event.button !== 0) return;
    /** @type {Element} */ (event.currentTarget).setPointerCapture(event.pointerId);
    this.pointAt(this.positionOf(event));
    this.anchor = this.cursor;
  }

  /** @param {PointerEvent} event */
  up(event) {
    if (this.anchor === null) return;
    this.pointAt(this.positionOf(event));
    this.choose();
  }

  /** Select the range from the anchor to the cursor. */
  choose() {
    this.anchor ??= this.cursor;
    const { range } = this;
    this.anchor = null;
    if (range) this.select(range.from, range.to);
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const page = Math.max(1, Math.round(this.count / 20));
    const step = {
      ArrowRight: 1,
      ArrowLeft: -1,
      PageDown: page,
      PageUp: -page,
      Home: -this.count,
      End: this.count,
    }[event.key];
    if (step !== undefined) {
      this.anchor = event.shiftKey ? (this.anchor ?? this.cursor) : null;
      this.pointAt(this.cursor + step);
      this.status = this.plot?.describe(this.cursor) ?? "";
    } else if (event.key === "Enter") this.choose();
    else return;
    event.preventDefault();
  }
}

customElements.define("register-plot", RegisterPlot);
