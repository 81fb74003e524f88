/**
 * `<resources-waves>`: how a grid fills the GPU; grid and number of multiprocessors can be changed.
 *
 * @import { OccupancyDocument } from "../../core/types.js"
 * @import { PropertyDeclarations } from "lit"
 */
import { LitElement } from "lit";
import { api } from "../../core/api.js";
import { plural } from "../../core/format.js";
import { Loaded } from "../../core/pane.js";
import { html, nothing, styles } from "../../core/template.js";
import { percent } from "./curve.js";

const MOST_DRAWN = 60;

class ResourcesWaves extends LitElement {
  /** @type {PropertyDeclarations} */
  static properties = {
    compilation: { attribute: false },
    launched: { attribute: false },
    asked: { state: true },
  };

  /** The document for the typed values. */
  answer = new Loaded(
    this,
    () => (this.asked ? [this.compilation, this.asked] : null),
    (id, asked) => api.occupancy(id, asked),
  );

  constructor() {
    super();
    this.compilation = "";
    /** The document of the launch itself. @type {OccupancyDocument | null} */
    this.launched = null;
    /** The typed values; null: none yet. @type {Record<string, string> | null} */
    this.asked = null;
  }

  /** @override */
  createRenderRoot() {
    return this;
  }

  /** @param {Map<string, unknown>} changed @override */
  willUpdate(changed) {
    if (changed.has("compilation")) this.asked = null;
  }

  /** @override */
  render() {
    const { launched } = this;
    if (!launched) return nothing;
    const { device, multiprocessors } = launched;
    const change = () => this.change();
    return html`<section>
      <h3>Waves of the grid</h3>
      <div class="wave-form">
        <label>grid<input name="grid" type="text" placeholder="256 × 1 × 1" spellcheck="false"
            .value=${(launched.grid ?? []).join(" × ")} @change=${change}></label>
        <label>multiprocessors<input name="multiprocessors" type="text" inputmode="numeric" class="is-short"
            .value=${String(multiprocessors)} @change=${change}></label>
      </div>
      <div role="status">${this.asked ? this.answered(launched) : waves(launched)}</div>
      <p class="source">
        Modelled: blocks that all take the same time. ${device} has ${multiprocessors} multiprocessors.
      </p>
    </section>`;
  }

  /** @param {OccupancyDocument} launched */
  answered(launched) {
    return this.answer.render({
      waiting: () => waves(this.answer.last ?? launched),
      ready: waves,
      failed: ({ detail }) => html`<p class="hint">${detail}</p>`,
    });
  }

  change() {
    const typed = (/** @type {string} */ name) =>
      /** @type {HTMLInputElement} */ (this.querySelector(`[name=${name}]`)).value;
    const grid = typed("grid")
      .split(/[^\d]+/)
      .filter(Boolean)
      .join(",");
    const multiprocessors = typed("multiprocessors");
    this.asked = { ...(grid && { grid }), ...(multiprocessors && { multiprocessors }) };
  }
}

/** @param {OccupancyDocument} document */
function waves({ waves: filled, grid, blocks_per_program: perProgram }) {
  if (!filled) {
    return html`<p class="hint">
      ${grid ? "No block fits on a multiprocessor." : "The grid of the launch is not known: type one."}
    </p>`;
  }
  const { blocks, at_once: atOnce, waves: count, tail, used_share: used } = filled;
  const programs = perProgram > 1 ? ` (${perProgram} a program)` : "";
  const last = count > 1 ? `The last has ${plural(tail, "block")}, so that ` : "";
  const drawn = Math.min(count, MOST_DRAWN);
  const bars = Array.from({ length: drawn }, (_, index) =>
    index === drawn - 1
      ? html`<span class="tail" ${styles({ "--share": `${(100 * tail) / atOnce}%` })}></span>`
      : html`<span></span>`,
  );
  return html`<div class="waves-bar" aria-hidden="true">${bars}</div>
    <p class="hint">
      ${plural(blocks, "block")}${programs}, ${atOnce.toLocaleString("en")} at once: ${plural(count, "wave")}.
      ${last}${percent(used)} of the places are used.
    </p>`;
}

customElements.define("resources-waves", ResourcesWaves);
