import "../browser.js";
import assert from "node:assert/strict";
import { test } from "node:test";

const { applied, keyOf, proposalsOf, verdictOf } = await import(
  "../../../explorer/static/findings/trials.js"
);

/** @import { Finding, Trial } from "../../../explorer/static/findings/trials.js" */

/** @param {string} rule @param {Partial<Finding>} [more] @returns {Finding} */
const finding = (rule, more = {}) => ({
  ...{ rule, severity: "warning", text: "It spills.", evidence: [], cause: "", advice: "" },
  ...{ source_line: 3, ttgir_line: 0, lines: [], cost: null, tour: "", terms: [], changes: [] },
  ...more,
});
const NONE = {
  options: {},
  constants: {},
  edits: [],
  may_be_faster: true,
  is_exact: true,
  is_correction: false,
};
const WARPS = { ...NONE, text: "8 warps", options: { num_warps: 8 } };
const BLOCK = { ...NONE, text: "BM = 64", constants: { BM: 64 } };
const LOOP = { ...NONE, text: "Line 2", edits: [{ line: 2, text: "b" }] };

test("a change that several findings propose is tried once, for the first of them", () => {
  const findings = [
    finding("spills", { changes: [WARPS] }),
    finding("grid", { changes: [{ ...WARPS }, BLOCK] }),
  ];
  assert.deepEqual(proposalsOf(findings), [
    { index: 0, change: WARPS },
    { index: 1, change: BLOCK },
  ]);
  assert.notEqual(keyOf(WARPS), keyOf(BLOCK));
});

test("a change is proven if the server says so, and the runs do not deny it", () => {
  /** @param {boolean | null} isProven @param {string} [state] @param {Trial["results"]} [results] */
  const verdict = (isProven, state = "complete", results = null) => {
    const said = { is_removed: true, is_proven: Boolean(isProven), text: "said" };
    const cell = /** @type {never} */ ({ state, message: "Too much shared memory.\nReduce it." });
    const { kind, words } = verdictOf({ cell, verdicts: isProven === null ? null : [said], results }, 0);
    return [kind, words];
  };
  assert.deepEqual(verdict(null, "compiling"), ["waiting", "compiling"]);
  assert.deepEqual(verdict(null, "failed"), ["unproven", "fails: Too much shared memory."]);
  assert.deepEqual(verdict(null, "missing"), ["unproven", "not compiled"]);
  assert.deepEqual(verdict(false), ["unproven", "said"]);
  assert.deepEqual(verdict(true), ["waiting", "both kernels run"]);
  const same = { isOther: false, words: "same results" };
  assert.deepEqual(verdict(true, "complete", same), ["proven", "said, same results"]);
  assert.deepEqual(verdict(true, "complete", { ...same, isFaster: null })[0], "proven");
  assert.deepEqual(verdict(true, "complete", { ...same, isFaster: false })[0], "slower");
  assert.deepEqual(verdict(true, "complete", { isOther: true, words: "others" }), ["other", "others"]);
});

test("a change is applied to the options, the constants and the source of a draft", () => {
  const draft = /** @type {import("../../../explorer/static/core/types.js").Draft} */ (
    /** @type {unknown} */ ({
      ...{ source: "a\nB\nc", options: { num_stages: 2 }, constants: {} },
      arguments: [{ name: "x" }, { name: "BM", value: 128 }],
    })
  );
  assert.deepEqual(applied(draft, [WARPS]).options, { num_stages: 2, num_warps: 8 });
  const smaller = applied(draft, [BLOCK]);
  assert.deepEqual(smaller.constants, { BM: 64 });
  assert.deepEqual(smaller.arguments, [{ name: "x" }, { name: "BM", value: 64 }]);
  assert.equal(smaller.source, draft.source);
  assert.equal(applied(draft, [LOOP]).source, "a\nb\nc");
  const all = applied(draft, [WARPS, BLOCK, LOOP]);
  assert.deepEqual([all.options, all.constants], [{ num_stages: 2, num_warps: 8 }, { BM: 64 }]);
  assert.equal(all.source, "a\nb\nc");
});
