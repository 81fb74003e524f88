import "../browser.js";
import assert from "node:assert/strict";
import { test } from "node:test";
import { nextOrder, RESULT_COLUMNS, sortedRows, tick } from "../../../explorer/static/launch/variant_rows.js";

/** @import { Order, Row } from "../../../explorer/static/launch/variant_rows.js" */
/** @import { Outcome } from "../../../explorer/static/launch/variants.js" */

const rows = /** @type {Row[]} */ (
  /** @type {unknown} */ ([
    { key: "a", cells: { BLOCK: 64, kind: "x10" } },
    { key: "b", cells: { BLOCK: 128, kind: "x9" } },
    { key: "c", cells: { BLOCK: 32, kind: "x1" } },
  ])
);
const outcomes = /** @type {Map<string, Outcome>} */ (
  /** @type {unknown} */ (
    new Map([
      ["a", { resources: { registers: 40, spill_stores_bytes: 8, spill_loads_bytes: 4 }, milliseconds: 9 }],
      ["b", { resources: { registers: 168 }, milliseconds: 20 }],
    ])
  )
);

/** @param {Order} order */
function keys(order) {
  return sortedRows(rows, order, outcomes)
    .map(({ key }) => key)
    .join("");
}

test("a column sorts upwards, then downwards, then not", () => {
  const up = nextOrder(null, "registers");
  const down = nextOrder(up, "registers");
  assert.deepEqual([up?.isDescending, down?.isDescending, nextOrder(down, "registers")], [false, true, null]);
  assert.deepEqual(nextOrder(down, "spills"), { name: "spills", isDescending: false });
});

test("numbers are sorted as numbers, also inside of texts, and unknown values are last", () => {
  assert.equal(keys(null), "abc");
  assert.equal(keys({ name: "BLOCK", isDescending: false }), "cab");
  assert.equal(keys({ name: "kind", isDescending: false }), "cba");
  assert.equal(keys({ name: "registers", isDescending: false }), "abc");
  assert.equal(keys({ name: "registers", isDescending: true }), "bac");
});

test("spills add stores and loads, and are unknown where the target reports none", () => {
  const spills = RESULT_COLUMNS.find(({ name }) => name === "spills");
  const read = (/** @type {string} */ key) => {
    const outcome = outcomes.get(key);
    return outcome && spills?.read(outcome);
  };
  assert.equal(read("a"), 12);
  assert.equal(read("b"), null);
});

test("two rows are ticked at most: a third one replaces the first", () => {
  assert.deepEqual(tick(tick(tick([], "a", true), "b", true), "c", true), ["b", "c"]);
  assert.deepEqual(tick(["b", "c"], "b", false), ["c"]);
});
