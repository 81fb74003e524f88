import assert from "node:assert/strict";
import { test } from "node:test";
import { AlignedRows } from "../../../explorer/static/compare/aligned_rows.js";

const runs = [
  { before_line: 1, before_lines: 2, after_line: 1, after_lines: 2, same: true },
  { before_line: 3, before_lines: 2, after_line: 3, after_lines: 1, same: false },
  { before_line: 5, before_lines: 9, after_line: 4, after_lines: 9, same: true },
  { before_line: 14, before_lines: 0, after_line: 13, after_lines: 1, same: false },
];
const chosen = { before: new Set([4]), after: new Set(/** @type {number[]} */ ([])) };

/** The changed rows, as "before:after". @param {AlignedRows} rows */
function changed(rows) {
  return rows.rows.filter(({ kind }) => kind === "changed").map(({ before, after }) => `${before}:${after}`);
}

test("changes of one kind of operation are shown without the others", () => {
  assert.deepEqual(changed(new AlignedRows(runs, false)), ["3:3", "4:0", "0:13"]);
  const rows = new AlignedRows(runs, false, chosen);
  assert.deepEqual(changed(rows), ["4:0"]);
  assert.equal(rows.changes.length, 1);
  assert.equal(rows.rows[rows.changes[0] ?? -1]?.before, 4);
});

test("a line that is not chosen does not stand beside a chosen line", () => {
  const rows = new AlignedRows(runs, false, { before: new Set([3]), after: new Set([13]) });
  assert.deepEqual(changed(rows), ["3:0", "0:13"]);
  assert.deepEqual(changed(new AlignedRows(runs, true, chosen)), ["4:0"]);
});
