import assert from "node:assert/strict";
import test from "node:test";
import { mainLoop, rangesText } from "../../../../explorer/static/panes/resources/main_loop.js";

/** @type {import("../../../../explorer/static/core/types.js").MixLoop[]} */
const LOOPS = [
  { ranges: [[10, 40]], depth: 1, instructions: 31, waits: 1 },
  {
    ranges: [
      [50, 60],
      [90, 92],
    ],
    depth: 1,
    instructions: 14,
    waits: 0,
  },
];

/** @param {number} line @param {number} samples */
function at(line, samples) {
  return /** @type {import("../../../../explorer/static/core/types.js").HeatDocument["instructions"][0]} */ ({
    line,
    samples,
  });
}

test("without samples the loop with the most work is the main loop", () => {
  assert.deepEqual(mainLoop(LOOPS, null), { index: 0, share: null });
  assert.equal(mainLoop([], null), null);
});

test("with samples it is the loop that they were taken in", () => {
  const heat = { samples: 100, instructions: [at(20, 10), at(55, 50), at(91, 20), at(200, 20)] };
  assert.deepEqual(mainLoop(LOOPS, heat), { index: 1, share: 0.7 });
  assert.deepEqual(mainLoop(LOOPS, { samples: 5, instructions: [at(200, 5)] }), { index: 0, share: null });
});

test("the longest stretch of lines is named", () => {
  assert.equal(rangesText(LOOPS[1]?.ranges ?? []), "50 to 60 and 1 shorter stretch");
  assert.equal(rangesText(LOOPS[0]?.ranges ?? []), "10 to 40");
});
