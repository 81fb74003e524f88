/**
 * `<pane-registers>`: live registers along the machine code, and the tensors of TTGIR that need them.
 *
 * Its state is the range that is brushed: "s120-180" (instructions of the machine code, counted from 0) or
 * "t45-60" (lines of TTGIR).
 *
 * @import { LiveRange, RegistersDocument, TensorRegistersDocument } from "../registers/documents.js"
 */
import { api, ApiError } from "../api.js";
import { make, setText } from "../dom.js";
import { plural } from "../format.js";
import { LivePlot } from "../registers/plot.js";
import { drawRanges, rangeWords } from "../registers/ranges.js";
import { AnswerPane } from "../pane.js";
import { hover, pin } from "../selection.js";
import { store } from "../store.js";

/** @typedef {{document: RegistersDocument | null, reason: string}} Machine */
/** @typedef {{document: TensorRegistersDocument | null, reason: string}} Tensors */

/** @extends {AnswerPane<{machine: Machine, tensors: Tensors}>} */
class RegistersPane extends AnswerPane {
  /** @type {LivePlot[]} */
  plots = [];

  constructor() {
    super({ empty: "Compile a kernel to see which registers are alive along its machine code.", waiting: "The registers are on their way." });
  }

  /** @param {string} id */
  async load(id) {
    const [machine, tensors] = await Promise.all([answer(id, "registers"), answer(id, "tensor_registers")]);
    return { machine: /** @type {Machine} */ (machine), tensors: /** @type {Tensors} */ (tensors) };
  }

  /** @param {{machine: Machine, tensors: Tensors}} answer */
  draw({ machine, tensors }) {
    this.plots = [];
    this.replaceChildren(make("div", { class: "registers" }, ...this.drawMachine(machine), ...this.drawTensors(tensors)));
    this.follow();
    this.light();
  }

  /** @param {Machine} machine */
  drawMachine({ document, reason }) {
    const head = make("h3", {}, "Live registers along the machine code");
    if (!document) return [head, make("p", { class: "registers-head" }, reason)];
    const { instructions } = document;
    const facts = make("p", { class: "registers-head" }, machineWords(document));
    if (instructions.length === 0) {
      return [head, facts, make("p", { class: "hint" }, document.reason), document.facts.length ? factTable(document) : null].filter((each) => each !== null);
    }
    const line = make("p", { class: "registers-place" });
    const describe = (/** @type {number} */ at) => {
      const each = instructions[at];
      if (!each) return "";
      return `/*${each.address.toString(16).padStart(4, "0")}*/, SASS line ${each.line}${each.source_line ? `, from line ${each.source_line}` : ""}: ${each.general} general, ${each.uniform} uniform, ${each.predicate} predicate${each.spill ? `, spill ${each.spill}` : ""}`;
    };
    const hasUniform = instructions.some(({ uniform }) => uniform > 0);
    const plot = new LivePlot({
      label: "Live registers along the machine code",
      series: [
        { name: "general", values: instructions.map(({ general }) => general) },
        ...(hasUniform ? [{ name: "uniform", values: instructions.map(({ uniform }) => uniform) }] : []),
        { name: "predicate", values: instructions.map(({ predicate }) => predicate) },
      ],
      sourceLines: instructions.map(({ source_line: source }) => source),
      levels: levelsOf(document),
      spills: instructions.flatMap(({ spill }, at) => (spill ? [at] : [])),
      describe,
      point: (at) => {
        setText(line, at === null ? "" : describe(at));
        const source = at === null ? 0 : instructions[at]?.source_line;
        hover(source ? [source] : [], this.id);
      },
      brush: (from, to) => this.brush("s", from, to, instructions.slice(from, to).map(({ source_line: source }) => source)),
      firstLabel: "SASS /*0000*/", lastLabel: `/*${(instructions.at(-1)?.address ?? 0).toString(16)}*/`,
    }, Math.max(260, this.width - 24), Math.min(260, Math.max(170, Math.round(this.clientHeight * 0.36))));
    this.plots.push(plot);
    return [head, facts, plot.element,
      make("p", { class: "registers-legend" }, make("span", { class: "key is-general" }, "general"), hasUniform ? make("span", { class: "key is-uniform" }, "uniform") : null, make("span", { class: "key is-predicate" }, "predicate"), instructions.some(({ spill }) => spill) ? make("span", { class: "key is-spill" }, "spill") : null),
      line];
  }

  /** @param {Tensors} tensors */
  drawTensors({ document, reason }) {
    const head = make("h3", {}, "Tensors of TTGIR in registers per thread (modelled)");
    if (!document) return [head, make("p", {}, reason)];
    if (document.most === 0) return [head, make("p", {}, "No tensor of this kernel is held in registers from one line to another.")];
    const wide = Math.max(260, this.width - 24);
    const line = make("p", { class: "registers-place" });
    const describe = (/** @type {number} */ at) => `TTGIR line ${at + 1}${document.source_lines[at] ? `, from line ${document.source_lines[at]}` : ""}: ${document.pressure[at]} registers`;
    const plot = new LivePlot({
      label: "Registers of all live tensors along TTGIR, modelled",
      series: [{ name: "pressure", values: document.pressure }],
      sourceLines: document.source_lines, levels: [], describe,
      point: (at) => {
        setText(line, at === null ? "" : describe(at));
        const source = at === null ? 0 : document.source_lines[at];
        hover(source ? [source] : [], this.id);
      },
      brush: (from, to) => this.brush("t", from + 1, to, document.source_lines.slice(from, to)),
      firstLabel: "TTGIR line 1", lastLabel: String(document.pressure.length),
    }, wide, 150);
    this.plots.push(plot);
    const linesOf = (/** @type {LiveRange} */ range) => [range.first, ...range.uses].map((each) => document.source_lines[each - 1] ?? 0);
    const bars = drawRanges(document, wide,
      (range) => {
        setText(line, range ? rangeWords(range) : "");
        hover(range ? distinct(linesOf(range)) : [], this.id);
      },
      (range) => pin(distinct(linesOf(range)), this.id));
    const alive = document.tensors.filter(({ first, last, registers }) => registers > 0 && first <= document.most_line && last > document.most_line).sort((one, other) => other.registers - one.registers);
    return [head,
      make("p", {}, `At most ${document.most} registers, behind line ${document.most_line}, where ${plural(alive.length, "tensor")} ${alive.length === 1 ? "is" : "are"} alive. The back end may hold less, above all of addresses, or more.`),
      plot.element, bars.element, bars.left ? make("p", { class: "hint" }, `${plural(bars.left, "smaller tensor")} not drawn.`) : null, line,
      make("details", { class: "registers-section" }, make("summary", {}, "Alive where most are"), this.table(alive, document)),
      make("p", { class: "hint" }, document.source)].filter((each) => each !== null);
  }

