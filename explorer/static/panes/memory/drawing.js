/**
 * The map of shared memory as a drawing: operations from left to right, addresses from bottom to top.
 *
 * @import { AllocationDocument, Barrier, Buffer, FunctionMap } from "../../core/types.js"
 * @import { Item } from "./items.js"
 */
import { lineText } from "../../core/line_words.js";
import { guard } from "lit/directives/guard.js";
import { placeLevels } from "../../charts/level_labels.js";
import { plural, size, stripeOfLine } from "../../core/format.js";
import { sequencesOf } from "../../core/source_lines.js";
import { html, nothing, styles, svg } from "../../core/template.js";
import { barrierLabel, barrierTitle, bufferLabel, bufferTitle } from "./words.js";

const LEFT = 56;
const RIGHT = 14;
const TOP = 30;
const BOTTOM = 34;
const LETTER_PX = 6.2;

/**
 * @typedef {object} Scale
 * @property {number} first the first operation that is drawn
 * @property {number} last the last one
 * @property {number} top the highest address, in bytes
 * @property {(operation: number) => number} x
 * @property {(bytes: number) => number} y
 */

/**
 * Draw the map of a function.
 * @param {AllocationDocument} memory
 * @param {FunctionMap} map
 * @param {Item[]} items the buffers and barriers of the function
 * @param {{width: number, height: number}} area in pixels
 * @param {object} follow the callbacks of the pane
 * @param {(item: Item) => string} follow.marks returns the classes of an item: its relation to the selected item
 * @param {(item: Item | null) => void} follow.point called with the item under the mouse
 * @param {(item: Item) => void} follow.choose
 */
export function memoryMap(memory, map, items, { width, height }, { marks, point, choose }) {
  const scale = scaleOf(memory, map, width, height);
  const { x, y } = scale;
  let explicit = 0;
  const levels = levelsOf(memory, map, scale.top);
  const places = placeLevels(
    levels.map(({ kind, bytes, words }) => ({
      y: y(bytes),
      words,
      side: kind === "limit" ? "left" : "right",
    })),
    { left: LEFT, right: width - RIGHT, bottom: height - BOTTOM },
    items.flatMap(({ buffer }) => (buffer ? textsOf(buffer, x, y).map(boxOf) : [])),
  );
  const drawn = items.map((item) => {
    // Buffers that lie next to each other alternate between two shades.
    const isOther = item.buffer?.use === "explicit" && explicit++ % 2 === 1;
    const kind = item.buffer
      ? `buffer is-${item.buffer.holds_mbarriers ? "mbarrier" : item.buffer.use}${isOther ? " is-other" : ""}`
      : `barrier is-${item.barrier.source}`;
    const group = svg`<g class=${`${kind} ${marks(item)}`} @pointerenter=${() => point(item)}
        @pointerleave=${() => point(null)} @click=${() => choose(item)}>
      ${item.buffer ? bufferShape(item.buffer, x, y) : barrierShape(item.barrier, x(item.barrier.following.position), height)}
    </g>`;
    return { isBuffer: item.buffer !== null, group };
  });
  // Barriers are drawn above buffers, whatever their order for the keyboard; the words of a level above all.
  return html`<svg class="memory-map" viewBox=${`0 0 ${width} ${height}`} width=${width} height=${height}
      aria-hidden="true">
    ${guard([map, width, height], () => frame(memory, map, scale, width, height))}
    ${drawn.filter(({ isBuffer }) => isBuffer).map(({ group }) => group)}
    ${drawn.filter(({ isBuffer }) => !isBuffer).map(({ group }) => group)}
    ${levels.map(({ kind, words }, index) => {
      const place = places[index];
      return place
        ? svg`<text class=${kind} x=${place.x} y=${place.y} text-anchor=${place.anchor}>${words}</text>`
        : nothing;
    })}
  </svg>`;
}

/** @param {AllocationDocument} memory @param {FunctionMap} map @param {number} width @param {number} height */
function scaleOf(memory, map, width, height) {
  const start = Math.min(...map.buffers.map(({ start }) => start));
  const end = Math.max(...map.buffers.map(({ end }) => end));
  const margin = Math.max(2, Math.round((end - start) * 0.06));
  const first = Math.max(0, start - margin);
  const last = Math.max(first + 1, Math.min(map.operations, end + margin));
  const next =
    memory.steps.find(({ most_shared_bytes }) => most_shared_bytes >= map.shared_bytes)?.most_shared_bytes ??
    0;
  const top = Math.max(map.shared_bytes, next <= map.shared_bytes * 1.6 ? next : 0, 1) * 1.06;
  /** @type {Scale} */
  const scale = {
    first,
    last,
    top,
    x: (operation) => LEFT + ((operation - first) / (last - first)) * (width - LEFT - RIGHT),
    y: (bytes) => height - BOTTOM - (bytes / top) * (height - TOP - BOTTOM),
  };
  return scale;
}

/**
 * The sizes above which fewer blocks fit, and the limit.
 * @param {AllocationDocument} memory @param {FunctionMap} map @param {number} top in bytes
 * @returns {{kind: "step" | "limit", bytes: number, words: string}[]}
 */
export function levelsOf(memory, map, top) {
  const { steps, shared_limit_bytes: limit } = memory;
  const levels = steps.flatMap(({ most_shared_bytes: bytes }, index) => {
    if (bytes > top || bytes === limit) return [];
    const { blocks, share } = steps[index + 1] ?? { blocks: 0, share: 0 };
    const words = `above: ${plural(blocks, "block")}, ${Math.round(share * 100)} % occupancy`;
    return [{ kind: /** @type {const} */ ("step"), bytes, words }];
  });
  if (map.shared_bytes <= limit && limit > top) return levels;
  return [...levels, { kind: "limit", bytes: limit, words: `limit ${size(limit)}` }];
}

