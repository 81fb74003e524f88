import assert from "node:assert/strict";
import { test } from "node:test";
import { rowHalves } from "../../../../explorer/static/panes/memory/tensor_drawing.js";

const LOWER = /** @type {[number, number][]} */ ([
  [0, 15],
  [32, 47],
  [64, 79],
  [96, 111],
]);
const UPPER = LOWER.map(([first, last]) => [first + 16, last + 16]);
const ALL = [[0, 127]];

/** @param {Record<string, number[][]>} rowsOf */
function halves(rowsOf) {
  const buffers = Object.entries(rowsOf).map(([name, ranges]) => ({
    name,
    rows: ranges.length === 4 ? 64 : ranges.length ? 128 : null,
    row_ranges: ranges,
  }));
  return rowHalves(/** @type {any} */ ({ buffers, limit_rows: 128 })).map(({ words, buffers: each }) => [
    words,
    each.map(({ name }) => name),
  ]);
}

test("buffers that take all rows are drawn together", () =>
  assert.deepEqual(halves({ a: ALL, unknown: [] }), [["", ["a", "unknown"]]]));

test("buffers that take half of the rows are drawn apart, all others in both drawings", () =>
  assert.deepEqual(halves({ a: LOWER, b: UPPER, c: ALL, unknown: [] }), [
    ["rows 0 to 15 of the 32 rows of each warp", ["a", "c", "unknown"]],
    ["rows 16 to 31 of the 32 rows of each warp", ["b", "c", "unknown"]],
  ]));
