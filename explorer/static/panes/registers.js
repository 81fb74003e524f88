/**
 * `<pane-registers>`: live registers along the machine code, and the tensors of TTGIR that need them.
 *
 * Its state is the selected range: "s120-180" (instructions of the machine code, counted from 0) or "t45-60"
 * (lines of TTGIR, counted from 1).
 *
 * @import { PropertyDeclarations } from "lit"
 * @import { AnalysisAnswer, LiveRange, RegistersDocument, TensorRegistersDocument } from "../core/types.js"
 * @import { Plot } from "./registers/plot.js"
 */
import { lineText } from "../core/line_words.js";
import { ApiError, api } from "../core/api.js";
import { register } from "../core/commands.js";
import { ElementSize } from "../core/element_size.js";
import { plural } from "../core/format.js";
import { isFile } from "../core/host.js";
import { finishedId, Loaded, whyEmpty } from "../core/pane.js";
import { paneInUse } from "../core/pane_in_use.js";
import { hover, pin, putCursor } from "../core/selection.js";
import { distinctLines } from "../core/source_lines.js";
import { store } from "../core/store.js";
import { marked } from "../glossary/marks.js";
import { html, nothing } from "../core/template.js";
import { PicturePane } from "../picture/picture_pane.js";
import {
  aliveAtMost,
  hasUniform,
  machinePlot,
  machineWords,
  rangeWords,
  tensorPlot,
} from "./registers/data.js";
import "./registers/plot.js";
import { liveRanges } from "./registers/ranges.js";

const WAITING = "The registers are being computed.";

/**
 * An answer with its plot, or why there is none.
 * @template Answer
 * @typedef {{answer: Answer, plot: Plot} | {answer: null, reason: string}} Part
 */

class RegistersPane extends PicturePane {
  /** @type {PropertyDeclarations} @override */
  static properties = {
    pointedMachine: { state: true },
    pointedTensor: { state: true },
    isExplained: { state: true },
  };
  static slices = /** @type {(typeof PicturePane)["slices"]} */ (["result", "hovered", "pinned"]);

  size = new ElementSize(this);

  parts = new Loaded(this, finishedId, (id) =>
    Promise.all([load(id, "registers", machinePlot), load(id, "tensor_registers", tensorPlot)]),
  );

  constructor() {
    super();
    /** The instruction under the mouse, in words. */
    this.pointedMachine = "";
    /** The line of TTGIR or the live range under the mouse, in words. */
    this.pointedTensor = "";
    /** Whether the pane says why the most registers are live where they are. */
    this.isExplained = false;
  }

  /** @override */
  render() {
    return this.parts.render({
      empty: whyEmpty("Compile a kernel to see which registers are alive along its machine code.", WAITING),
      waiting: WAITING,
      ready: ([machine, tensors]) =>
        html`<div class="registers">${this.machine(machine)} ${this.tensors(tensors)}</div>`,
    });
  }

  /** @override */
  pictureParts() {
    return [...this.querySelectorAll(".registers > *")];
  }

  get drawnWidth() {
    return Math.max(260, this.size.width - 24);
  }

  /** @param {Part<RegistersDocument>} part */
  machine(part) {
    const head = html`<header class="registers-title">
      <h3>Live registers along the machine code</h3>
      <span class="picture-tools">${this.saveButtons()}</span>
    </header>`;
    if (!part.answer) return html`${head}<p class="registers-head">${part.reason}</p>`;
    const { answer, plot } = part;
    const facts = html`${head}<p class="registers-head">${machineWords(answer)}</p>`;
    if (answer.instructions.length === 0)
      return html`${facts}<p class="hint">${answer.reason}</p>${factTable(answer)}`;
    const height = Math.min(260, Math.max(170, Math.round(this.size.height * 0.36)));
    return html`${facts} ${this.plot("s", 0, plot, height, (words) => (this.pointedMachine = words))}
      <p class="registers-legend">
        <span class="key is-general">general</span>
        ${hasUniform(answer) ? html`<span class="key is-uniform">uniform</span>` : nothing}
        <span class="key is-predicate">predicate</span>
        ${plot.spills.length ? html`<span class="key is-spill">spill</span>` : nothing}
      </p>
      <p class="registers-place">${this.pointedMachine}</p>
      ${this.peak(answer)}`;
  }

  /** Why the most registers are live where they are. @param {RegistersDocument} document */
  peak({ instructions, most_general: most }) {
    const line = instructions.find((each) => each.general === most && each.line > 0)?.line;
    const { result } = store.state;
    if (!line || !result || isFile) return nothing;
    if (!this.isExplained)
      return html`<p><button type="button" class="button small" @click=${() => this.explainPeak()}>Why so many?</button></p>`;
    const passes = result.document.passes;
    const stageOf = (/** @type {number} */ pass) => passes.find(({ index }) => index === pass)?.stage ?? "";
    return html`<why-here
      role="region"
      aria-label="Why so many registers are live"
      .operation=${{ id: result.id, stage: "sass", line }}
      .go=${(/** @type {number} */ pass, /** @type {number} */ at) =>
        this.openBeside(`passes:${stageOf(pass)}.${pass}.t.l${at}`)}
      .showStage=${(/** @type {string} */ stage, /** @type {number} */ at) => {
        this.openBeside(`stage:${stage}`);
        putCursor(stage, at, "registers");
      }}
    ></why-here>`;
  }

