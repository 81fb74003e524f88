import assert from "node:assert/strict";
import { test } from "node:test";
import { fieldsOf } from "../../../../explorer/static/panes/run/fields_of_document.js";

test("the fields of an unknown document are texts", () => {
  assert.deepEqual(fieldsOf({ joules_total: 1.5, reason: "", per_launch: [1, 2], none: null }), [
    ["joules total", "1.5"],
    ["reason", ""],
    ["per launch", "[1,2]"],
    ["none", "null"],
  ]);
});

test("a long value is cut", () => {
  const [[, text]] = /** @type {[[string, string]]} */ (fieldsOf({ text: "x".repeat(1000) }));
  assert.equal(text, `${"x".repeat(400)} …`);
});

test("a document need not be an object", () => {
  assert.deepEqual(fieldsOf(3), [["value", "3"]]);
  assert.deepEqual(fieldsOf(null), [["value", "null"]]);
});
