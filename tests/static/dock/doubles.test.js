import "../browser.js";
import assert from "node:assert/strict";
import { test } from "node:test";
import { store } from "../../../explorer/static/core/store.js";
import { panelsWithTab } from "../../../explorer/static/dock/doubles.js";

/** @import { IDockviewPanel } from "dockview-core" */
/** @import { PaneKind, Target } from "../../../explorer/static/core/types.js" */

store.update({
  paneKinds: [
    /** @type {PaneKind} */ ({ name: "stage", title: "Stage", per_stage: true, summary: "", module: "" }),
    /** @type {PaneKind} */ ({ name: "graph", title: "Graph", per_stage: false, summary: "", module: "" }),
  ],
  targets: [
    /** @type {Target} */ ({ name: "cuda:90", stages: ["ttir", "sass"] }),
    /** @type {Target} */ ({ name: "hip:gfx942", stages: ["ttir", "amdgcn"] }),
  ],
  draft: { ...store.state.draft, target: "cuda:90" },
});
const panel = (/** @type {string} */ name, state = "") =>
  /** @type {IDockviewPanel} */ (/** @type {unknown} */ ({ params: { name, state } }));

test("one of the panes with the same stage has a tab: the pane in front, or the first", () => {
  const panels = [panel("stage", "ttir"), panel("stage", "amdgcn"), panel("stage", "sass")];
  assert.deepEqual(panelsWithTab({ panels }), [panels[0], panels[1]]);
  assert.deepEqual(panelsWithTab({ panels, activePanel: panels[2] }), [panels[0], panels[2]]);
});

test("panes that have no stage are no doubles, whatever they show", () => {
  const panels = [panel("graph", "ttir"), panel("graph", "sass")];
  assert.deepEqual(panelsWithTab({ panels, activePanel: panels[1] }), panels);
});