  explainPeak() {
    this.isExplained = true;
    void import("../lineage/why_here.js").catch(() => undefined);
  }

  /** @param {Part<TensorRegistersDocument>} part */
  tensors(part) {
    const head = html`<h3>Tensors of TTGIR in registers per thread (modelled)</h3>`;
    if (!part.answer) return html`${head}<p>${part.reason}</p>`;
    const { answer, plot } = part;
    if (answer.most === 0)
      return html`${head}<p>No tensor of this kernel is held in registers from one line to another.</p>`;
    const alive = aliveAtMost(answer);
    const linesOf = (/** @type {LiveRange} */ { first, uses }) =>
      distinctLines([first, ...uses].map((each) => answer.source_lines[each - 1] ?? 0));
    return html`${head}
      <p>
        At most ${answer.most} registers, after TTGIR line ${answer.most_line}, where
        ${plural(alive.length, "tensor")} ${alive.length === 1 ? "is" : "are"} alive. The back end may hold fewer
        registers, or more, for example for addresses.
      </p>
      ${this.plot("t", 1, plot, 150, (words) => (this.pointedTensor = words))}
      ${liveRanges(
        answer,
        this.drawnWidth,
        (range) => {
          this.pointedTensor = range ? rangeWords(range) : "";
          hover(range ? linesOf(range) : [], this.id);
        },
        (range) => pin(linesOf(range), this.id),
      )}
      <p class="registers-place">${this.pointedTensor}</p>
      <details class="registers-section">
        <summary>Tensors alive at the maximum</summary>
        ${this.table(alive, answer)}
      </details>
      <p class="hint">${answer.source}</p>`;
  }

  /**
   * A plot with the selected range of the address.
   * @param {"s" | "t"} name of the plot in the address @param {number} base the number of its first position there
   * @param {Plot} plot @param {number} height in pixels @param {(words: string) => void} say shows the description of
   *   the position under the pointer
   */
  plot(name, base, plot, height, say) {
    const { hovered, pinned } = store.state;
    const [, which = "", from = "0", to = "0"] = /^([st])(\d{1,7})-(\d{1,7})$/.exec(this.paneState) ?? [];
    const point = (/** @type {number | null} */ at) => {
      say(at === null ? "" : plot.describe(at));
      hover(at === null ? [] : distinctLines([plot.sourceLines[at] ?? 0]), this.id);
    };
    const select = (/** @type {number} */ first, /** @type {number} */ end) => {
      this.select(`${name}${first + base}-${end}`, plot.sourceLines.slice(first, end));
    };
    return html`<register-plot .plot=${plot} .width=${this.drawnWidth} .height=${height}
      .lit=${new Set([...hovered, ...pinned])} .point=${point} .select=${select}
      .selected=${which === name ? { from: Number(from) - base, to: Number(to) } : null}></register-plot>`;
  }

  /**
   * Put a range into the address and pin its source lines; the same range again ends both.
   * @param {string} state @param {number[]} sourceLines
   */
  select(state, sourceLines) {
    const isSame = state === this.paneState;
    this.keepState(isSame ? "" : state);
    const lines = distinctLines(sourceLines);
    if (isSame || lines.join() !== store.state.pinned.join()) pin(lines, this.id);
  }

  /** @param {LiveRange[]} ranges @param {TensorRegistersDocument} document */
  table(ranges, document) {
    const rows = ranges.map(({ name, type, registers, first, last }) => {
      const line = document.source_lines[first - 1];
      const button = () =>
        html`<button type="button" class="link" @click=${() => pin([line ?? 0], this.id)}>${lineText(line ?? 0)}</button>`;
      return html`<tr>
        <th scope="row">${name}</th><td>${type}</td><td>${registers}</td><td>${first}–${last}</td>
        <td>${line ? button() : nothing}</td>
      </tr>`;
    });
    return html`<div class="registers-table">
      <table aria-label="Tensors alive at the maximum">
        <thead><tr>${["tensor", "type", "registers", "lines of TTGIR", "source"].map(
          (head) => html`<th scope="col">${marked(head)}</th>`,
        )}</tr></thead>
        <tbody>${rows}</tbody>
      </table>
    </div>`;
  }
}

/**
 * @template {"registers" | "tensor_registers"} Name
 * @param {string} id
 * @param {Name} name
 * @param {(answer: AnalysisAnswer<Name>) => Plot} plotOf
 * @returns {Promise<Part<AnalysisAnswer<Name>>>}
 */
async function load(id, name, plotOf) {
  try {
    const answer = await api.analysis(id, name);
    return { answer, plot: plotOf(answer) };
  } catch (error) {
    // A busy server is asked again for both.
    if (!(error instanceof ApiError) || error.isBusy) throw error;
    return { answer: null, reason: error.problem.detail || error.problem.title };
  }
}

/** @param {RegistersDocument} document */
function factTable({ facts }) {
  if (facts.length === 0) return nothing;
  const rows = facts.map(({ name, value }) => html`<tr><th scope="row">${name}</th><td>${value}</td></tr>`);
  return html`<div class="registers-table">
    <table aria-label="Values in the assembly"><tbody>${rows}</tbody></table>
  </div>`;
}

register([
  {
    name: "register-peak",
    title: "Explain the register peak",
    group: "Registers",
    run: () => paneInUse(RegistersPane)?.explainPeak(),
  },
]);

customElements.define("pane-registers", RegistersPane);