/** About five round numbers of bytes from 0. @param {number} most */
function byteTicks(most) {
  let step = 1;
  while (most / step > 6) step *= 2;
  return Array.from({ length: Math.floor(most / step) + 1 }, (_, index) => index * step);
}

/**
 * Everything that stays the same while the mouse moves: the scales, and below the map the colors of the source
 * lines and the marks of waits, signals and fences.
 * @param {AllocationDocument} memory @param {FunctionMap} map @param {Scale} scale
 * @param {number} width @param {number} height
 */
function frame(memory, map, { first, last, top, x, y }, width, height) {
  const bottom = height - BOTTOM;
  const ticks = byteTicks(top).map(
    (bytes) => svg`<line class="grid" x1=${LEFT} x2=${width - RIGHT} y1=${y(bytes)} y2=${y(bytes)}></line>
      <text class="tick" x=${LEFT - 7} y=${y(bytes) + 4} text-anchor="end">${size(bytes)}</text>`,
  );
  const levels = levelsOf(memory, map, top).map(
    ({ kind, bytes }) =>
      svg`<line class=${kind} x1=${LEFT} x2=${width - RIGHT} y1=${y(bytes)} y2=${y(bytes)}></line>`,
  );
  const strips = sequencesOf(map.source_lines, first, last).map(
    ({ from, to, line }) =>
      svg`<rect class="strip" x=${x(from)} y=${bottom + 3} width=${Math.max(0.5, x(to) - x(from))} height="5"
        ${styles({ "--stripe": stripeOfLine(line) })}><title>${lineText(line)}</title></rect>`,
  );
  const marks = map.marks
    .filter(({ place }) => place.position >= first && place.position <= last)
    .map(({ kind, place }) => {
      const at = x(place.position);
      return svg`<path class=${`mark is-${kind}`}
          d=${`M${at - 3} ${bottom + 15}L${at + 3} ${bottom + 15}L${at} ${bottom + 10}Z`}>
        <title>${place.operation}${place.source_line ? `, ${lineText(place.source_line)}` : ""}</title>
      </path>`;
    });
  return svg`${ticks} ${levels} ${strips} ${marks}
    <text class="tick" x=${LEFT} y=${height - 5}>${`operation ${first}`}</text>
    <text class="tick" x=${width - RIGHT} y=${height - 5} text-anchor="end">${last}</text>`;
}

/**
 * @param {Buffer} buffer
 * @param {(operation: number) => number} x
 * @param {(bytes: number) => number} y
 */
function bufferShape(buffer, x, y) {
  const { left, top, width, height } = frameOf(buffer, x, y);
  return svg`<title>${bufferLabel(buffer)}</title>
    <rect x=${left} y=${top} width=${width} height=${height} rx=${Math.min(3, height / 2)}></rect>
    ${textsOf(buffer, x, y).map(
      (text) => svg`<text class=${text.kind || nothing} x=${text.x} y=${text.y}>${text.words}</text>`,
    )}`;
}

/** @param {Buffer} buffer @param {(operation: number) => number} x @param {(bytes: number) => number} y */
function frameOf(buffer, x, y) {
  const left = x(buffer.start);
  const top = y(buffer.offset_bytes + buffer.size_bytes);
  const width = Math.max(3, x(buffer.end) - left);
  return { left, top, width, height: Math.max(2, y(buffer.offset_bytes) - top) };
}

/**
 * The words in a buffer, as far as it has room for them, with the place of their baseline.
 * @param {Buffer} buffer @param {(operation: number) => number} x @param {(bytes: number) => number} y
 */
function textsOf(buffer, x, y) {
  const { left, top, width, height } = frameOf(buffer, x, y);
  const letters = Math.floor((width - 14) / LETTER_PX);
  const title = bufferTitle(buffer);
  const shown = title.length <= letters ? title : letters >= buffer.name.length ? buffer.name : "";
  const detail = `${size(buffer.size_bytes)} · ops ${buffer.start}–${buffer.end - 1}`;
  const texts = [];
  if (shown && height >= 17)
    texts.push({ kind: "", words: shown, x: left + 7, y: top + Math.min(17, height / 2 + 4) });
  if (detail.length <= letters && height >= 36)
    texts.push({ kind: "detail", words: detail, x: left + 7, y: top + 33 });
  return texts;
}

/** Return the rectangle of a text. @param {{words: string, x: number, y: number}} text */
function boxOf({ words, x, y }) {
  const width = words.length * LETTER_PX;
  return { x: x + width / 2, y: y - 4, width, height: 12, angle: 0 };
}

/** @param {Barrier} barrier @param {number} at @param {number} height */
function barrierShape(barrier, at, height) {
  const bottom = height - BOTTOM;
  return svg`<title>${barrierLabel(barrier)}</title>
    <line class="reach" x1=${at} x2=${at} y1=${TOP - 10} y2=${bottom}></line>
    <line class="line" x1=${at} x2=${at} y1=${TOP - 10} y2=${bottom}></line>
    <circle cx=${at} cy=${TOP - 12} r="3"></circle>
    <text x=${at} y="10" text-anchor="middle">${barrierTitle(barrier)}</text>`;
}
