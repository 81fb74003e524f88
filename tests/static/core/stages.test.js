import "../browser.js";
import assert from "node:assert/strict";
import { test } from "node:test";
import { Result } from "../../../explorer/static/core/result.js";
import { shownStage } from "../../../explorer/static/core/stages.js";
import { store } from "../../../explorer/static/core/store.js";

/** @import { Target } from "../../../explorer/static/core/types.js" */

const STAGES = ["ttir", "ttgir", "llir", "ptx", "sass"];
store.update({
  targets: [
    /** @type {Target} */ ({ name: "cuda:90", stages: STAGES }),
    /** @type {Target} */ ({ name: "hip:gfx942", stages: ["ttir", "ttgir", "llir", "amdgcn"] }),
  ],
});

/** @param {...string} names of the stages of the result */
function resultWith(...names) {
  const stages = names.map((name) => ({ name }));
  return new Result(/** @type {never} */ ({ stages, target: { stages: STAGES } }));
}

for (const [title, present, wanted, shown] of /** @type {const} */ ([
  ["a stage of the result is shown", STAGES, "ttgir;fold=all", "ttgir"],
  ["pasted PTX stands for the stages before it", ["ptx", "sass"], "ttgir;fold=all", "ptx"],
  ["pasted PTX leaves the machine code", ["ptx", "sass"], "sass", "sass"],
  ["pasted TTGIR stands for TTIR only", ["ttgir", "llir"], "ttir", "ttgir"],
  ["a stage that has not arrived is awaited", ["ttgir"], "ptx", "ptx"],
  ["a result without stages has none to show", [], "ttgir", "ttgir"],
  ["a cubin stands for all stages", ["sass"], "ttir", "sass"],
  ["the machine code of this target stands for that of another", ["ptx", "sass"], "amdgcn", "sass"],
  ["Gluon IR, which is on no target's path, stands for no stage", ["glir", "ttgir"], "ttir", "ttir"],
  ["an unknown stage stays", ["ptx", "sass"], "glir", "glir"],
])) {
  test(title, () => assert.equal(shownStage(wanted, resultWith(...present)), shown));
}
