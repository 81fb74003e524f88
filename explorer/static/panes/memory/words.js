/**
 * Buffers, barriers and functions of the map in words.
 *
 * @import { AllocationDocument, Barrier, Buffer, FunctionMap, Hazard, Place } from "../../core/types.js"
 * @import { TensorBuffer, TensorMemoryMap } from "../../core/types.js"
 * @import { Item } from "./items.js"
 */
import { lineText } from "../../core/line_words.js";
import { plural, size } from "../../core/format.js";

/**
 * The number of bytes, and KiB if that is a round number.
 * @param {number} bytes
 */
export function exact(bytes) {
  const plain = `${bytes.toLocaleString("en")} B`;
  return bytes >= 1024 && bytes % 512 === 0 ? `${size(bytes)} (${plain})` : plain;
}

/** @param {Buffer} buffer */
export function kindOf(buffer) {
  if (buffer.holds_mbarriers) return "mbarriers";
  return { explicit: "explicit", scratch: "scratch", virtual: "of a called function" }[buffer.use];
}

/** The shape of a buffer without its layout: "3×128×64×f16". @param {Buffer} buffer */
function shapeOf(buffer) {
  return (buffer.type.split(",")[0] ?? "").replaceAll("x", "×").replace(/×([a-z]\w*)$/, " $1");
}

/** @param {Place} place */
export function placeWords(place) {
  const line = place.source_line ? `, ${lineText(place.source_line)}` : "";
  return `${place.operation}${place.value ? ` ${place.value}` : ""}${line}`;
}

/** Name and shape of a buffer. @param {Buffer} buffer */
export function bufferTitle(buffer) {
  return buffer.use === "explicit" ? [buffer.name, shapeOf(buffer)].filter(Boolean).join(" · ") : buffer.name;
}

/** @param {Buffer} buffer */
export function bufferLabel(buffer) {
  const end = buffer.offset_bytes + buffer.size_bytes;
  return `${bufferTitle(buffer)}: ${exact(buffer.size_bytes)}, bytes ${buffer.offset_bytes} to ${end}, operations ${buffer.start} to ${buffer.end - 1}`;
}

/** @param {Hazard} hazard @param {FunctionMap} map */
export function hazardWords(hazard, map) {
  const [earlier, later] = {
    "read after write": ["writes", "reads"],
    "write after read": ["reads", "writes"],
    "write after write": ["writes", "writes"],
  }[hazard.kind] ?? ["uses", "uses"];
  const name = (/** @type {number} */ index) =>
    map.buffers.find((buffer) => buffer.index === index)?.name ?? "";
  const one = name(hazard.before_buffer);
  const other = name(hazard.after_buffer);
  const where = hazard.before_buffer === hazard.after_buffer ? ` of ${one}` : `: of ${one}, then of ${other}`;
  const iteration =
    hazard.iterations > 1
      ? ` ${hazard.iterations} iterations earlier`
      : hazard.iterations
        ? " in the previous iteration"
        : "";
  const apart = !hazard.overlaps
    ? " They use different slots, which the compiler's analysis does not tell apart: no bytes are common."
    : !hazard.races
      ? " This pair is ordered by the compiler's rules: no access that conflicts without the barrier was found."
      : "";
  return `${placeWords(hazard.before)} ${earlier}${iteration}, then ${placeWords(hazard.after)} ${later} bytes ${hazard.first_byte.toLocaleString("en")} to ${hazard.end_byte.toLocaleString("en")}${where}.${apart}`;
}

/** @param {Barrier} barrier */
export function barrierTitle(barrier) {
  const kinds = [...new Set(barrier.hazards.map(({ kind }) => kind))];
  return `Barrier${barrier.source === "modelled" ? " (modelled)" : ""}: ${kinds.join(", ") || "order"}`;
}

/** @param {Barrier} barrier */
export function barrierLabel(barrier) {
  return `${barrierTitle(barrier)}, before operation ${barrier.following.position}, ${placeWords(barrier.following)}`;
}

/**
 * An item with the two operations that begin and end it.
 * @param {Item} item
 */
export function itemWords({ buffer, barrier }) {
  if (buffer)
    return `${bufferTitle(buffer)}, ${size(buffer.size_bytes)}: from ${placeWords(buffer.first)} to ${placeWords(buffer.last)}.`;
  const hazard = barrier.hazards[0];
  return hazard
    ? `${barrierTitle(barrier)}, between ${placeWords(hazard.before)} and ${placeWords(hazard.after)}.`
    : `${barrierLabel(barrier)}.`;
}

/** Where a barrier comes from. @param {Barrier} barrier */
export function barrierSource(barrier) {
  return {
    program: "The program contains it.",
    compiler: "The compiler's membar pass inserted it.",
    modelled:
      "Modelled: this Triton version inserts barriers while it lowers to LLVM IR, and does not report them. The page finds them by the same rules, which do not distinguish the slots of a pipelined buffer.",
    lowering: "The lowering to LLVM IR makes it of the wait for products before it.",
  }[barrier.source];
}

/** @param {AllocationDocument} memory @param {FunctionMap} map */
export function summary(memory, map) {
  if (map.buffers.length === 0)
    return map.problem ? "The buffers are unknown." : "This kernel uses no shared memory.";
  const saved = map.sum_bytes - map.shared_bytes;
  const parts = [`${exact(map.shared_bytes)} for ${plural(map.buffers.length, "buffer")}`];
  if (saved > 0) parts.push(`${size(map.sum_bytes)} without sharing`);
  const step = memory.steps.find(({ most_shared_bytes }) => memory.shared_bytes <= most_shared_bytes);
  if (step) parts.push(`${plural(step.blocks, "block")} per multiprocessor`);
  parts.push(`limit ${size(memory.shared_limit_bytes)}`);
  return parts.join(" · ");
}

/** @param {TensorMemoryMap} memory */
export function tensorSummary({ allocated_columns: columns, limit_columns: limit, limit_rows: rows }) {
  const bytes = size(columns * rows * 4);
  return `Tensor memory: ${columns} of ${limit} columns (${bytes}). Each buffer is drawn from the first to the last operation that names it.`;
}

/** The columns of a buffer of tensor memory: "0–127". @param {TensorBuffer} buffer */
export function columnWords({ column, columns }) {
  return columns === null ? `from ${column}` : `${column}–${column + columns - 1}`;
}

/** The rows of a buffer of tensor memory: "0–15, 32–47, 64–79, 96–111". @param {TensorBuffer} buffer */
export function rowWords({ row, row_ranges: ranges }) {
  return ranges.length ? ranges.map(([first, last]) => `${first}–${last}`).join(", ") : `from ${row}`;
}

/** @param {TensorBuffer} buffer */
export function tensorLabel(buffer) {
  return `${buffer.name}: ${buffer.type}, columns ${columnWords(buffer)}, rows ${rowWords(buffer)}`;
}

/** The number of the barriers of the map, which are neither hardware barriers nor barrier instructions. @param {unknown[]} barriers */
export const barrierCount = (barriers) => `${plural(barriers.length, "barrier")} for shared memory`;
