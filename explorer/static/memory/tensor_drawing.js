/**
 * Tensor memory as a picture: operations across, columns up.
 *
 * @import { TensorBuffer, TensorMemoryMap } from "./documents.js"
 */
import { makeSvg } from "../svg.js";

const LEFT = 56;
const RIGHT = 14;
const TOP = 10;
const BOTTOM = 22;

/**
 * @param {TensorMemoryMap} memory @param {number} width @param {number} height
 * @param {(buffer: TensorBuffer | null) => void} point called with what is under the mouse
 * @param {(buffer: TensorBuffer) => void} choose
 */
export function drawTensorMemory(memory, width, height, point, choose) {
  const first = Math.min(...memory.buffers.map(({ start }) => start));
  const last = Math.max(...memory.buffers.map(({ end }) => end));
  const margin = Math.max(2, Math.round((last - first) * 0.06));
  const from = Math.max(0, first - margin);
  const to = Math.min(memory.operations, last + margin);
  const most = Math.max(memory.allocated_columns, ...memory.buffers.map(({ column, columns }) => column + (columns ?? 1)));
  const x = (/** @type {number} */ position) => LEFT + ((position - from) / (to - from)) * (width - LEFT - RIGHT);
  const y = (/** @type {number} */ column) => height - BOTTOM - (column / most) * (height - TOP - BOTTOM);
  const element = makeSvg("svg", { class: "memory-map is-tensor", viewBox: `0 0 ${width} ${height}`, width, height, "aria-hidden": "true" });
  for (let column = 0; column <= most; column += most / 4) {
    element.append(
      makeSvg("line", { class: "grid", x1: LEFT, x2: width - RIGHT, y1: y(column), y2: y(column) }),
      makeSvg("text", { class: "tick", x: LEFT - 7, y: y(column) + 4, "text-anchor": "end" }, `col ${column}`),
    );
  }
  for (const buffer of memory.buffers) {
    const top = y(buffer.column + (buffer.columns ?? 1));
    const box = { x: x(buffer.start), y: top, width: Math.max(3, x(buffer.end) - x(buffer.start)), height: Math.max(2, y(buffer.column) - top), rx: 3 };
    const group = makeSvg("g", { class: "buffer is-tensor", onpointerenter: () => point(buffer), onpointerleave: () => point(null), onclick: () => choose(buffer) },
      makeSvg("title", {}, `${buffer.name}: ${buffer.type}, from column ${buffer.column}${buffer.columns === null ? "" : `, ${buffer.columns} columns`}, ${buffer.rows} rows`),
      makeSvg("rect", box));
    if (box.height >= 17 && box.width > 70) group.append(makeSvg("text", { x: box.x + 7, y: top + 16 }, `${buffer.name} · ${buffer.type.replaceAll("x", "×")}`.slice(0, Math.floor((box.width - 14) / 6.2))));
    element.append(group);
  }
  element.append(
    makeSvg("text", { class: "tick", x: LEFT, y: height - 5 }, `operation ${from}`),
    makeSvg("text", { class: "tick", x: width - RIGHT, y: height - 5, "text-anchor": "end" }, String(to)),
  );
  return element;
}
