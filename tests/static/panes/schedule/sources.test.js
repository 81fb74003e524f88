import "../../browser.js";
import assert from "node:assert/strict";
import { test } from "node:test";

/** @type {Map<string, any>} */
const elements = new Map();
Object.assign(globalThis, {
  HTMLElement: class {},
  customElements: {
    /** @param {string} name @param {unknown} element */
    define: (name, element) => elements.set(name, element),
  },
});
Object.assign(globalThis.document, { createTreeWalker: () => ({}), addEventListener() {} });
const { nothing } = await import("../../../../explorer/static/core/template.js");
await import("../../../../explorer/static/panes/schedule.js");

/** What the foot of the pane shows. @param {number[]} counts The scheduled operations of each loop. */
const sourcesOf = (...counts) =>
  elements.get("pane-schedule").prototype.sources({
    loops: counts.map((count) => ({ operations: new Array(count).fill({}) })),
    pass_index: 3,
    scheduled_by: "tritongpu-schedule-loops",
    pipelined_by: 4,
  });

test("a pass is named as the origin of a schedule only if a loop has one", () => {
  assert.equal(sourcesOf(0, 0), nothing);
  assert.notEqual(sourcesOf(0, 2), nothing);
});
