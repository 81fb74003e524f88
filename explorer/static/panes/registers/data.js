/**
 * The data of the plots and tables, from the documents of the API.
 *
 * @import { LiveRange, RegistersDocument, TensorRegistersDocument } from "../../core/types.js"
 * @import { Level, Plot, Series } from "./plot.js"
 */
import { lineText } from "../../core/line_words.js";
import { plural } from "../../core/format.js";

/** The plot of the machine code. @param {RegistersDocument} document @returns {Plot} */
export function machinePlot(document) {
  const { instructions } = document;
  return {
    label: "Live registers along the machine code",
    series: [
      { name: "general", values: instructions.map(({ general }) => general) },
      ...(hasUniform(document)
        ? [{ name: "uniform", values: instructions.map(({ uniform }) => uniform) }]
        : []),
      { name: "predicate", values: instructions.map(({ predicate }) => predicate) },
    ],
    sourceLines: instructions.map(({ source_line: line }) => line),
    levels: levelsOf(document),
    spills: instructions.flatMap(({ spill }, at) => (spill ? [at] : [])),
    describe: (at) => instructionWords(instructions[at]),
    firstLabel: "SASS /*0000*/",
    lastLabel: `/*${(instructions.at(-1)?.address ?? 0).toString(16)}*/`,
  };
}

/** The plot of the tensors of TTGIR. @param {TensorRegistersDocument} document @returns {Plot} */
export function tensorPlot({ pressure, source_lines: sourceLines }) {
  return {
    label: "Registers of all live tensors along TTGIR, modelled",
    series: [{ name: "pressure", values: pressure }],
    sourceLines,
    levels: [],
    spills: [],
    describe: (at) =>
      `TTGIR line ${at + 1}${sourceLines[at] ? `, from ${lineText(sourceLines[at] ?? 0)}` : ""}: ${pressure[at]} registers`,
    firstLabel: "TTGIR line 1",
    lastLabel: String(pressure.length),
  };
}

/** @param {RegistersDocument} document */
export function hasUniform({ instructions }) {
  return instructions.some(({ uniform }) => uniform > 0);
}

/** The highest value of a plot: all series fit, and the levels that are not far above them. @param {Series[]} series @param {Level[]} levels */
export function topOf(series, levels) {
  const most = Math.max(
    1,
    ...series.map(({ values }) => values.reduce((one, other) => Math.max(one, other), 0)),
  );
  const near = levels.map(({ value }) => value).filter((value) => value <= most * 1.5);
  return Math.max(most, ...near) * 1.06;
}

/**
 * The levels of the plot: the limit, the allocated registers, and the counts above which fewer blocks fit.
 * @param {RegistersDocument} document
 */
export function levelsOf({ registers, limit, steps }) {
  /** @type {Level[]} */
  const levels = [{ value: limit, kind: "limit", words: `limit ${limit}` }];
  if (registers !== null) levels.push({ value: registers, kind: "taken", words: `${registers} taken` });
  steps.forEach((step, index) => {
    const fewer = steps[index + 1];
    if (fewer && (registers === null || step.most_registers >= registers * 0.5)) {
      levels.push({
        value: step.most_registers,
        kind: "step",
        words: `above: ${plural(fewer.blocks, "block")}, ${Math.round(fewer.share * 100)} % occupancy`,
      });
    }
  });
  return levels;
}

/** @param {RegistersDocument["instructions"][number] | undefined} instruction */
export function instructionWords(instruction) {
  if (!instruction) return "";
  const { address, line, source_line: source, general, uniform, predicate, spill } = instruction;
  const place = `/*${address.toString(16).padStart(4, "0")}*/, SASS line ${line}${source ? `, from ${lineText(source)}` : ""}`;
  return `${place}: ${general} general, ${uniform} uniform, ${predicate} predicate${spill ? `, spill ${spill}` : ""}`;
}

/** @param {RegistersDocument} document */
export function machineWords(document) {
  const { most_general: most, registers, difference, limit, limited_by: by } = document;
  const { spill_stores_bytes: stores, spill_loads_bytes: loads } = document;
  const parts = [];
  if (most !== null) parts.push(`${most} general registers alive at most`);
  if (registers !== null)
    parts.push(`${registers} taken by the compiler${difference ? `: ${difference}` : ""}`);
  parts.push(`limit ${limit}, by ${by}`);
  if (stores || loads) parts.push(`spilled: ${stores ?? 0} bytes stored, ${loads ?? 0} loaded`);
  else if (stores === 0) parts.push("no spills");
  return `${parts.join(" · ")}.`;
}

/** The tensors that are alive behind the line with the most registers, the largest first. @param {TensorRegistersDocument} document */
export function aliveAtMost({ tensors, most_line: line }) {
  return tensors
    .filter(({ first, last, registers }) => registers > 0 && first <= line && last > line)
    .sort((one, other) => other.registers - one.registers);
}

/** @param {LiveRange} range */
export function rangeWords({ name, type, registers, elements, element_bits: bits, first, last, operation }) {
  const lines = first === last ? `line ${first}` : `lines ${first} to ${last}`;
  return `${name}: ${type}, ${registers} registers (${elements} × ${bits} bits), from ${operation} in TTGIR ${lines}`;
}

/** The name of a value in the source; a value without a name keeps its number and its sign. @param {string} name */
export function shortName(name) {
  return /^%\d/.test(name) ? name : name.replace(/^%/, "").replace(/_\d+(?=#\d+$|$)/, "");
}

const MOST_ROWS = 40;

/**
 * Place live ranges in as few rows as they need, the largest first.
 * @param {LiveRange[]} ranges
 * @param {(range: LiveRange) => {left: number, right: number}} extent of a bar in pixels
 * @returns {{rows: number, placed: {range: LiveRange, row: number}[], left: number}} `left`: how many are in no row
 */
export function placeRanges(ranges, extent) {
  /** @type {{left: number, right: number}[][]} */
  const rows = [];
  /** @type {{range: LiveRange, row: number}[]} */
  const placed = [];
  let left = 0;
  const largest = ranges
    .filter(({ registers, first, last }) => registers > 0 && last > first)
    .sort((one, other) => other.registers - one.registers || one.first - other.first);
  for (const range of largest) {
    const bar = extent(range);
    const free = rows.findIndex((bars) =>
      bars.every((other) => other.left > bar.right || other.right < bar.left),
    );
    const row = free < 0 ? rows.length : free;
    if (row === MOST_ROWS) {
      left += 1;
      continue;
    }
    (rows[row] ??= []).push(bar);
    placed.push({ range, row });
  }
  return { rows: rows.length, placed, left };
}
