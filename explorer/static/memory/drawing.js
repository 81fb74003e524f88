/**
 * The map as a picture: operations across, addresses up.
 *
 * @import { AllocationDocument, Barrier, Buffer, FunctionMap } from "./documents.js"
 */
import { plural, size, stripeOfLine } from "../format.js";
import { makeSvg } from "../svg.js";
import { barrierLabel, barrierTitle, bufferLabel, bufferTitle } from "./words.js";

const LEFT = 56;
const RIGHT = 14;
const TOP = 30;
const BOTTOM = 34;
const LETTER_PX = 6.2;

/**
 * @typedef {{buffer: Buffer, barrier: null} | {buffer: null, barrier: Barrier}} Item
 * @typedef {{item: Item, element: SVGElement}} Drawn
 */

/** What can be chosen in a map, in the order of operations. @param {FunctionMap} map @returns {Item[]} */
export function itemsOf(map) {
  const buffers = map.buffers.map((buffer) => ({ buffer, barrier: null, at: buffer.start }));
  const barriers = map.barriers.map((barrier) => ({ buffer: null, barrier, at: barrier.following.position - 0.5 }));
  return [...buffers, ...barriers].sort((one, other) => one.at - other.at).map(({ at: _, ...item }) => /** @type {Item} */ (item));
}

/** Steps of a scale from 0: about five round numbers of bytes. @param {number} most */
function byteTicks(most) {
  let step = 1;
  while (most / step > 6) step *= 2;
  return Array.from({ length: Math.floor(most / step) + 1 }, (_, index) => index * step);
}

/**
 * @param {AllocationDocument} memory
 * @param {FunctionMap} map
 * @param {number} width
 * @param {number} height
 * @returns {{element: SVGSVGElement, drawn: Drawn[]}}
 */
export function drawMap(memory, map, width, height) {
  const starts = map.buffers.map(({ start }) => start);
  const ends = map.buffers.map(({ end }) => end);
  const margin = Math.max(2, Math.round((Math.max(...ends) - Math.min(...starts)) * 0.06));
  const firstPosition = Math.max(0, Math.min(...starts) - margin);
  const lastPosition = Math.max(firstPosition + 1, Math.min(map.operations, Math.max(...ends) + margin));
  const isTooMuch = map.shared_bytes > memory.shared_limit_bytes;
  const next = memory.steps.find(({ most_shared_bytes }) => most_shared_bytes >= map.shared_bytes)?.most_shared_bytes ?? 0;
  const top = Math.max(map.shared_bytes, next <= map.shared_bytes * 1.6 ? next : 0, 1) * 1.06;
  const x = (/** @type {number} */ position) => LEFT + ((position - firstPosition) / (lastPosition - firstPosition)) * (width - LEFT - RIGHT);
  const y = (/** @type {number} */ bytes) => height - BOTTOM - (bytes / top) * (height - TOP - BOTTOM);
  const element = makeSvg("svg", { class: "memory-map", viewBox: `0 0 ${width} ${height}`, width, height, "aria-hidden": "true" });
  for (const bytes of byteTicks(top)) {
    element.append(
      makeSvg("line", { class: "grid", x1: LEFT, x2: width - RIGHT, y1: y(bytes), y2: y(bytes) }),
      makeSvg("text", { class: "tick", x: LEFT - 7, y: y(bytes) + 4, "text-anchor": "end" }, size(bytes)),
    );
  }
  // What is written of a level stands in front of everything.
  const words = [];
  for (const [index, step] of memory.steps.entries()) {
    if (step.most_shared_bytes > top || step.most_shared_bytes === memory.shared_limit_bytes) continue;
    const fewer = memory.steps[index + 1];
    element.append(makeSvg("line", { class: "step", x1: LEFT, x2: width - RIGHT, y1: y(step.most_shared_bytes), y2: y(step.most_shared_bytes) }));
    words.push(
      makeSvg("text", { class: "step", x: width - RIGHT, y: y(step.most_shared_bytes) - 4, "text-anchor": "end" },
        `above: ${plural(fewer?.blocks ?? 0, "block")}, ${Math.round((fewer?.share ?? 0) * 100)} % occupancy`),
    );
  }
  if (isTooMuch || memory.shared_limit_bytes <= top) {
    element.append(makeSvg("line", { class: "limit", x1: LEFT, x2: width - RIGHT, y1: y(memory.shared_limit_bytes), y2: y(memory.shared_limit_bytes) }));
    words.push(makeSvg("text", { class: "limit", x: LEFT + 4, y: y(memory.shared_limit_bytes) - 4 }, `limit ${size(memory.shared_limit_bytes)}`));
  }
  drawAxis(element, map, firstPosition, lastPosition, x, width, height);
  /** @type {Drawn[]} */
  const drawn = [];
  let explicit = 0;
  for (const item of itemsOf(map)) {
    // Neighbours are told apart by turns.
    const turn = item.buffer?.use === "explicit" ? explicit++ % 2 : 0;
    const group = item.buffer ? drawBuffer(item.buffer, turn, x, y) : drawBarrier(item.barrier, x(item.barrier.following.position), height);
    drawn.push({ item, element: group });
  }
  // Barriers stand in front of buffers, whatever their order for the keyboard.
  element.append(...drawn.filter(({ item }) => item.buffer).map((each) => each.element), ...drawn.filter(({ item }) => item.barrier).map((each) => each.element), ...words);
  return { element, drawn };
}

