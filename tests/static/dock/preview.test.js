import "../browser.js";
import assert from "node:assert/strict";
import { test } from "node:test";
import { isUse, keepOpen, previewOf } from "../../../explorer/static/dock/preview.js";

/** @import { IDockviewPanel } from "dockview-core" */

const panel = (/** @type {string} */ name, isPreview = false) => {
  const params = { name, state: "", isPreview };
  const api = {
    getParameters: () => params,
    updateParameters: (/** @type {object} */ changes) => Object.assign(params, changes),
  };
  return /** @type {IDockviewPanel} */ (/** @type {unknown} */ ({ params, api }));
};

test("the preview of a group is replaced until it is kept", () => {
  const preview = panel("log", true);
  const panels = [panel("passes"), preview, panel("run")];
  assert.equal(previewOf(panels), preview);
  keepOpen(preview.api);
  assert.equal(previewOf(panels), undefined);
});

test("typing uses a pane; keys that leave it and commands do not", () => {
  const key = (/** @type {Partial<KeyboardEvent>} */ facts) => /** @type {KeyboardEvent} */ (facts);
  assert.ok(isUse(key({ key: "ArrowDown" })));
  for (const facts of [{ key: "Tab" }, { key: "Escape" }, { key: "k", ctrlKey: true }])
    assert.ok(!isUse(key(facts)));
});
