/**
 * Live ranges as bars below each other, on the scale of the plot above.
 *
 * @import { LiveRange, TensorRegistersDocument } from "./documents.js"
 */
import { stripeOfLine } from "../format.js";
import { makeSvg } from "../svg.js";
import { LEFT, RIGHT } from "./plot.js";

const ROW = 15;
const MOST_ROWS = 40;

/** A live range in words. @param {LiveRange} range */
export function rangeWords({ name, type, registers, elements, element_bits: bits, first, last, operation }) {
  return `${name}: ${type}, ${registers} registers (${elements} × ${bits} bits), from ${operation} in line ${first} to line ${last}`;
}

/** A value as the source calls it; one without a name keeps its number and its sign. @param {string} name */
function shortName(name) {
  return /^%\d/.test(name) ? name : name.replace(/^%/, "").replace(/_\d+(?=#\d+$|$)/, "");
}

/**
 * Bars in as few rows as they fit, the largest first; what does not fit is left to the table.
 * @param {TensorRegistersDocument} document
 * @param {number} width
 * @param {(range: LiveRange | null) => void} point
 * @param {(range: LiveRange) => void} choose
 */
export function drawRanges(document, width, point, choose) {
  const count = Math.max(1, document.pressure.length);
  const x = (/** @type {number} */ line) => LEFT + ((line - 1) / count) * (width - LEFT - RIGHT);
  /** @type {number[]} where each row is free again, in pixels */
  const rows = [];
  /** @type {{range: LiveRange, row: number}[]} */
  const placed = [];
  let left = 0;
  for (const range of [...document.tensors].filter(({ registers, first, last }) => registers > 0 && last > first).sort((one, other) => other.registers - one.registers || one.first - other.first)) {
    // Rows are filled from left to right only where that is still free.
    const end = Math.max(x(range.last + 1), x(range.first) + 3);
    let row = rows.findIndex((_, index) => placed.every((other) => other.row !== index || x(other.range.first) > end || Math.max(x(other.range.last + 1), x(other.range.first) + 3) < x(range.first)));
    if (row < 0) {
      if (rows.length >= MOST_ROWS) {
        left += 1;
        continue;
      }
      row = rows.push(0) - 1;
    }
    placed.push({ range, row });
  }
  const height = rows.length * ROW + 4;
  const element = makeSvg("svg", { class: "register-ranges", viewBox: `0 0 ${width} ${height}`, width, height, "aria-hidden": "true" });
  for (const { range, row } of placed) {
    const from = x(range.first);
    const wide = Math.max(3, x(range.last + 1) - from);
    const line = document.source_lines[range.first - 1] ?? 0;
    const label = `${shortName(range.name)} ${range.registers}`;
    const group = makeSvg("g", { class: "range", onpointerenter: () => point(range), onpointerleave: () => point(null), onclick: () => choose(range) },
      makeSvg("title", {}, rangeWords(range)),
      makeSvg("rect", { x: from, y: row * ROW + 2, width: wide, height: ROW - 3, rx: 2 }));
    if (line) group.style.setProperty("--stripe", stripeOfLine(line));
    if (label.length * 6 + 8 < wide) group.append(makeSvg("text", { x: from + 5, y: row * ROW + 12 }, label));
    element.append(group);
  }
  return { element, left };
}
