/** Test the marked lines and the words of a lineage. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  currentStep,
  linesByStage,
  neighborStep,
  operationNames,
  shownSteps,
  touchedPasses,
} from "../../../explorer/static/lineage/lines.js";

/** @import { Lineage, LineageStep, PassRow } from "../../../explorer/static/core/types.js" */

/**
 * @param {number} index
 * @param {[line: number, operation: string][]} lines
 * @param {boolean} isTouched
 * @returns {LineageStep}
 */
const step = (index, lines, isTouched) => ({
  index,
  lines: lines.map(([line, operation]) => ({ line, operation, text: operation, origins: [] })),
  count: lines.length,
  is_touched: isTouched,
  is_known: true,
});

/** @type {Lineage} */
const LINEAGE = {
  steps: [
    step(0, [[5, "tt.dot"]], true),
    step(2, [[6, "tt.dot"]], false),
    step(
      4,
      [
        [8, "ttng.warp_group_dot"],
        [9, "ttg.convert_layout"],
      ],
      true,
    ),
    step(6, [[7, "ttng.warp_group_dot"]], false),
  ],
  asked: 2,
  made_by: 4,
  made_from: [],
  source_lines: [3],
  unknown_before: null,
  removed_by: null,
  instructions: [{ stage: "sass", title: "SASS", lines: [40, 41], is_equal: true, differing_lines: 0 }],
};
const PASSES = /** @type {PassRow[]} */ (
  [0, 1, 2, 3]
    .map((index) => ({ index, stage: "ttir" }))
    .concat(
      [4, 5, 6].map((index) => ({ index, stage: "ttgir" })),
      [{ index: 7, stage: "llir" }],
    )
);

test("the lines of a stage are those after its last pass", () => {
  assert.deepEqual(
    [...linesByStage(LINEAGE, PASSES)].map(([stage, lines]) => [stage, [...lines]]),
    [
      ["ttir", [6]],
      ["ttgir", [7]],
      ["sass", [40, 41]],
    ],
  );
});

test("a removed operation has no lines in later stages", () => {
  const removed = { ...LINEAGE, steps: LINEAGE.steps.slice(0, 2), asked: 0, removed_by: 4, instructions: [] };
  assert.deepEqual([...linesByStage(removed, PASSES).keys()], ["ttir"]);
  assert.deepEqual([...touchedPasses(removed)], [0, 4]);
});

test("steps are shown that touched the operation", () => {
  assert.deepEqual(
    shownSteps(LINEAGE).map(({ index }) => index),
    [0, 4],
  );
  assert.equal(neighborStep({ ...LINEAGE, asked: 0 }, 1)?.index, 4);
  assert.equal(neighborStep(LINEAGE, -1)?.index, 2);
  assert.equal(neighborStep(LINEAGE, 1), undefined);
});

test("the requested step is shown only if its pass touched the operation", () => {
  const asked = { ...LINEAGE, asked: 3 };
  assert.deepEqual(
    shownSteps(asked).map(({ index }) => index),
    [0, 4],
  );
  assert.equal(currentStep(asked)?.index, 4);
  assert.equal(currentStep({ ...LINEAGE, asked: 1 })?.index, 0);
});

test("operations are counted by name", () => {
  assert.equal(
    operationNames(
      step(
        1,
        [
          [1, "a.b"],
          [2, "a.b"],
          [3, "c.d"],
        ],
        true,
      ),
    ),
    "a.b ×2, c.d",
  );
  assert.equal(operationNames({ ...step(1, [], true), is_known: false }), "unknown");
  assert.equal(operationNames({ ...step(1, [[1, "a.b"]], true), count: 300 }), "300 operations");
});
