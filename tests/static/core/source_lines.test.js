import assert from "node:assert/strict";
import { test } from "node:test";
import { distinctLines, sequencesOf } from "../../../explorer/static/core/source_lines.js";

test("source lines are sorted, each of them once, without 0", () => {
  assert.deepEqual(distinctLines([12, 0, 3, 12]), [3, 12]);
});

test("neighbors with the same source line are one sequence; those without a line are none", () => {
  assert.deepEqual(sequencesOf([4, 4, 0, 0, 5, 4]), [
    { from: 0, to: 2, line: 4 },
    { from: 4, to: 5, line: 5 },
    { from: 5, to: 6, line: 4 },
  ]);
  assert.deepEqual(sequencesOf([4, 4, 4, 5], 1, 3), [{ from: 1, to: 3, line: 4 }]);
});
