import "../browser.js";
import assert from "node:assert/strict";
import { test } from "node:test";
import { addressOf, known, parse, shows, titleOf } from "../../../explorer/static/dock/pane_address.js";
import { parseLayout } from "../../../explorer/static/core/view.js";
import { store } from "../../../explorer/static/core/store.js";

/** @import { IDockviewPanel } from "dockview-core" */
/** @import { PaneKind, StageKind, Target } from "../../../explorer/static/core/types.js" */

const kind = (/** @type {string} */ name, /** @type {string} */ title, per_stage = false) =>
  /** @type {PaneKind} */ ({ name, title, per_stage, summary: "", module: "" });
store.update({
  paneKinds: [kind("stage", "Stage", true), kind("passes", "Passes"), kind("log", "Log")],
  stageKinds: [/** @type {StageKind} */ ({ name: "ttgir", title: "TTGIR" })],
  targets: [
    /** @type {Target} */ ({ name: "cuda:90", stages: ["ttir", "ttgir", "sass"] }),
    /** @type {Target} */ ({ name: "hip:gfx942", stages: ["ttir", "ttgir", "amdgcn"] }),
  ],
  draft: { ...store.state.draft, target: "hip:gfx942" },
});
const panel = (/** @type {string} */ name, state = "") =>
  /** @type {IDockviewPanel} */ (/** @type {unknown} */ ({ params: { name, state } }));

for (const address of ["log", "stage:ttgir", "stage:ttgir;fold=all.61", "layouts:x_ptr"]) {
  test(`“${address}” is written as it is read`, () => assert.equal(addressOf(parse(address)), address));
}

test("a tab has the title of its stage or of its pane, or the name of an unknown pane", () => {
  assert.equal(titleOf("stage", "ttgir;fold=all"), "TTGIR");
  assert.equal(titleOf("passes", "ttgir"), "Passes");
  assert.equal(titleOf("absent", ""), "absent");
});

test("a stage pane shows one stage, any other pane whatever is asked of it", () => {
  assert.ok(shows(panel("stage", "ttgir;fold=all"), "stage:ttgir"));
  assert.ok(!shows(panel("stage", "ttir"), "stage:ttgir"));
  assert.ok(shows(panel("passes", "ttir"), "passes:ttgir"));
  assert.ok(!shows(panel("log"), "passes"));
});

test("the machine code of another target stands for that of this one", () =>
  assert.ok(shows(panel("stage", "amdgcn"), "stage:sass")));

test("a layout keeps what this server knows", () => {
  const layout = known(parseLayout("absent,stage:ttgir*@60+(absent+log)@40"));
  assert.deepEqual(layout, {
    children: [
      { panes: ["stage:ttgir"], active: 0, share: 60 },
      { panes: ["log"], active: 0, share: 40 },
    ],
    share: 0,
  });
  assert.equal(known(parseLayout("absent+(gone,away)")), null);
  assert.equal(known(null), null);
});
