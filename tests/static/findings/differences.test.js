import "../browser.js";
import assert from "node:assert/strict";
import { test } from "node:test";

const { differencesOf, figuresOf } = await import("../../../explorer/static/findings/differences.js");

/** @param {object | null} resources */
const compilation = (resources) => figuresOf(/** @type {never} */ ({ resources }));
const SPILLING = compilation({
  registers: 255,
  spill_stores_bytes: 6144,
  spill_loads_bytes: 6144,
  shared_bytes: 98304,
  occupancy: 0.125,
});
const BETTER = compilation({
  registers: 204,
  spill_stores_bytes: 0,
  spill_loads_bytes: 0,
  shared_bytes: 147456,
  occupancy: 0.126,
});

test("the figures that differ are said with both values", () => {
  assert.deepEqual(
    differencesOf(SPILLING, BETTER).map(({ title, before, after }) => [title, before, after]),
    [
      ["spill stores and loads", "12 KiB", "0"],
      ["registers", "255", "204"],
      ["shared_bytes", "96 KiB", "144 KiB"],
    ],
  );
  assert.deepEqual(differencesOf(BETTER, BETTER), []);
});

test("a compilation without a binary, and a figure that a target does not have, are left out", () => {
  assert.deepEqual(differencesOf(compilation(null), BETTER), []);
  assert.deepEqual(differencesOf(SPILLING, compilation(null)), []);
  const other = compilation({
    registers: 204,
    spill_stores_bytes: null,
    shared_bytes: 147456,
    occupancy: null,
  });
  assert.deepEqual(differencesOf(BETTER, other), []);
});
