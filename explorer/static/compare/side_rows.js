/**
 * Rows with the numbers of two results, matched by name: runs, buffers in shared memory, instructions.
 *
 * @import { RunTiming } from "./run_timings.js"
 * @import { AllocationDocument, InstructionMix, MixRow, Timing } from "../core/types.js"
 *
 * @typedef {{title: string, before: number | null, after: number | null, isPart?: boolean}} NumberRow
 *   null: only the other side has it
 */
import { accessTitle } from "../core/instruction_mix.js";

/**
 * The latest timings of both sides that were taken in the same way.
 * @param {RunTiming[]} before @param {RunTiming[]} after
 */
export function timingRows(before, after) {
  const titles = [...new Set([...before, ...after].map(({ title }) => title))];
  const latest = (/** @type {RunTiming[]} */ all, /** @type {string} */ title) =>
    all.find((each) => each.title === title)?.timing ?? null;
  return titles.map((title) => ({ title, before: latest(before, title), after: latest(after, title) }));
}

/**
 * Whether the second is faster; null where there is no clear difference.
 * @param {Timing} before @param {Timing} after
 */
export function isFaster(before, after) {
  if (isShorter(after, before)) return true;
  return isShorter(before, after) ? false : null;
}

/**
 * Whether a time is at least 2 % shorter and the spreads do not overlap, as `Timing.is_faster_than` of the server says.
 * @param {Timing} one @param {Timing} other
 */
function isShorter(one, other) {
  return one.median_ns <= 0.98 * other.median_ns && one.high_ns < other.low_ns;
}

/**
 * The shared memory of both, and its buffers by name.
 * @param {AllocationDocument | null} before @param {AllocationDocument | null} after
 * @returns {NumberRow[]}
 */
export function bufferRows(before, after) {
  if (!before?.shared_bytes && !after?.shared_bytes) return [];
  const buffers = [before, after].map((side) => sums(bufferSizes(side)));
  const [one, other] = /** @type {[Map<string, number>, Map<string, number>]} */ (buffers);
  return [
    { title: "Allocated", before: before?.shared_bytes ?? null, after: after?.shared_bytes ?? null },
    ...paired(one, other).map((row) => ({ ...row, isPart: true })),
  ];
}

/** @param {AllocationDocument | null} side @returns {[string, number][]} */
function bufferSizes(side) {
  return (side?.functions ?? []).flatMap(({ buffers }) =>
    buffers.map(
      ({ name, operation, size_bytes: bytes }) =>
        /** @type {[string, number]} */ ([name || operation, bytes]),
    ),
  );
}

/**
 * The instructions of both by purpose; memory accesses also by space, direction and width.
 * @param {InstructionMix | null} before @param {InstructionMix | null} after
 * @returns {NumberRow[]}
 */
export function mixRows(before, after) {
  if (!before && !after) return [];
  const kinds = [...new Set([...(before?.rows ?? []), ...(after?.rows ?? [])].map(({ kind }) => kind))];
  const sides = [before, after].map((mix) => mix?.rows ?? []);
  const [one, other] = /** @type {[MixRow[], MixRow[]]} */ (sides);
  const of = (/** @type {MixRow[]} */ rows, /** @type {string} */ kind) =>
    rows.filter((row) => row.kind === kind).reduce((sum, { total }) => sum + total, 0);
  const parts = (/** @type {MixRow[]} */ rows, /** @type {string} */ kind) =>
    sums(rows.filter((row) => row.kind === kind && row.space).map((row) => [accessTitle(row), row.total]));
  return [
    { title: "All instructions", before: before?.total ?? null, after: after?.total ?? null },
    ...kinds.flatMap((kind) => [
      { title: kind, before: of(one, kind), after: of(other, kind) },
      ...paired(parts(one, kind), parts(other, kind)).map((row) => ({ ...row, isPart: true })),
    ]),
  ];
}

/** Add up entries of the same name. @param {[string, number][]} entries */
function sums(entries) {
  /** @type {Map<string, number>} */
  const found = new Map();
  for (const [name, value] of entries) found.set(name, (found.get(name) ?? 0) + value);
  return found;
}

/** @param {Map<string, number>} before @param {Map<string, number>} after @returns {NumberRow[]} */
function paired(before, after) {
  return [...new Set([...before.keys(), ...after.keys()])].map((title) => ({
    title,
    before: before.get(title) ?? null,
    after: after.get(title) ?? null,
  }));
}
