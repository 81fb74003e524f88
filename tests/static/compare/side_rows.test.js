import assert from "node:assert/strict";
import { test } from "node:test";
import { bufferRows, isFaster, mixRows, timingRows } from "../../../explorer/static/compare/side_rows.js";

/** @import { AllocationDocument, InstructionMix, Timing } from "../../../explorer/static/core/types.js" */

/** @param {number} low @param {number} high */
function timing(low, high) {
  return /** @type {Timing} */ ({ low_ns: low, median_ns: (low + high) / 2, high_ns: high });
}

test("a time is faster or slower from 2 % on, where the spreads do not overlap", () => {
  assert.equal(isFaster(timing(10, 12), timing(7, 9)), true);
  assert.equal(isFaster(timing(7, 9), timing(10, 12)), false);
  assert.equal(isFaster(timing(7, 10), timing(9, 12)), null);
  assert.equal(isFaster(timing(99, 101), timing(96, 98)), true);
  assert.equal(isFaster(timing(99.9, 100.1), timing(98.9, 99.1)), null);
});

test("timings are matched by how they were taken, the latest of each side", () => {
  const [cold, older, warm] = [timing(1, 2), timing(3, 4), timing(5, 6)];
  const before = [
    { title: "cold", timing: cold },
    { title: "cold", timing: older },
  ];
  assert.deepEqual(timingRows(before, [{ title: "warm", timing: warm }]), [
    { title: "cold", before: cold, after: null },
    { title: "warm", before: null, after: warm },
  ]);
});

test("buffers are matched by name, and buffers of the same name are added up", () => {
  const memory = (/** @type {number} */ total, /** @type {[string, number][]} */ buffers) =>
    /** @type {AllocationDocument} */ (
      /** @type {unknown} */ ({
        shared_bytes: total,
        functions: [{ buffers: buffers.map(([name, size_bytes]) => ({ name, operation: "x", size_bytes })) }],
      })
    );
  const one = memory(64, [
    ["a", 32],
    ["a", 16],
    ["b", 16],
  ]);
  assert.deepEqual(bufferRows(one, memory(8, [["", 8]])), [
    { title: "Allocated", before: 64, after: 8 },
    { title: "a", before: 48, after: null, isPart: true },
    { title: "b", before: 16, after: null, isPart: true },
    { title: "x", before: null, after: 8, isPart: true },
  ]);
  assert.deepEqual(bufferRows(memory(0, []), null), []);
});

test("instructions are counted by kind, memory accesses also by width", () => {
  const row = (/** @type {string} */ kind, /** @type {string} */ space, /** @type {number} */ total) => ({
    kind,
    space,
    direction: space && "load",
    bits: space ? 128 : 0,
    total,
    in_loops: [],
  });
  const mix = /** @type {InstructionMix} */ (
    /** @type {unknown} */ ({ total: 5, rows: [row("synchronization", "", 2), row("memory", "local", 3)] })
  );
  assert.deepEqual(mixRows(mix, null), [
    { title: "All instructions", before: 5, after: null },
    { title: "synchronization", before: 2, after: 0 },
    { title: "memory", before: 3, after: 0 },
    { title: "load local, 128 bits", before: 3, after: null, isPart: true },
  ]);
});
