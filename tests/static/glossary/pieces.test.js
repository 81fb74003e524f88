import assert from "node:assert/strict";
import { test } from "node:test";
import { pieces, useTerms } from "../../../explorer/static/glossary/pieces.js";

useTerms(
  /** @type {never} */ ([
    { name: "pass", words: ["compiler pass"], labels: ["pass"] },
    { name: "warp", words: ["warp"], labels: [] },
  ]),
);

/** @param {ReturnType<typeof pieces>} found */
const termsOf = (found) => found.flatMap((each) => (typeof each === "string" ? [] : [each.term.name]));

test("a whole text is a label", () => assert.deepEqual(termsOf(pieces("Pass")), ["pass"]));

test("a part of a sentence is no label", () => {
  // "Pass `TensorDescriptor` to the warp": a verb before code.
  assert.deepEqual(pieces("Pass ", new Set(), false), ["Pass "]);
  assert.deepEqual(termsOf(pieces(" to the warp", new Set(), false)), ["warp"]);
});
