import assert from "node:assert/strict";
import { test } from "node:test";
import { explain } from "../../../../explorer/static/panes/stage/explanation.js";
import { distinctChains, placeWords } from "../../../../explorer/static/panes/stage/places.js";

/** @import { Locations } from "../../../../explorer/static/core/types.js" */

const locations = /** @type {Locations} */ ({
  files: ["", "/lib/standard.py"],
  locations: [
    [[0, 12, 4, "kernel"]],
    [[0, 12, 9, "kernel"]],
    [
      [1, 7, 0, "zeros"],
      [0, 14, 8, "kernel"],
    ],
  ],
  lines: [[0, 1], [2, 0], []],
});

test("places that differ in their columns only are one", () => {
  assert.deepEqual(
    distinctChains(locations, 1).map((frames) => frames.map(([, line]) => line)),
    [[12]],
  );
  assert.deepEqual(
    distinctChains(locations, 2).map((frames) => frames.map(([, line]) => line)),
    [[7, 14], [12]],
  );
  assert.deepEqual(distinctChains(locations, 3), []);
});

test("the first place is said with its calls, the others are counted", () => {
  assert.equal(
    placeWords(locations, 2),
    "standard.py:7 in zeros, inlined at line 14 in kernel and 1 other place",
  );
  assert.equal(placeWords(locations, 3), "no source line");
  assert.equal(placeWords(null, 1), "no source line");
});

test("the longest known beginning of an opcode is explained, then its modifiers", () => {
  const words = new Map([
    ["ld", "load"],
    ["ld.global", "load from global memory"],
    [".v2", "two values"],
  ]);
  assert.deepEqual(explain("ld.global.v2.b32", words), [
    { word: "ld.global", text: "load from global memory" },
    { word: ".v2", text: "two values" },
  ]);
  assert.deepEqual(explain("st.global", words), []);
});
