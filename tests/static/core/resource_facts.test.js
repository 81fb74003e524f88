import "../browser.js";
import assert from "node:assert/strict";
import { test } from "node:test";

const { comparedFact } = await import("../../../explorer/static/core/resource_facts.js");

for (const [title, pair, row] of /** @type {const} */ ([
  ["equal facts have a row", ["registers", 32, 32], ["registers", "32"]],
  ["a limit that both sides have has none", ["shared_limit_bytes", 2048, 2048], null],
  [
    "a limit that differs has one",
    ["shared_limit_bytes", 2048, 4096],
    ["Shared memory, the most a block may have", "4 KiB"],
  ],
  ["a rare fact that neither side has has none", ["stack_bytes", 0, 0], null],
  ["a rare fact of one side has one", ["stack_bytes", 0, 16], ["stack_bytes", "16 B"]],
  ["a value that is not reported is a dash", ["registers", 32, null], ["registers", "–"]],
  ["a fact that the page does not know is named as it is", ["new_fact", 1, 2], ["new fact", "2"]],
])) {
  test(title, () => {
    const [name, before, after] = pair;
    const fact = comparedFact({ name, before, after });
    assert.deepEqual(fact && [fact.title, fact.show(after)], row);
  });
}
