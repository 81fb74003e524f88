import assert from "node:assert/strict";
import { test } from "node:test";
import {
  changesOf,
  isLeftOut,
  ownName,
  toggledPass,
  withPassOption,
} from "../../../explorer/static/core/pass_edits.js";

const PASSES = ["ast-to-ttir", "cse", "canonicalize", "cse"].map((name, index) => ({ name, index }));

test("a pass is named by its place among the passes of the same name", () => {
  assert.deepEqual(
    PASSES.map((pass) => ownName(PASSES, pass)),
    ["", "cse#1", "canonicalize#1", "cse#2"],
  );
});

test("a pass is left out and comes back", () => {
  const edits = toggledPass(null, "cse#2");
  assert.deepEqual(edits?.without_passes, ["cse#2"]);
  assert.equal(isLeftOut(edits, "cse#2"), true);
  assert.equal(isLeftOut(edits, "cse#1"), false);
  assert.equal(toggledPass(edits, "cse#2"), null);
  const every = { stage: "", text: "", without_passes: ["cse"], pass_options: {} };
  assert.equal(isLeftOut(every, "cse#1"), true);
  assert.equal(toggledPass(every, "cse#1"), null);
});

test("an option of a pass has another value and its own again", () => {
  const edits = withPassOption(null, "pipeline#1", "num-stages", " 5 ");
  assert.deepEqual(edits?.pass_options, { "pipeline#1": { "num-stages": "5" } });
  assert.equal(withPassOption(edits, "pipeline#1", "num-stages", ""), null);
});

test("changes are said in words, each with what remains without it", () => {
  const edits = {
    stage: "ttir",
    text: "module {}",
    without_passes: ["cse"],
    pass_options: { "pipeline#1": { "num-stages": "5" } },
  };
  const changes = changesOf(edits, (stage) => stage.toUpperCase());
  assert.deepEqual(
    changes.map(({ words }) => words),
    ["TTIR edited", "without cse", "pipeline#1: num-stages=5"],
  );
  assert.deepEqual(changes[0]?.without?.text, "");
  assert.deepEqual(changes[2]?.without?.pass_options, {});
});
