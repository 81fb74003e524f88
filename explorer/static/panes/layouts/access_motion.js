/**
 * `<access-motion>`: the lanes of one instruction, one after the other, with what each needs of memory.
 *
 * It shows the last step at first. Space plays and pauses, the arrow keys step. Where the reader wants less motion,
 * playing shows the last step at once.
 *
 * @import { Motion } from "./motion.js"
 */
import { LitElement } from "lit";
import { html, nothing, svg } from "../../core/template.js";
import { stepWords } from "./motion.js";

const WIDTH = 640;
const LANE_TOP = 1;
const LANE_HEIGHT = 16;
const CELL_TOP = 77;
const CELL_HEIGHT = 18;
const HEIGHT = 96;
const STEP_MS = 160;
const GAP_WIDTH = 8;

class AccessMotion extends LitElement {
  static properties = {
    motion: { attribute: false },
    step: { state: true },
    isPlaying: { state: true },
  };

  constructor() {
    super();
    /** @type {Motion | null} */
    this.motion = null;
    /** The last step that is shown; null: all. @type {number | null} */
    this.step = null;
    this.isPlaying = false;
    this.timer = 0;
  }

  /** The page's style sheet applies. @override */
  createRenderRoot() {
    return this;
  }

  /** @override */
  disconnectedCallback() {
    super.disconnectedCallback();
    this.pause();
  }

  get last() {
    return (this.motion?.steps.length ?? 0) - 1;
  }

  get at() {
    return Math.min(this.step ?? this.last, this.last);
  }

  pause() {
    clearTimeout(this.timer);
    this.isPlaying = false;
  }

  play() {
    if (this.isPlaying) return this.pause();
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) return this.go(this.last);
    this.step = this.at >= this.last ? 0 : this.at;
    this.isPlaying = true;
    this.schedule();
  }

  schedule() {
    this.timer = setTimeout(() => {
      if (this.at >= this.last) return this.pause();
      this.step = this.at + 1;
      this.schedule();
    }, STEP_MS);
  }

  /** @param {number} step */
  go(step) {
    this.pause();
    this.step = Math.max(0, Math.min(this.last, step));
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const to = { ArrowRight: this.at + 1, ArrowLeft: this.at - 1, Home: 0, End: this.last }[event.key];
    if (to !== undefined) this.go(to);
    else if (event.key === " " && !(event.target instanceof HTMLButtonElement)) this.play();
    else return;
    event.preventDefault();
  }

  /** @override */
  render() {
    const { motion, at } = this;
    if (!motion) return nothing;
    const words = stepWords(motion, at);
    const button = (/** @type {string} */ label, /** @type {string} */ text, /** @type {() => void} */ act) =>
      html`<button type="button" class="button small" aria-label=${label} title=${label} @click=${act}>${text}</button>`;
    return html`<div class="motion" tabindex="0" role="group" aria-label="Steps of the access"
        @keydown=${(/** @type {KeyboardEvent} */ event) => this.key(event)}>
      <div class="motion-label">lanes</div>
      ${this.drawing(motion)}
      <div class="motion-label">${motion.unit === "sector" ? "sectors of 32 bytes" : "banks of 4 bytes"}${
        motion.starts.length
          ? `, in ${motion.starts.length + 1} ranges of addresses ${motion.isKnown ? "that are apart" : "whose distances are unknown"}`
          : ""
      }</div>
      <div class="motion-controls">
        ${button("Step back", "◂", () => this.go(at - 1))}
        ${button(this.isPlaying ? "Pause" : "Play", this.isPlaying ? "❚❚" : "▶", () => this.play())}
        ${button("Step forward", "▸", () => this.go(at + 1))}
        <span class="motion-words" aria-live=${this.isPlaying ? "off" : "polite"}>${words}</span>
      </div>
    </div>`;
  }

  /** @param {Motion} motion */
  drawing({ unit, cells, starts, cellBytes, steps }) {
    const { at } = this;
    const current = steps[at];
    const laneWidth = WIDTH / steps.length;
    const gapWidth = Math.min(GAP_WIDTH, WIDTH / cells / 3);
    const cellWidth = (WIDTH - gapWidth * starts.length) / cells;
    const shown = steps.slice(0, at + 1);
    const here = shown.filter(({ wavefront }) => wavefront === current?.wavefront);
    const leftOf = (/** @type {number} */ place) =>
      place * cellWidth + gapWidth * starts.filter((start) => start <= place).length;
    const placeOf = (/** @type {number} */ byte) => leftOf((byte / cellBytes) % cells);
    return svg`<svg class="motion-drawing" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${steps.length} lanes above ${cells} ${unit}s">
      ${steps.map(
        ({ lane }) =>
          svg`<rect class="motion-lane ${lane === current?.lane ? "is-current" : lane <= at ? "is-done" : ""}"
            x="${lane * laneWidth + 0.5}" y="${LANE_TOP}" width="${laneWidth - 1}" height="${LANE_HEIGHT}"></rect>`,
      )}
      ${Array.from(
        { length: cells },
        (_, cell) =>
          svg`<rect class="motion-cell ${here.some((step) => step.cells.includes(cell)) ? "is-moved" : ""}"
            x="${leftOf(cell) + 0.5}" y="${CELL_TOP}" width="${Math.max(0.5, cellWidth - 1)}" height="${CELL_HEIGHT}"></rect>`,
      )}
      ${here.map(
        ({ from, to }) =>
          svg`<rect class="motion-used" x="${placeOf(from) + 0.5}" y="${CELL_TOP + CELL_HEIGHT - 7}"
            width="${Math.max(0.5, ((to - from) / cellBytes) * cellWidth - 1)}" height="7"></rect>`,
      )}
      ${here.map(
        (step) =>
          svg`<path class="motion-line ${step === current ? "is-current" : ""}"
            d="M${(step.lane + 0.5) * laneWidth} ${LANE_TOP + LANE_HEIGHT}L${placeOf(step.from) + ((step.to - step.from) / cellBytes / 2) * cellWidth} ${CELL_TOP}"></path>`,
      )}
    </svg>`;
  }
}

customElements.define("access-motion", AccessMotion);
