import assert from "node:assert/strict";
import { test } from "node:test";
import { formatView, orderedUrl, parseView } from "../../../explorer/static/compare/address.js";

test("the result of the older version of Triton is before", () => {
  const [older, newer] = [
    { id: "old", triton: "3.9.0" },
    { id: "new", triton: "3.10.0" },
  ];
  assert.equal(orderedUrl(newer, older), "/compare/old..new");
  assert.equal(orderedUrl(older, newer), "/compare/old..new");
  assert.equal(orderedUrl(newer, { ...newer, id: "other" }), "/compare/new..other");
});

test("the modules after two passes are a view", () => {
  const view = parseView("#stage=pass-3..pass-4");
  assert.deepEqual([view.show, view.before, view.after], ["stage", "pass-3", "pass-4"]);
  assert.equal(formatView(view), "#stage=pass-3..pass-4");
});
