import assert from "node:assert/strict";
import { test } from "node:test";
import "../browser.js";

const { whyNotRun } = await import("../../../explorer/static/launch/state.js");

test("a kernel without its Python source cannot be run", () => {
  assert.equal(whyNotRun({ language: "triton", kernel_line: 7 }), "");
  assert.equal(whyNotRun({ language: "gluon", kernel_line: 7 }), "");
  assert.match(whyNotRun({ language: "ttir", kernel_line: 7 }), /text of a stage/);
  assert.match(whyNotRun({ language: "triton", kernel_line: 0 }), /is missing/);
});
