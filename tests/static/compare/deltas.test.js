import assert from "node:assert/strict";
import { test } from "node:test";
import { knownDifferences, otherOptions } from "../../../explorer/static/compare/deltas.js";

test("options that differ are named with both values", () => {
  assert.deepEqual(otherOptions(["num-stages=3", "dump=false"], ["num-stages=1", "dump=false"]), [
    "num-stages 3 → 1",
  ]);
  assert.deepEqual(otherOptions(["a=x=1"], ["b=true"]), ["a x=1 → none", "b none → true"]);
});

test("a value that a side may still get is no difference", () => {
  const side = (/** @type {string} */ status) => /** @type {any} */ ({ status });
  const differences = [
    { name: "kernel", before: null, after: "attn_fwd" },
    { name: "target", before: "cuda:80", after: "cuda:90" },
    { name: "num_warps", before: 4, after: null },
  ];
  const names = (/** @type {string} */ before, /** @type {string} */ after) =>
    knownDifferences(differences, side(before), side(after)).map(({ name }) => name);
  assert.deepEqual(names("queued", "complete"), ["target", "num_warps"]);
  assert.deepEqual(names("running", "queued"), ["target"]);
  assert.deepEqual(names("failed", "complete"), ["kernel", "target", "num_warps"]);
});
