/**
 * The items of the map: buffers and barriers, their names in the address, and their source lines.
 *
 * @import { Barrier, Buffer, FunctionMap } from "../../core/types.js"
 */
import { distinctLines } from "../../core/source_lines.js";

/** @typedef {{buffer: Buffer, barrier: null} | {buffer: null, barrier: Barrier}} Item */

/** The items of a function, in the order of operations. @param {FunctionMap} map @returns {Item[]} */
export function itemsOf(map) {
  const buffers = map.buffers.map((buffer) => ({ item: { buffer, barrier: null }, at: buffer.start }));
  const barriers = map.barriers.map((barrier) => ({
    item: { buffer: null, barrier },
    at: barrier.following.position - 0.5,
  }));
  return [...buffers, ...barriers].sort((one, other) => one.at - other.at).map(({ item }) => item);
}

/** Whether two items are the same buffer or barrier. @param {Item | null} one @param {Item | null} other */
export function isSame(one, other) {
  return one?.buffer === other?.buffer && one?.barrier === other?.barrier;
}

/** The name of an item in the address: "b3" or "x2". @param {Item} item @param {FunctionMap} map */
export function nameOf(item, map) {
  return item.buffer ? `b${item.buffer.index}` : `x${map.barriers.indexOf(item.barrier)}`;
}

/** The source lines of the operations that begin and end an item, in order. @param {Item} item */
export function linesOf({ buffer, barrier }) {
  if (buffer) return distinctLines([buffer.first.source_line, buffer.last.source_line]);
  if (barrier.hazards.length === 0) return distinctLines([barrier.following.source_line]);
  return distinctLines(
    barrier.hazards.flatMap(({ before, after }) => [before.source_line, after.source_line]),
  );
}

/** Every source line that uses an item. @param {Item} item */
export function allLinesOf(item) {
  const { buffer } = item;
  return buffer ? [buffer.first, ...buffer.uses].map(({ source_line: line }) => line) : linesOf(item);
}

/** Whether a buffer is alive at the same time as a chosen buffer. @param {Buffer} buffer @param {Item} chosen */
export function isNeighbour(buffer, chosen) {
  return chosen.buffer?.alive_with.includes(buffer.index) ?? false;
}

/** Whether a chosen barrier orders accesses to a buffer. @param {Buffer} buffer @param {Item} chosen */
export function isTouched({ index }, chosen) {
  return (
    chosen.barrier?.hazards.some(
      ({ before_buffer: before, after_buffer: after }) => before === index || after === index,
    ) ?? false
  );
}

/**
 * The index of the item that a key leads to; undefined: the key does not move.
 * @param {string} key @param {number} at the index of the chosen item, -1: none @param {number} count
 */
export function itemOfKey(key, at, count) {
  const last = count - 1;
  const before = at < 0 ? last : at - 1;
  /** @type {Record<string, number>} */
  const steps = {
    ArrowRight: at + 1,
    ArrowDown: at + 1,
    ArrowLeft: before,
    ArrowUp: before,
    Home: 0,
    End: last,
  };
  const step = steps[key];
  return step === undefined || count === 0 ? undefined : (step + count) % count;
}
