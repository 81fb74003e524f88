/**
 * What the map says in words: about a buffer, a barrier, a function.
 *
 * @import { AllocationDocument, Barrier, Buffer, FunctionMap, Hazard, Place } from "./documents.js"
 */
import { plural, size } from "../format.js";

/** Bytes as they are, with groups of digits, and in KiB where that is a round number. @param {number} bytes */
export function exact(bytes) {
  const plain = `${bytes.toLocaleString("en")} B`;
  return bytes >= 1024 && bytes % 512 === 0 ? `${size(bytes)} (${plain})` : plain;
}

/** @param {Buffer} buffer */
export function kindOf(buffer) {
  if (buffer.holds_mbarriers) return "mbarriers";
  return { explicit: "explicit", scratch: "scratch", virtual: "of a called function" }[buffer.use];
}

/** A buffer's shape without its layout: "3×128×64×f16". @param {Buffer} buffer */
function shapeOf(buffer) {
  return (buffer.type.split(",")[0] ?? "").replaceAll("x", "×").replace(/×([a-z]\w*)$/, " $1");
}

/** @param {Place} place */
export function placeWords(place) {
  const line = place.source_line ? `, line ${place.source_line}` : "";
  return `${place.operation}${place.value ? ` ${place.value}` : ""}${line}`;
}

/** The buffer in a line. @param {Buffer} buffer */
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
  const [earlier, later] = { "read after write": ["writes", "reads"], "write after read": ["reads", "writes"], "write after write": ["writes", "writes"] }[hazard.kind] ?? ["uses", "uses"];
  const name = (/** @type {number} */ index) => map.buffers.find((buffer) => buffer.index === index)?.name ?? "";
  const one = name(hazard.before_buffer);
  const other = name(hazard.after_buffer);
  const where = hazard.before_buffer === hazard.after_buffer ? ` of ${one}` : `: of ${one}, then of ${other}`;
  const iteration = hazard.around_loop ? " in the iteration before" : "";
  return `${placeWords(hazard.before)} ${earlier}${iteration}, then ${placeWords(hazard.after)} ${later} bytes ${hazard.first_byte.toLocaleString("en")} to ${hazard.end_byte.toLocaleString("en")}${where}.`;
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

/** What is under the mouse, with the two operations that it belongs to. @param {import("./drawing.js").Item} item */
export function itemWords({ buffer, barrier }) {
  if (buffer) return `${bufferTitle(buffer)}, ${size(buffer.size_bytes)}: from ${placeWords(buffer.first)} to ${placeWords(buffer.last)}.`;
  const hazard = barrier.hazards[0];
  return hazard ? `${barrierTitle(barrier)}, between ${placeWords(hazard.before)} and ${placeWords(hazard.after)}.` : `${barrierLabel(barrier)}.`;
}

/** Who says that there is a barrier. @param {Barrier} barrier */
export function barrierSource(barrier) {
  return {
    program: "It stands in the program.",
    compiler: "The compiler's membar pass has put it in.",
    modelled: "Modelled: this Triton inserts its barriers while it lowers to LLVM, and does not say where. They are found here by its rules; slots of a pipelined buffer are not told apart.",
  }[barrier.source];
}

/** @param {AllocationDocument} memory @param {FunctionMap} map */
export function summary(memory, map) {
  if (map.buffers.length === 0) return map.problem ? "No buffer is known." : "This kernel uses no shared memory.";
  const saved = map.sum_bytes - map.shared_bytes;
  const parts = [`${exact(map.shared_bytes)} for ${plural(map.buffers.length, "buffer")}`];
  if (saved > 0) parts.push(`${size(map.sum_bytes)} if none shared its place`);
  const step = memory.steps.find(({ most_shared_bytes }) => memory.shared_bytes <= most_shared_bytes);
  if (step) parts.push(`${plural(step.blocks, "block")} a multiprocessor`);
  parts.push(`limit ${size(memory.shared_limit_bytes)}`);
  return parts.join(" · ");
}
