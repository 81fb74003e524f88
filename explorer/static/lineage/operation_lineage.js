/**
 * `<operation-lineage>`: the origins of an operation pass by pass, its results in later passes, and its instructions.
 *
 * It dispatches `lineage-step` with the index of a pass and a line of the module after it, and
 * `lineage-closed`. It puts the lineage into the store, from which the panes mark lines and passes.
 *
 * @import { PropertyDeclarations } from "lit"
 * @import { Lineage, LineageStep, PassRow } from "../core/types.js"
 */
import { shortLine } from "../core/line_words.js";
import { LitElement } from "lit";
import { api } from "../core/api.js";
import { plural } from "../core/format.js";
import { Loaded } from "../core/pane.js";
import { putCursor } from "../core/selection.js";
import { store } from "../core/store.js";
import { html, nothing } from "../core/template.js";
import "./why_here.js";
import {
  currentStep,
  linesByStage,
  neighborStep,
  operationNames,
  shownSteps,
  touchedPasses,
} from "./lines.js";

/**
 * @typedef {object} Operation
 * @property {string} id of the compilation
 * @property {number} line in the module after a pass, or in a stage
 * @property {number} [pass]
 * @property {string} [stage]
 */

export class OperationLineage extends LitElement {
  /** @type {PropertyDeclarations} */
  static properties = { operation: { attribute: false }, passes: { attribute: false } };

  lineage = new Loaded(
    this,
    () => {
      const { id, line, pass = 0, stage = "" } = this.operation ?? {};
      return id && line ? [id, line, pass, stage] : null;
    },
    (id, line, pass, stage) => api.analysis(id, "lineage", stage ? { stage, line } : { pass, line }),
  );

  constructor() {
    super();
    /** The operation; null: none. @type {Operation | null} */
    this.operation = null;
    /** @type {PassRow[]} */
    this.passes = [];
    /** The lineage that this element has put into the store. @type {Lineage | null} */
    this.told = null;
  }

  /** @override */
  createRenderRoot() {
    return this;
  }

  /** @override */
  disconnectedCallback() {
    super.disconnectedCallback();
    this.tell(null);
  }

  /** @override */
  updated() {
    this.tell(this.operation ? this.lineage.answer : null);
  }

  /** Put a lineage into the store, or remove the lineage of this element. @param {Lineage | null} lineage */
  tell(lineage) {
    if (lineage === this.told) return;
    const isOwn = this.told !== null && store.state.lineage?.document === this.told;
    this.told = lineage;
    if (lineage) {
      const { passes } = this;
      const lines = linesByStage(lineage, passes);
      store.update({ lineage: { document: lineage, lines, touched: touchedPasses(lineage) } });
    } else if (isOwn) store.update({ lineage: null });
  }

  /** @override */
  render() {
    if (!this.operation) return nothing;
    const close = () => this.dispatchEvent(new CustomEvent("lineage-closed", { bubbles: true }));
    return html`<button
        type="button"
        class="tool lineage-close"
        aria-label="Close the lineage"
        @click=${close}
      >×</button>
      ${this.lineage.render({
        // The steps stay visible while the steps of a different line are fetched.
        waiting: () => {
          const { last } = this.lineage;
          const words = "Compiling with location snapshots …";
          return last ? this.content(last) : html`<p class="hint" role="status">${words}</p>`;
        },
        ready: (lineage) => this.content(lineage),
        failed: ({ detail }) => html`<p class="hint">${detail}</p>`,
      })}`;
  }

  /** @param {Lineage} lineage */
  content(lineage) {
    const { steps, removed_by: removedBy } = lineage;
    const asked = /** @type {LineageStep} */ (steps[lineage.asked]);
    const [first] = asked.lines;
    const words = asked.count > 1 ? operationNames(asked) : (first?.text ?? "");
    const button = (/** @type {string} */ text, /** @type {string} */ title, /** @type {1 | -1} */ step) =>
      html`<button
        type="button"
        class="button small"
        title=${title}
        aria-label=${title}
        ?disabled=${!neighborStep(lineage, step)}
        @click=${() => void this.step(step)}
      >${text}</button>`;
    const shown = shownSteps(lineage);
    const current = currentStep(lineage);
    const others = steps.length - shown.length;
    const all = plural(this.passes.length, "pass");
    // A line of another stage has the location of an operation of TTGIR.
    const isInstruction = !["", "ttir", "ttgir"].includes(this.operation?.stage ?? "");
    return html`<div class="lineage-head">
        ${button("←", "Previous change of the operation (B)", -1)} ${button("→", "Next change of the operation (F)", 1)}
        <code class="lineage-text" title=${words}>${words}</code>
      </div>
      <p class="lineage-made">${isInstruction ? "Its operation in TTGIR: " : nothing}${this.made(lineage)}</p>
      <why-here .operation=${this.operation} .go=${(/** @type {number} */ index, /** @type {number} */ line) => this.go(index, line)} .showStage=${(/** @type {string} */ stage, /** @type {number} */ line) => this.showStage(stage, line)}></why-here>
      <ol class="lineage-steps">
        ${shown.map((each) => this.chip(each, each === current, lineage))}
        ${
          removedBy === null
            ? nothing
            : html`<li><span class="lineage-step is-gone"
                ><small>${this.nameOf(removedBy)}</small><span>gone</span></span></li>`
        }
      </ol>
      ${this.instructions(lineage)}
      ${others ? html`<p class="hint">Of ${all}, ${others} changed the module, but not this operation.</p>` : nothing}`;
  }

