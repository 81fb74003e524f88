/** Test the values of a matrix: how they are written, and which are the best and the worst. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  isIncomplete,
  numberOf,
  placesOf,
  progressWords,
  show,
  standings,
  stateOf,
  TIME,
} from "../../../explorer/static/matrix/cells.js";

/** @typedef {import("../../../explorer/static/core/types.js").MatrixColumn} MatrixColumn */
/** @type {MatrixColumn} */
const REGISTERS = { name: "registers", title: "Registers", unit: "", better: "lower", is_goal: false };
/** @type {MatrixColumn} */
const SPILLS = { name: "spills", title: "Spills", unit: "", better: "lower", is_goal: true };
/** @type {MatrixColumn} */
const OCCUPANCY = { name: "occupancy", title: "Occupancy", unit: "", better: "higher", is_goal: true };

/** @param {string} target @param {Record<string, number> | null} metrics @returns {any} */
const cell = (target, metrics, changes = {}) => ({
  target,
  metrics,
  state: "complete",
  is_final: true,
  time: null,
  stage: "",
  message: "",
  ...changes,
});

test("the best and the worst cell are found for each target", () => {
  const cells = [
    cell("a", { spills: 10 }),
    cell("a", { spills: 40 }),
    cell("a", { spills: 20 }),
    cell("b", { spills: 99 }),
    cell("b", null),
  ];
  const found = standings(cells, SPILLS);
  assert.deepEqual(found.get(cells[0]), { share: 0, isBest: true, isWorst: false });
  assert.deepEqual(found.get(cells[1]), { share: 1, isBest: false, isWorst: true });
  assert.equal(found.get(cells[2])?.share, 1 / 3);
  assert.equal(found.get(cells[3]), undefined); // nothing to compare with
});

test("targets with one cell each are compared with each other, and more occupancy is better", () => {
  const cells = [cell("a", { occupancy: 0.25 }), cell("b", { occupancy: 0.5 })];
  assert.equal(standings(cells, OCCUPANCY).get(cells[1])?.isBest, true);
  const same = [cell("a", { occupancy: 0.5 }), cell("b", { occupancy: 0.5 })];
  assert.equal(standings(same, OCCUPANCY).size, 0);
});

test("no value is the best of a metric that is no goal, and shares go from the least to the most", () => {
  const cells = [cell("a", { registers: 40 }), cell("a", { registers: 20 })];
  const found = standings(cells, REGISTERS);
  assert.deepEqual(found.get(cells[0]), { share: 1, isBest: false, isWorst: false });
  assert.deepEqual(found.get(cells[1]), { share: 0, isBest: false, isWorst: false });
});

test("times of different sizes or GPUs are not compared", () => {
  const timed = (/** @type {number} */ nanoseconds, sizes = "n=64", gpu = "H200") =>
    cell("a", {}, { time: { nanoseconds, sizes, gpu } });
  const cells = [timed(5), timed(7), timed(1, "n=8"), timed(2, "n=64", "H100")];
  const found = standings(cells, TIME);
  assert.deepEqual([...found.keys()], cells.slice(0, 2));
  assert.equal(found.get(cells[0])?.isBest, true);
  assert.deepEqual(placesOf([...cells, cell("a", {})]), ["n=64 on H200", "n=8 on H200", "n=64 on H100"]);
});

test("values are written with their units", () => {
  assert.equal(show(0.125, OCCUPANCY), "13 %");
  assert.equal(show(1741, REGISTERS), "1,741");
  assert.equal(show(65536, { ...REGISTERS, unit: "bytes" }), "64 KiB");
  assert.equal(show(252030, { ...REGISTERS, name: "time", unit: "ns" }), "252 µs");
  assert.equal(show(999_700, { ...REGISTERS, name: "time", unit: "ns" }), "1,000 µs");
  assert.equal(show(1_545_030, { ...REGISTERS, name: "time", unit: "ns" }), "1.55 ms");
  assert.equal(numberOf(cell("a", null, { time: { nanoseconds: 7 } }), { ...REGISTERS, name: "time" }), 7);
});

test("cells without metrics say why, and cells that are not final can be compiled again", () => {
  const failed = cell("a", null, { state: "failed", message: "out of resources" });
  const canceled = cell("a", null, { state: "missing", is_final: false });
  assert.deepEqual(stateOf(failed), { text: "failed", reason: "out of resources" });
  assert.match(stateOf(canceled).reason, /canceled/);
  /** @type {any} */
  const matrix = { cells: [cell("a", {}), failed, canceled], is_at_work: false };
  assert.equal(progressWords(matrix), "2 of 3 compiled · 1 failed · 1 not compiled");
  assert.equal(isIncomplete(matrix), true);
  assert.equal(isIncomplete({ ...matrix, cells: [cell("a", {}), failed] }), false);
});