/**
 * Positions below the map, with a strip in the colours of their source lines and marks for waits.
 * @param {SVGSVGElement} element @param {FunctionMap} map @param {number} first @param {number} last
 * @param {(position: number) => number} x @param {number} width @param {number} height
 */
function drawAxis(element, map, first, last, x, width, height) {
  const bottom = height - BOTTOM;
  for (let position = first; position < last; ) {
    const line = map.source_lines[position] ?? 0;
    let end = position + 1;
    while (end < last && (map.source_lines[end] ?? 0) === line) end += 1;
    if (line) {
      const piece = makeSvg("rect", { class: "strip", x: x(position), y: bottom + 3, width: Math.max(0.5, x(end) - x(position)), height: 5 }, makeSvg("title", {}, `line ${line}`));
      piece.style.setProperty("--stripe", stripeOfLine(line));
      element.append(piece);
    }
    position = end;
  }
  for (const { kind, place } of map.marks) {
    if (place.position < first || place.position > last) continue;
    const at = x(place.position);
    element.append(makeSvg("path", { class: `mark is-${kind}`, d: `M${at - 3} ${bottom + 15}L${at + 3} ${bottom + 15}L${at} ${bottom + 10}Z` },
      makeSvg("title", {}, `${place.operation}${place.source_line ? `, line ${place.source_line}` : ""}`)));
  }
  element.append(
    makeSvg("text", { class: "tick", x: LEFT, y: height - 5 }, `operation ${first}`),
    makeSvg("text", { class: "tick", x: width - RIGHT, y: height - 5, "text-anchor": "end" }, String(last)),
  );
}

/** @param {Buffer} buffer @param {number} turn @param {(position: number) => number} x @param {(bytes: number) => number} y */
function drawBuffer(buffer, turn, x, y) {
  const left = x(buffer.start);
  const width = Math.max(3, x(buffer.end) - left);
  const top = y(buffer.offset_bytes + buffer.size_bytes);
  const height = Math.max(2, y(buffer.offset_bytes) - top);
  const kind = buffer.holds_mbarriers ? "mbarrier" : buffer.use;
  const letters = Math.floor((width - 14) / LETTER_PX);
  const title = bufferTitle(buffer);
  const shown = title.length <= letters ? title : letters >= buffer.name.length ? buffer.name : "";
  const detail = `${size(buffer.size_bytes)} · ops ${buffer.start}–${buffer.end - 1}`;
  const group = makeSvg("g", { class: `buffer is-${kind}${turn ? " is-other" : ""}` },
    makeSvg("title", {}, bufferLabel(buffer)),
    makeSvg("rect", { x: left, y: top, width, height, rx: Math.min(3, height / 2) }));
  if (shown && height >= 17) group.append(makeSvg("text", { x: left + 7, y: top + Math.min(17, height / 2 + 4) }, shown));
  if (detail.length <= letters && height >= 36) group.append(makeSvg("text", { class: "detail", x: left + 7, y: top + 33 }, detail));
  return group;
}

/** @param {Barrier} barrier @param {number} at @param {number} height */
function drawBarrier(barrier, at, height) {
  return makeSvg("g", { class: `barrier is-${barrier.source}` },
    makeSvg("title", {}, barrierLabel(barrier)),
    makeSvg("line", { class: "reach", x1: at, x2: at, y1: TOP - 10, y2: height - BOTTOM }),
    makeSvg("line", { class: "line", x1: at, x2: at, y1: TOP - 10, y2: height - BOTTOM }),
    makeSvg("circle", { cx: at, cy: TOP - 12, r: 3 }),
    makeSvg("text", { x: at, y: 10, "text-anchor": "middle" }, barrierTitle(barrier)));
}
