import assert from "node:assert/strict";
import { test } from "node:test";
import {
  drawnIterations,
  inOrder,
  stageIn,
  turnsOf,
  workOf,
} from "../../../../explorer/static/panes/schedule/turns.js";

/** @param {number} line @param {string} operation @param {number} stage @param {number} cluster @param {number | null} [waited_in] */
const operation = (line, operation, stage, cluster, waited_in = null) => ({
  ...{ line, operation, stage, cluster, waited_in, text: operation },
});
/**
 * @param {number} last_stage @param {number | null} iterations
 * @param {import("../../../../explorer/static/core/types.js").ScheduledOperation[]} [operations]
 * @returns {import("../../../../explorer/static/core/types.js").ScheduledLoop}
 */
const loop = (last_stage, iterations, operations = []) => ({
  ...{ line: 1, text: "scf.for", depth: 0, partition: "", last_stage, operations, unscheduled: 0 },
  ...{
    total_operations: operations.length,
    num_stages: null,
    iterations,
    reason: "",
    loads: 0,
    chained_loads: 0,
    waiting_loads: 0,
    waiting_bytes: 0,
    loaded_bytes: 0,
    is_innermost: true,
    has_matrix_product: true,
  },
});

test("each iteration executes each stage once, one turn after the other", () => {
  for (const last of [1, 2, 5]) {
    const one = loop(last, null);
    for (let iteration = 0; iteration < drawnIterations(one); iteration++) {
      const stages = turnsOf(one).map(({ number }) => stageIn(one, iteration, number));
      const own = stages.filter((stage) => stage !== null);
      assert.deepEqual(
        own,
        Array.from({ length: last + 1 }, (_, stage) => stage),
      );
      assert.equal(stages.indexOf(0), iteration);
    }
  }
});

test("a turn of the loop executes all stages, and the prologue has as many turns as the last stage", () => {
  const one = loop(3, 9);
  const turns = turnsOf(one);
  assert.equal(drawnIterations(one), 9);
  assert.equal(turns.filter(({ part }) => part === "prologue").length, 3);
  assert.equal(turns.filter(({ part }) => part === "epilogue").length, 3);
  for (const { number, part } of turns) {
    const stages = Array.from({ length: 9 }, (_, iteration) => stageIn(one, iteration, number));
    assert.equal(stages.filter((stage) => stage !== null).length === 4, part === "full");
  }
});

test("a loop with many iterations, or with an unknown number, is drawn for an example", () => {
  assert.equal(drawnIterations(loop(2, 1000)), 5);
  assert.equal(drawnIterations(loop(2, null)), 5);
  assert.equal(drawnIterations(loop(2, 4)), 4);
});

test("the operations of a turn are in the order of their clusters", () => {
  const one = loop(2, null, [
    operation(5, "tt.load", 0, 3),
    operation(6, "tt.dot", 2, 0),
    operation(7, "tt.addptr", 1, 3),
  ]);
  assert.deepEqual(
    inOrder(one).map(({ line }) => line),
    [6, 5, 7],
  );
});

test("a stage is named after what it moves and multiplies, or else after all that it does", () => {
  const one = loop(3, null, [
    operation(5, "tt.load", 0, 3),
    operation(6, "tt.load", 0, 3),
    operation(7, "arith.addi", 0, 3),
    operation(8, "tt.addptr", 1, 2),
    operation(6, "ttg.local_alloc", 2, 0),
    operation(9, "ttng.tc_gen5_mma", 2, 0, 3),
  ]);
  assert.deepEqual(workOf(one, 0), ["load ×2"]);
  assert.deepEqual(workOf(one, 1), ["addptr"]);
  assert.deepEqual(workOf(one, 2), ["tc_gen5_mma", "local_alloc"]);
  assert.deepEqual(workOf(one, 3), ["wait for tc_gen5_mma"]);
});
