import "../browser.js";
import assert from "node:assert/strict";
import { test } from "node:test";
import { isUse, previewOf } from "../../../explorer/static/dock/preview.js";

/** @import { IDockviewPanel } from "dockview-core" */

const panel = (/** @type {string} */ name, isPreview = false) =>
  /** @type {IDockviewPanel} */ (/** @type {unknown} */ ({ params: { name, state: "", isPreview } }));

test("the next pane of a group replaces its preview, and no pane that was kept", () => {
  const preview = panel("log", true);
  assert.equal(previewOf([panel("passes"), preview, panel("run")]), preview);
  assert.equal(previewOf([panel("passes"), panel("run")]), undefined);
});

test("typing uses a pane; keys that leave it and commands do not", () => {
  const key = (/** @type {Partial<KeyboardEvent>} */ facts) => /** @type {KeyboardEvent} */ (facts);
  assert.ok(isUse(key({ key: "ArrowDown" })));
  for (const facts of [{ key: "Tab" }, { key: "Escape" }, { key: "k", ctrlKey: true }])
    assert.ok(!isUse(key(facts)));
});
