import assert from "node:assert/strict";
import { test } from "node:test";
import { plainColor } from "../../../explorer/static/picture/plain_color.js";

test("computed colors become colors that every program knows", () => {
  assert.deepEqual(plainColor("rgb(20, 25, 34)"), { color: "#141922", opacity: 1 });
  assert.deepEqual(plainColor("rgba(122, 167, 255, 0.19)"), { color: "#7aa7ff", opacity: 0.19 });
  assert.deepEqual(plainColor("color(srgb 0.5 0 1)"), { color: "#8000ff", opacity: 1 });
  assert.deepEqual(plainColor("color(srgb 1 0.2 0 / 0.25)"), { color: "#ff3300", opacity: 0.25 });
});

test("what paints nothing has no color", () => {
  for (const value of ["none", "rgba(0, 0, 0, 0)", "color(srgb 0 0 0 / 0)", ""])
    assert.equal(plainColor(value), null);
});
