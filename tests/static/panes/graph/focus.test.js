import assert from "node:assert/strict";
import { test } from "node:test";
import { focusOf } from "../../../../explorer/static/panes/graph/focus.js";

/** @import { GraphNode } from "../../../../explorer/static/core/types.js" */

/** @param {string} id @param {Partial<GraphNode>} facts */
const node = (id, facts) =>
  /** @type {GraphNode} */ ({ id, kind: "operation", role: "", loop_depth: 0, source_lines: [], ...facts });

test("a data flow opens on its path, in the innermost loop", () => {
  const nodes = [
    node("load", { role: "load" }),
    node("index", { loop_depth: 2 }),
    node("dot", { role: "compute", loop_depth: 1 }),
    node("copy", { role: "load", loop_depth: 1 }),
    node("store", { role: "store" }),
  ];
  assert.equal(focusOf(nodes)?.id, "dot");
  assert.equal(focusOf(nodes.filter(({ loop_depth }) => loop_depth === 0))?.id, "load");
});

test("a control flow opens on the longest block of the innermost loop", () => {
  const block = (
    /** @type {string} */ id,
    /** @type {number} */ loop_depth,
    /** @type {number} */ operations,
  ) => node(id, { kind: "block", loop_depth, operations });
  assert.equal(focusOf([block("entry", 0, 90), block("wait", 1, 2), block("loop", 1, 60)])?.id, "loop");
  assert.equal(focusOf([block("entry", 0, 9), block("exit", 0, 3)])?.id, "entry");
});

test("a graph opens on a node of a pinned line", () => {
  const nodes = [
    node("address", { kind: "address", source_lines: [3] }),
    node("store", { role: "store", source_lines: [3, 4] }),
    node("dot", { role: "compute", loop_depth: 1, source_lines: [5] }),
  ];
  assert.equal(focusOf(nodes, [3])?.id, "store");
  assert.equal(focusOf(nodes.slice(0, 1), [3])?.id, "address");
  assert.equal(focusOf(nodes, [9])?.id, "dot");
});

test("an empty graph opens nowhere", () => {
  assert.equal(focusOf([]), null);
});