  /** What made the operation. @param {Lineage} lineage */
  made({ made_by: madeBy, made_from: from, source_lines: sourceLines, unknown_before: unknownBefore }) {
    const source = sourceLines.length
      ? html`, source ${sourceLines.length > 1 ? "lines" : "line"} ${sourceLines.map(shortLine).join(", ")}`
      : nothing;
    if (madeBy === null) return html`The pass that made it is unknown.`;
    const pass = html`<b>${this.nameOf(madeBy)}</b>`;
    if (madeBy === 0) return html`Made by ${pass}${source}`;
    if (from.length === 0) return html`Made by ${pass} from unknown operations: the pass set no location.`;
    const before = this.passes.findLast(({ changed, index }) => changed && index < madeBy)?.index ?? 0;
    const origins = from.map(
      ({ line, operation, text }, at) => html`${at ? ", " : ""}<button
          type="button"
          class="link"
          title=${text}
          @click=${() => this.go(before, line)}
        ><code>${operation}</code></button>`,
    );
    const unknown = unknownBefore === null ? source : html`, and that from an unknown operation`;
    return html`Made by ${pass} from ${origins}${unknown}`;
  }

  /** @param {LineageStep} step @param {boolean} isAsked @param {Lineage} lineage */
  chip(step, isAsked, { made_by: madeBy, unknown_before: unknownBefore }) {
    const isMaker = step.index === madeBy;
    const line = step.lines[0]?.line;
    const state = [isMaker && "is-made", step.index === unknownBefore && "is-unknown"].filter(Boolean);
    return html`<li><button
      type="button"
      class="lineage-step ${state.join(" ")}"
      aria-current=${isAsked ? "step" : nothing}
      title=${step.lines.map(({ text }) => text).join("\n")}
      ?disabled=${line === undefined}
      @click=${() => line !== undefined && this.go(step.index, line)}
    ><small>${this.nameOf(step.index)}</small><span>${operationNames(step)}</span></button></li>`;
  }

  /** The instructions of the operation, or why they are unknown. @param {Lineage} lineage */
  instructions({ instructions }) {
    if (instructions.length === 0) return nothing;
    return html`<p class="lineage-code">${instructions.map(
      ({ stage, title, lines, is_equal: isEqual, differing_lines: differing }) =>
        !isEqual
          ? html`<span class="hint">${title}: unknown, because ${plural(differing, "line")} of it
              ${differing > 1 ? "differ" : "differs"} when it is compiled with other line information.</span>`
          : lines.length === 0
            ? html`<span class="hint">no ${title} instruction</span>`
            : html`<button
                type="button"
                class="button small"
                title="Show the instructions that come from this operation"
                @click=${() => this.showStage(stage, lines[0] ?? 1)}
              >${plural(lines.length, `${title} instruction`)}</button>`,
    )}</p>
      <p class="hint">By line information: an instruction without a location of its own has the location of
        the instruction before it.</p>`;
  }

  /** @param {number} index */
  nameOf(index) {
    return this.passes.find((pass) => pass.index === index)?.name ?? String(index);
  }

  /** Show a line of a stage in its pane. @param {string} stage @param {number} line */
  showStage(stage, line) {
    this.dispatchEvent(new CustomEvent("pane-beside", { bubbles: true, detail: `stage:${stage}` }));
    putCursor(stage, line, "lineage");
  }

  /** @param {number} index of a pass @param {number} line of the module after it */
  go(index, line) {
    this.dispatchEvent(new CustomEvent("lineage-step", { bubbles: true, detail: { index, line } }));
  }

  /** Go to the next pass that touched the operation, or back. @param {1 | -1} direction */
  async step(direction) {
    const lineage = await this.lineage.drawn();
    const to = this.operation && lineage && neighborStep(lineage, direction);
    if (to?.lines[0]) this.go(to.index, to.lines[0].line);
  }
}

customElements.define("operation-lineage", OperationLineage);
