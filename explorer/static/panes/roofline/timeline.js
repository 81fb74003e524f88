/**
 * `<timeline-view>`: the scopes of each warp over time, on a canvas that draws the visible part.
 *
 * The wheel scrolls through the warps, and zooms with Ctrl; dragging moves along the time. Arrow keys go from
 * scope to scope and from warp to warp, + and − zoom, 0 shows all.
 *
 * @import { Scope, Timeline } from "../../core/types.js"
 * @import { Lane, ScopeSum } from "./lanes.js"
 */
import { render } from "lit";
import { textSize } from "../../charts/text_size.js";
import { make, setText } from "../../core/dom.js";
import { plural } from "../../core/format.js";
import { percent, time } from "../../core/numbers.js";
import { heads, scrolled } from "../../core/scroller.js";
import { html, nothing, styles } from "../../core/template.js";
import { firstFrom, lanesOf, scopeSums } from "./lanes.js";
import { visible } from "../../core/visible.js";

const ROW_PX = 13;
const LANE_GAP_PX = 3;
const HEAD_PX = 22;
const NAMES_PX = 104;
const LABEL_LEAST_PX = 34;
const ZOOM = 1.6;
const MOST_HEIGHT_PX = 460;
const COLORS = [6, 7, 4, 5, 2, 0, 1, 3];

class TimelineView extends HTMLElement {
  /** @type {Timeline | null} */
  #timeline = null;
  /** @type {Lane[]} */
  lanes = [];
  /** where each lane begins, and behind the last its end @type {number[]} */
  tops = [0];
  /** @type {Map<string, number>} the number of the colour of each name */
  hues = new Map();
  whole = { from: 0, to: 1 };
  view = { from: 0, to: 1 };
  /** the scope under the mouse or the cursor @type {{lane: number, at: number} | null} */
  cursor = null;
  frame = 0;
  /** where dragging began @type {{x: number, from: number, to: number} | null} */
  drag = null;
  canvas = make("canvas", { "aria-hidden": "true" });
  space = make("div", { class: "timeline-space" }, this.canvas);
  scroller = make("div", { class: "timeline-scroller", tabindex: "0", role: "application" }, this.space);
  words = make("p", { class: "timeline-words", role: "status" });
  legend = make("div");
  themes = new MutationObserver(() => this.schedule());
  sizes = new ResizeObserver(() => this.schedule());

  connectedCallback() {
    if (!this.childElementCount) this.build();
    this.themes.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    this.sizes.observe(this.scroller);
  }

  disconnectedCallback() {
    this.themes.disconnect();
    this.sizes.disconnect();
    cancelAnimationFrame(this.frame);
    this.frame = 0;
  }

  build() {
    const tool = (/** @type {string} */ label, /** @type {string} */ text, /** @type {() => void} */ run) =>
      make(
        "button",
        { type: "button", class: "tool", "aria-label": label, title: label, onclick: run },
        text,
      );
    const { scroller } = this;
    scroller.addEventListener("scroll", () => this.schedule(), { passive: true });
    scroller.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    scroller.addEventListener("pointerdown", (event) => this.down(event));
    scroller.addEventListener("pointermove", (event) => this.move(event));
    scroller.addEventListener("pointerup", () => (this.drag = null));
    scroller.addEventListener("pointerleave", () => !this.drag && this.point(null));
    scroller.addEventListener("dblclick", (event) => {
      this.point(this.find(event));
      this.zoomToCursor();
    });
    scroller.addEventListener("keydown", (event) => this.key(event));
    this.append(
      make(
        "div",
        { class: "timeline-head" },
        this.words,
        tool("Zoom in", "+", () => this.zoom(1 / ZOOM)),
        tool("Zoom out", "−", () => this.zoom(ZOOM)),
        tool("Show all", "⤢", () => this.fit()),
      ),
      scroller,
      this.legend,
    );
  }

  get timeline() {
    return this.#timeline;
  }

