import assert from "node:assert/strict";
import { test } from "node:test";
import { otherOptions } from "../../../explorer/static/compare/deltas.js";

test("options that differ are named with both values", () => {
  assert.deepEqual(otherOptions(["num-stages=3", "dump=false"], ["num-stages=1", "dump=false"]), [
    "num-stages 3 → 1",
  ]);
  assert.deepEqual(otherOptions(["a=x=1"], ["b=true"]), ["a x=1 → none", "b none → true"]);
});
