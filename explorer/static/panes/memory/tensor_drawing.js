/**
 * Two drawings of tensor memory: operations from left to right with columns from bottom to top, and the rows
 * and columns that each buffer takes.
 *
 * @import { TensorBuffer, TensorMemoryMap } from "../../core/types.js"
 */
import { html, nothing, svg } from "../../core/template.js";
import { tensorLabel } from "./words.js";

const LEFT = 56;
const RIGHT = 14;
const TOP = 10;
const BOTTOM = 22;
const TIMELINE_PX = 138;
/** Of a drawing for half of the rows, and of its title. */
const HALF_PX = 92;
const TITLE_PX = 26;
const ROW_PX = 1.5;
const LETTER_PX = 6.2;
const LINE_PX = 17;
const WARPS = 4;

/**
 * @typedef {object} Follow the callbacks of the pane
 * @property {(buffer: TensorBuffer | null) => void} point called with the buffer under the mouse
 * @property {(buffer: TensorBuffer) => void} choose
 */

/**
 * The buffers in order of time.
 * @param {TensorMemoryMap} memory
 * @param {number} width in pixels
 * @param {Follow} follow
 */
export function tensorTimeline(memory, width, follow) {
  const first = Math.min(...memory.buffers.map(({ start }) => start));
  const last = Math.max(...memory.buffers.map(({ end }) => end));
  const margin = Math.max(2, Math.round((last - first) * 0.06));
  const from = Math.max(0, first - margin);
  const to = Math.min(memory.operations, last + margin);
  const most = highestColumn(memory);
  const x = (/** @type {number} */ operation) =>
    LEFT + ((operation - from) / (to - from)) * (width - LEFT - RIGHT);
  const halves = rowHalves(memory);
  const [inner, title] = halves.length > 1 ? [HALF_PX, TITLE_PX] : [TIMELINE_PX, 0];
  const height = TOP + halves.length * (title + inner) + BOTTOM;
  const strips = halves.map(({ words, buffers }, index) => {
    const bottom = TOP + (index + 1) * (title + inner);
    const y = (/** @type {number} */ column) => bottom - (column / most) * inner;
    return svg`${
      words ? svg`<text class="tick" x=${LEFT} y=${bottom - inner - 5}>${words}</text>` : nothing
    } ${steps(most, halves.length > 1 ? 2 : 4).map(
      (
        column,
      ) => svg`<line class="grid" x1=${LEFT} x2=${width - RIGHT} y1=${y(column)} y2=${y(column)}></line>
        <text class="tick" x=${LEFT - 7} y=${y(column) + 4} text-anchor="end">${`col ${column}`}</text>`,
    )} ${buffers.map((buffer) => {
      const top = y(buffer.column + (buffer.columns ?? 1));
      const high = y(buffer.column) - top;
      return drawn(
        buffer,
        memory,
        [{ x: x(buffer.start), y: top, wide: x(buffer.end) - x(buffer.start), high }],
        follow,
      );
    })}`;
  });
  return html`<svg class="memory-map is-tensor" viewBox=${`0 0 ${width} ${height}`} width=${width}
      height=${height} aria-hidden="true">
    ${strips}
    <text class="tick" x=${LEFT} y=${height - 5}>${`operation ${from}`}</text>
    <text class="tick" x=${width - RIGHT} y=${height - 5} text-anchor="end">${to}</text>
  </svg>`;
}

/**
 * The rows and columns of the buffers, with a line between the rows of neighboring warps.
 * @param {TensorMemoryMap} memory
 * @param {number} width in pixels
 * @param {Follow} follow
 */
export function tensorPlaces(memory, width, follow) {
  const most = highestColumn(memory);
  const rows = memory.limit_rows;
  const x = (/** @type {number} */ column) => LEFT + (column / most) * (width - LEFT - RIGHT);
  const y = (/** @type {number} */ row) => TOP + row * ROW_PX;
  const height = y(rows) + BOTTOM;
  const lines = steps(rows, WARPS).map(
    (row) => svg`<line class="grid" x1=${LEFT} x2=${width - RIGHT} y1=${y(row)} y2=${y(row)}></line>
      ${row < rows ? svg`<text class="tick" x=${LEFT - 7} y=${y(row) + 10} text-anchor="end">${`row ${row}`}</text>` : nothing}`,
  );
  const columns = steps(most, 4).map(
    (column) => svg`<text class="tick" x=${x(column)} y=${height - 5}
      text-anchor=${column === 0 ? "start" : column === most ? "end" : "middle"}>${`${column === 0 ? "col " : ""}${column}`}</text>`,
  );
  const buffers = memory.buffers.map((buffer) => {
    const { column, columns: count, row_ranges: ranges } = buffer;
    if (count === null) return nothing;
    const parts = ranges.map(([first, last]) => ({
      x: x(column),
      y: y(first),
      wide: x(column + count) - x(column),
      high: y(last + 1) - y(first),
    }));
    return drawn(buffer, memory, parts, follow);
  });
  return html`<svg class="memory-map is-tensor is-places" viewBox=${`0 0 ${width} ${height}`} width=${width}
      height=${height} aria-hidden="true">
    ${lines} ${columns} ${buffers}
  </svg>`;
}

/**
 * The buffers by the rows of each warp that they take: all together, or separately for each half if some take only half
 * of the rows.
 * @param {TensorMemoryMap} memory
 */
export function rowHalves({ buffers, limit_rows: rows }) {
  if (buffers.every((buffer) => buffer.rows === null || buffer.rows === rows))
    return [{ words: "", buffers }];
  const half = rows / WARPS / 2;
  return [0, half].map((first) => ({
    words: `rows ${first} to ${first + half - 1} of the ${rows / WARPS} rows of each warp`,
    buffers: buffers.filter(
      ({ row_ranges: ranges }) => !ranges.length || ranges.some(([from, to]) => from <= first && first <= to),
    ),
  }));
}

/**
 * A buffer, its name in the first of its parts where there is room.
 * @param {TensorBuffer} buffer
 * @param {TensorMemoryMap} memory
 * @param {{x: number, y: number, wide: number, high: number}[]} parts in pixels
 * @param {Follow} follow
 */
function drawn(buffer, memory, parts, { point, choose }) {
  // Buffers that lie next to each other alternate between two shades.
  const shade = memory.buffers.indexOf(buffer) % 2 === 1 ? " is-other" : "";
  const [first] = parts;
  const named = `${buffer.name} · ${buffer.type.replaceAll("x", "×")}`;
  const words = first ? named.slice(0, Math.floor((first.wide - 14) / LETTER_PX)) : "";
  return svg`<g class=${`buffer is-tensor${shade}`} @pointerenter=${() => point(buffer)}
      @pointerleave=${() => point(null)} @click=${() => choose(buffer)}>
    <title>${tensorLabel(buffer)}</title>
    ${parts.map(
      ({ x, y, wide, high }) =>
        svg`<rect x=${x} y=${y} width=${Math.max(3, wide)} height=${Math.max(2, high)} rx="3"></rect>`,
    )}
    ${
      first && first.high >= LINE_PX && first.wide > 70
        ? svg`<text x=${first.x + 7} y=${first.y + 16}>${words}</text>`
        : nothing
    }
  </g>`;
}

/** @param {TensorMemoryMap} memory */
function highestColumn(memory) {
  return Math.max(
    memory.allocated_columns,
    ...memory.buffers.map(({ column, columns }) => column + (columns ?? 1)),
  );
}

/** Equal steps up to a number. @param {number} most @param {number} count */
function steps(most, count) {
  return Array.from({ length: count + 1 }, (_, index) => (index * most) / count);
}