  /** Set the timeline. @param {Timeline | null} timeline */
  set timeline(timeline) {
    this.#timeline = timeline;
    if (!timeline) return;
    const { scopes, cut } = timeline;
    this.lanes = lanesOf(scopes);
    this.tops = [0];
    for (const { depths } of this.lanes)
      this.tops.push((this.tops.at(-1) ?? 0) + depths * ROW_PX + LANE_GAP_PX);
    const starts = this.lanes.map(({ scopes: [first] }) => first?.scope.start_ns ?? 0);
    const end = scopes.reduce(
      (latest, { start_ns: start, duration_ns: duration }) => Math.max(latest, start + duration),
      0,
    );
    this.whole = { from: Math.min(...starts), to: Math.max(end, Math.min(...starts) + 1) };
    const sums = scopeSums(this.lanes);
    this.hues = new Map(
      sums.map(({ name }, index) => [name, /** @type {number} */ (COLORS[index % COLORS.length])]),
    );
    const height = HEAD_PX + (this.tops.at(-1) ?? 0);
    this.space.style.height = `${height}px`;
    this.scroller.style.height = `${Math.min(MOST_HEIGHT_PX, height)}px`;
    this.scroller.setAttribute(
      "aria-label",
      `Timeline of ${plural(scopes.length, "scope")} in ${plural(this.lanes.length, "warp")}. Arrow keys go from scope to scope and from warp to warp, plus and minus zoom, 0 shows all.`,
    );
    render(this.sums(sums, cut), this.legend);
    this.fit();
  }

  /** @param {ScopeSum[]} sums @param {number} cut how many scopes are left out */
  sums(sums, cut) {
    const rows = sums.map(
      ({ name, share, median_ns: median, count }) =>
        html`<tr>
          <th scope="row"><span class="timeline-swatch" aria-hidden="true"
            ${styles({ "--swatch": `var(--stripe-${this.hues.get(name)})` })}></span>${name}</th>
          <td>${percent(share)}</td><td>${time(median)}</td><td>${count.toLocaleString("en")}</td>
        </tr>`,
    );
    return html`${scrolled(
      "Scopes",
      html`${heads(["scope", "share of the time", "median", "times"])}<tbody>${rows}</tbody>`,
    )}
    ${
      cut
        ? html`<p class="source">${plural(cut, "further scope")} left out: the file has all of them.</p>`
        : nothing
    }`;
  }

  fit() {
    const room = (this.whole.to - this.whole.from) * 0.01;
    this.view = { from: this.whole.from - room, to: this.whole.to + room };
    this.point(this.cursor);
    this.schedule();
  }

  /** @param {number} factor more than 1: out @param {number} [at_ns] the time that keeps its place */
  zoom(factor, at_ns = this.cursorMiddle() ?? (this.view.from + this.view.to) / 2) {
    const { from, to } = this.view;
    const most = (this.whole.to - this.whole.from) * 1.02;
    const size = Math.min(most, Math.max(10, (to - from) * factor));
    const share = (at_ns - from) / (to - from);
    this.moveTo(at_ns - share * size, size);
  }

  /** @param {number} from @param {number} size */
  moveTo(from, size) {
    const room = (this.whole.to - this.whole.from) * 0.01;
    const first = Math.max(this.whole.from - room, Math.min(from, this.whole.to + room - size));
    this.view = { from: first, to: first + size };
    this.schedule();
  }

  cursorMiddle() {
    const scope = this.scopeAtCursor();
    return scope ? scope.start_ns + scope.duration_ns / 2 : null;
  }

  /** @returns {Scope | null} */
  scopeAtCursor() {
    return this.cursor ? (this.lanes[this.cursor.lane]?.scopes[this.cursor.at]?.scope ?? null) : null;
  }

  zoomToCursor() {
    const scope = this.scopeAtCursor();
    if (scope) this.moveTo(scope.start_ns - scope.duration_ns, scope.duration_ns * 3);
  }

