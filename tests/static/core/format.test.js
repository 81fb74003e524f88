import assert from "node:assert/strict";
import { test } from "node:test";

const { grouped, plural } = await import("../../../explorer/static/core/format.js");

test("a whole number has a comma for each thousand", () => {
  assert.deepEqual([0, 999, 1000, 12345, 1234567, -1000].map(grouped), [
    "0",
    "999",
    "1,000",
    "12,345",
    "1,234,567",
    "-1,000",
  ]);
});

test("counts of a page need none of the browser's own words for numbers", (t) => {
  t.mock.method(Number.prototype, "toLocaleString", () => assert.fail("It takes long to load."));
  assert.equal(plural(1234, "line"), "1,234 lines");
});
