import assert from "node:assert/strict";
import { test } from "node:test";
import "../browser.js";

const { pauseAfter } = await import("../../../explorer/static/launch/live.js");

test("a source that compiles fast waits for a short pause in typing", () => {
  assert.equal(pauseAfter(0), 160);
  assert.equal(pauseAfter(1000), 160);
});

test("a slow source waits as long as it took, within a limit", () => {
  assert.equal(pauseAfter(1700), 1700);
  assert.equal(pauseAfter(60_000), 5000);
});