  /** @param {WheelEvent} event */
  wheel(event) {
    if (event.ctrlKey || event.metaKey) {
      event.preventDefault();
      this.zoom(ZOOM ** Math.sign(event.deltaY), this.timeAt(event));
    } else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      event.preventDefault();
      const size = this.view.to - this.view.from;
      this.moveTo(this.view.from + ((event.deltaX || event.deltaY) / this.clientWidth) * size, size);
    }
  }

  /** @param {PointerEvent} event */
  down(event) {
    if (event.button !== 0) return;
    this.drag = { x: event.clientX, ...this.view };
    this.scroller.setPointerCapture(event.pointerId);
  }

  /** @param {PointerEvent} event */
  move(event) {
    if (this.drag) {
      const size = this.drag.to - this.drag.from;
      this.moveTo(this.drag.from - ((event.clientX - this.drag.x) / this.plotWidth) * size, size);
    } else this.point(this.find(event));
  }

  get plotWidth() {
    return Math.max(1, this.scroller.clientWidth - NAMES_PX);
  }

  /** @param {MouseEvent} event */
  timeAt(event) {
    const x = event.clientX - this.scroller.getBoundingClientRect().left - NAMES_PX;
    return this.view.from + (x / this.plotWidth) * (this.view.to - this.view.from);
  }

  /** Return the scope under the mouse. @param {MouseEvent} event */
  find(event) {
    const y = event.clientY - this.scroller.getBoundingClientRect().top + this.scroller.scrollTop - HEAD_PX;
    const lane = this.laneAt(y);
    const { scopes } = this.lanes[lane] ?? { scopes: [] };
    const depth = Math.floor((y - (this.tops[lane] ?? 0)) / ROW_PX);
    const at_ns = this.timeAt(event);
    const at = scopes.findIndex(
      ({ scope, depth: own }) =>
        own === depth && scope.start_ns <= at_ns && at_ns <= scope.start_ns + scope.duration_ns,
    );
    return at < 0 ? null : { lane, at };
  }

  /** @param {number} y */
  laneAt(y) {
    const behind = this.tops.findIndex((top) => top > y);
    return behind < 0 ? this.lanes.length : behind - 1;
  }

  /** @param {{lane: number, at: number} | null} cursor */
  point(cursor) {
    this.cursor = cursor;
    const scope = this.scopeAtCursor();
    const words = scope
      ? `${scope.name}: ${time(scope.duration_ns)} from ${time(scope.start_ns - this.whole.from)} on, block ${scope.block}, warp ${scope.warp}, multiprocessor ${scope.multiprocessor}`
      : `${plural(this.lanes.length, "warp")}, ${time(this.whole.to - this.whole.from)}`;
    setText(this.words, words);
    this.schedule();
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const { lane, at } = this.cursor ?? { lane: this.laneAt(this.scroller.scrollTop), at: -1 };
    const scopes = this.lanes[lane]?.scopes.length ?? 0;
    if (event.key === "ArrowRight" || event.key === "ArrowLeft")
      this.goTo(lane, Math.max(0, Math.min(scopes - 1, at + (event.key === "ArrowRight" ? 1 : -1))));
    else if (event.key === "ArrowDown" || event.key === "ArrowUp")
      this.goToLane(
        Math.max(0, Math.min(this.lanes.length - 1, lane + (event.key === "ArrowDown" ? 1 : -1))),
      );
    else if (event.key === "+" || event.key === "=") this.zoom(1 / ZOOM);
    else if (event.key === "-") this.zoom(ZOOM);
    else if (event.key === "0" || event.key === "Home") this.fit();
    else if (event.key === "Enter") this.zoomToCursor();
    else return;
    event.preventDefault();
  }

  /** The scope of another warp at about the same time. @param {number} lane */
  goToLane(lane) {
    const scope = this.scopeAtCursor();
    const found = this.lanes[lane];
    if (found)
      this.goTo(lane, Math.min(found.scopes.length - 1, scope ? firstFrom(found, scope.start_ns) : 0));
  }

  /** @param {number} lane @param {number} at */
  goTo(lane, at) {
    const { scroller } = this;
    const top = this.tops[lane] ?? 0;
    if (top < scroller.scrollTop) scroller.scrollTop = top;
    const bottom = HEAD_PX + (this.tops[lane + 1] ?? 0);
    if (bottom > scroller.scrollTop + scroller.clientHeight)
      scroller.scrollTop = bottom - scroller.clientHeight;
    this.point({ lane, at });
    const scope = this.scopeAtCursor();
    const size = this.view.to - this.view.from;
    if (scope && (scope.start_ns < this.view.from || scope.start_ns + scope.duration_ns > this.view.to))
      this.moveTo(scope.start_ns - size / 4, size);
  }

  schedule() {
    if (!this.isConnected) return;
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      this.draw();
    });
  }

  draw() {
    const { clientWidth: width, clientHeight: height, scrollTop } = this.scroller;
    const context = this.canvas.getContext("2d");
    if (!context || width === 0 || height === 0) return;
    const ratio = devicePixelRatio || 1;
    this.canvas.style.width = `${width}px`;
    this.canvas.style.height = `${height}px`;
    this.canvas.width = width * ratio;
    this.canvas.height = height * ratio;
    context.scale(ratio, ratio);
    const style = getComputedStyle(this);
    const color = (/** @type {string} */ name) => style.getPropertyValue(`--${name}`).trim();
    const look = {
      text: color("text"),
      mute: color("mute"),
      line: color("line"),
      panel: color("panel"),
      hues: [...Array(8).keys()].map((hue) => color(`stripe-${hue}`)),
      font: style.fontFamily,
    };
    const first = Math.max(0, this.laneAt(scrollTop));
    for (let lane = first; lane < this.lanes.length && (this.tops[lane] ?? 0) - scrollTop < height; lane += 1)
      this.drawLane(context, lane, HEAD_PX + (this.tops[lane] ?? 0) - scrollTop, look);
    this.drawTime(context, width, look);
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {number} index
   * @param {number} top
   * @param {{text: string, mute: string, line: string, hues: string[], font: string}} look
   */
  drawLane(context, index, top, look) {
    const lane = /** @type {Lane} */ (this.lanes[index]);
    const { from, to } = this.view;
    const scale = this.plotWidth / (to - from);
    context.fillStyle = look.line;
    context.fillRect(0, top + lane.depths * ROW_PX + 1, NAMES_PX + this.plotWidth, 1);
    context.font = `${textSize("small")}px ${look.font}`;
    context.textBaseline = "middle";
    context.fillStyle = look.mute;
    context.fillText(`block ${lane.block} · w${lane.warp}`, 4, top + ROW_PX / 2);
    context.save();
    context.beginPath();
    context.rect(NAMES_PX, HEAD_PX, this.plotWidth, this.scroller.clientHeight);
    context.clip();
    /**
     * the end of the last bar of each depth; bars that are too narrow to see beside it are not drawn
     * @type {number[]}
     */
    const ends = [];
    for (let at = 0; at < lane.scopes.length; at += 1) {
      const { scope, depth } = /** @type {{scope: Scope, depth: number}} */ (lane.scopes[at]);
      if (scope.start_ns > to) break;
      const left = NAMES_PX + (scope.start_ns - from) * scale;
      const right = left + scope.duration_ns * scale;
      if (right < NAMES_PX || right < (ends[depth] ?? -1) + 0.5) continue;
      const wide = Math.max(1, right - left - 0.5);
      ends[depth] = left + wide;
      const y = top + depth * ROW_PX;
      context.globalAlpha = 0.62;
      context.fillStyle = look.hues[this.hues.get(scope.name) ?? 0] ?? look.mute;
      context.fillRect(left, y, wide, ROW_PX - 1);
      context.globalAlpha = 1;
      if (wide > LABEL_LEAST_PX)
        this.drawName(
          context,
          visible(scope.name),
          Math.max(left, NAMES_PX),
          y,
          Math.min(right, NAMES_PX + this.plotWidth),
          look.text,
        );
      if (this.cursor?.lane === index && this.cursor.at === at) {
        context.strokeStyle = look.text;
        context.lineWidth = 1.5;
        context.strokeRect(left + 0.75, y + 0.75, Math.max(1, wide - 1.5), ROW_PX - 2.5);
      }
    }
    context.restore();
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {string} name
   * @param {number} left
   * @param {number} y
   * @param {number} right
   * @param {string} color
   */
  drawName(context, name, left, y, right, color) {
    if (context.measureText(name).width > right - left - 6) return;
    context.fillStyle = color;
    context.fillText(name, left + 4, y + ROW_PX / 2);
  }

  /**
   * Draw the scale, above the scrolled lanes.
   * @param {CanvasRenderingContext2D} context
   * @param {number} width
   * @param {{mute: string, line: string, panel: string}} look
   */
  drawTime(context, width, { mute, line, panel }) {
    context.fillStyle = panel;
    context.fillRect(0, 0, width, HEAD_PX - 2);
    const { from, to } = this.view;
    const least = (to - from) / Math.max(2, this.plotWidth / 90);
    const power = 10 ** Math.floor(Math.log10(least));
    const step = /** @type {number} */ (
      [1, 2, 5, 10].map((each) => each * power).find((each) => each >= least)
    );
    const zero = this.whole.from;
    context.textAlign = "center";
    for (let at = Math.ceil((from - zero) / step) * step; at <= to - zero; at += step) {
      const x = NAMES_PX + ((at + zero - from) / (to - from)) * this.plotWidth;
      if (x < NAMES_PX) continue;
      context.fillStyle = line;
      context.fillRect(x, HEAD_PX - 5, 1, 4);
      context.fillStyle = mute;
      context.fillText(time(Math.round(at * 1000) / 1000), x, 9);
    }
    context.textAlign = "start";
  }
}

customElements.define("timeline-view", TimelineView);