  /** @param {LiveRange[]} ranges @param {TensorRegistersDocument} document */
  table(ranges, document) {
    return make("div", { class: "registers-table" }, make("table", { "aria-label": "Tensors alive where most are" },
      make("thead", {}, make("tr", {}, ...["tensor", "type", "registers", "lines of TTGIR", "source"].map((head) => make("th", { scope: "col" }, head)))),
      make("tbody", {}, ...ranges.map((range) => {
        const source = document.source_lines[range.first - 1];
        return make("tr", {}, make("th", { scope: "row" }, range.name), make("td", {}, range.type), make("td", {}, String(range.registers)), make("td", {}, `${range.first}–${range.last}`),
          make("td", {}, source ? make("button", { type: "button", class: "link", onclick: () => pin([source], this.id) }, `line ${source}`) : ""));
      }))));
  }

  /** Pin the source lines of a range, and put it into the address. @param {"s" | "t"} which @param {number} from @param {number} to @param {number[]} lines */
  brush(which, from, to, lines) {
    const state = `${which}${from}-${to}`;
    const isSame = state === this.state;
    const wanted = isSame ? "" : state;
    this.keep(wanted);
    const found = distinct(lines);
    if (found.length && (isSame || found.join() !== store.state.pinned.join())) pin(found, this.id);
  }

  /** Show the range of the address in its plot. */
  follow() {
    const [, which = "", from = "0", to = "0"] = /^([st])(\d{1,7})-(\d{1,7})$/.exec(this.state) ?? [];
    const [machine, tensors] = this.answer?.machine.document?.instructions.length ? this.plots : [undefined, this.plots[0]];
    machine?.show(which === "s" ? Number(from) : 0, which === "s" ? Math.min(Number(to), machine.count) : 0);
    tensors?.show(which === "t" ? Number(from) - 1 : 0, which === "t" ? Math.min(Number(to), tensors.count) : 0);
  }

  light() {
    const { hovered, pinned } = store.state;
    const lines = new Set([...hovered, ...pinned]);
    for (const plot of this.plots) plot.light(lines);
  }
}

/** @param {string} id @param {string} analysis @returns {Promise<{document: unknown, reason: string}>} */
async function answer(id, analysis) {
  try {
    return { document: await api.analysis(id, analysis), reason: "" };
  } catch (error) {
    // Without a reason of its own: the whole pane is asked for again.
    if (!(error instanceof ApiError) || error.status === 503) throw error;
    return { document: null, reason: error.problem.detail || error.problem.title };
  }
}

/** @param {RegistersDocument} document */
function machineWords({ most_general: most, registers, difference, limit, limited_by: by, spill_stores_bytes: stores, spill_loads_bytes: loads }) {
  const parts = [];
  if (most !== null) parts.push(`${most} general registers alive at most`);
  if (registers !== null) parts.push(`${registers} taken by the compiler${difference ? `: ${difference}` : ""}`);
  parts.push(`limit ${limit}, by ${by}`);
  if (stores || loads) parts.push(`spilled: ${stores ?? 0} bytes stored, ${loads ?? 0} loaded`);
  else if (stores === 0) parts.push("no spills");
  return `${parts.join(" · ")}.`;
}

/** @param {RegistersDocument} document */
function levelsOf({ registers, limit, steps }) {
  /** @type {{value: number, kind: "taken" | "limit" | "step", words: string}[]} */
  const levels = [{ value: limit, kind: "limit", words: `limit ${limit}` }];
  if (registers !== null) levels.push({ value: registers, kind: "taken", words: `${registers} taken` });
  steps.forEach((step, index) => {
    const fewer = steps[index + 1];
    if (fewer && (registers === null || step.most_registers >= registers * 0.5)) {
      levels.push({ value: step.most_registers, kind: "step", words: `above: ${plural(fewer.blocks, "block")}, ${Math.round(fewer.share * 100)} % occupancy` });
    }
  });
  return levels;
}

/** @param {RegistersDocument} document */
function factTable({ facts }) {
  return make("div", { class: "registers-table" }, make("table", { "aria-label": "What the assembly says" },
    make("tbody", {}, ...facts.map(({ name, value }) => make("tr", {}, make("th", { scope: "row" }, name), make("td", {}, String(value)))))));
}

/** @param {number[]} lines */
function distinct(lines) {
  return [...new Set(lines.filter(Boolean))].sort((one, other) => one - other);
}

customElements.define("pane-registers", RegistersPane);
