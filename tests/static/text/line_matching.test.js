import assert from "node:assert/strict";
import { test } from "node:test";
import { lineWithoutNumbers } from "../../../explorer/static/compare/line_changes.js";
import { matchLines } from "../../../explorer/static/text/line_matching.js";

test("lines keep their places around a change", () => {
  const { lineOf, nearest, changed } = matchLines(["a", "b", "c", "d"], ["a", "x", "y", "c", "d"]);
  assert.deepEqual([1, 2, 3, 4].map(lineOf), [1, 0, 4, 5]);
  assert.deepEqual([1, 2, 3, 4].map(nearest), [1, 2, 4, 5]);
  assert.deepEqual([...changed], [2, 3]);
});

test("a line that is gone has a place within the text", () => {
  const { nearest } = matchLines(["a", "b", "c"], ["a"]);
  assert.deepEqual([1, 2, 3].map(nearest), [1, 1, 1]);
  assert.equal(matchLines(["a"], []).nearest(1), 0);
});

test("values that only have other numbers are the same line", () => {
  const before = ["%1 = tt.load %0", "%2 = arith.mulf %1, %c", "%3 = arith.addf %2, %cst"];
  const after = ["%2 = tt.load %1", "%3 = arith.divf %2, %c", "%4 = arith.addf %3, %cst"];
  assert.deepEqual([...matchLines(before, after, lineWithoutNumbers).changed], [2]);
  assert.equal(lineWithoutNumbers("tt.load %x, %cst"), lineWithoutNumbers("tt.load %x_7, %cst_0"));
  const [old, now] = [
    "B0-----:R-:W1:-:S02 /*0010*/ MOV R1, 0x400",
    "B------:R-:W-:-:S05 /*0020*/ MOV R7, 0x800",
  ];
  assert.deepEqual([...matchLines([old], [now], lineWithoutNumbers).changed], [1]);
});

test("texts with too many differences are matched by number, and none of their lines is new", () => {
  const before = Array.from({ length: 1100 }, (_, index) => `a${index}`);
  const after = Array.from({ length: 1000 }, (_, index) => `b${index}`);
  const { lineOf, changed } = matchLines(before, after);
  assert.equal(changed.size, 0);
  assert.equal(lineOf(500), 500);
  assert.equal(lineOf(1100), 1000);
});
