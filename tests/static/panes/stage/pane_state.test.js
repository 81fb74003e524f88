import "../../browser.js";
import assert from "node:assert/strict";
import { test } from "node:test";
import { keepsLineage } from "../../../../explorer/static/panes/stage/pane_state.js";

/** @param {string} kernel @param {string} source @returns {any} */
const compiled = (kernel, source) => ({ kernel, request: { source } });

test("a lineage stays with its kernel while the source is typed, and with its source", () => {
  const before = compiled("add", "def add(): ...");
  const edited = compiled("add", "def add(): pass");
  assert.equal(keepsLineage(before, { ...before }), true);
  assert.equal(keepsLineage(before, edited, true), true);
  assert.equal(keepsLineage(before, edited, false), false);
  assert.equal(keepsLineage(before, compiled("softmax", "def softmax(): ..."), true), false);
});
