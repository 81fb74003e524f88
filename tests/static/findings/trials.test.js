import "../browser.js";
import assert from "node:assert/strict";
import { test } from "node:test";

const { applied, changesOf, keyOf, matrixOf, resultsOf, verdictOf } = await import(
  "../../../explorer/static/findings/trials.js"
);

/** @import { Finding, Trial } from "../../../explorer/static/findings/trials.js" */

/** @param {string} rule @param {Partial<Finding>} [more] @returns {Finding} */
const finding = (rule, more = {}) => ({
  ...{ rule, severity: "warning", text: "It spills.", evidence: [], cause: "", advice: "" },
  ...{ source_line: 3, ttgir_line: 0, lines: [], cost: null, tour: "", terms: [], changes: [] },
  ...more,
});
const WARPS = { text: "8 warps", options: { num_warps: 8 }, constants: {}, edits: [] };
const BLOCK = { text: "BM = 64", options: {}, constants: { BM: 64 }, edits: [] };
const LOOP = { text: "Line 2", options: {}, constants: {}, edits: [{ line: 2, text: "b" }] };

test("a change that several findings propose is tried once", () => {
  const findings = [
    finding("spills", { changes: [WARPS, BLOCK] }),
    finding("grid", { changes: [{ ...BLOCK }] }),
  ];
  assert.deepEqual(changesOf(findings), [WARPS, BLOCK]);
  assert.notEqual(keyOf(WARPS), keyOf(BLOCK));
});

test("a change is proven if its finding vanishes, nothing becomes worse, and the results stay", () => {
  const spills = finding("spills");
  /** @param {Partial<Trial["changes"]> | null} changes @param {string} [state] @param {Partial<Trial>} [more] */
  const verdict = (changes, state = "complete", more = {}) =>
    verdictOf(
      spills,
      /** @type {Trial} */ (
        /** @type {unknown} */ ({
          change: WARPS,
          cell: { state },
          changes: changes && {
            vanished: [],
            appeared: [],
            worse: [],
            fixed: [],
            is_worse: false,
            ...changes,
          },
          results: null,
          ...more,
        })
      ),
    );
  assert.equal(verdict(null, "compiling"), "waiting");
  assert.equal(verdict(null, "failed"), "failed");
  assert.equal(verdict({}), "stays");
  assert.equal(verdict({ vanished: [finding("spills", { source_line: 9 })] }), "stays");
  assert.equal(verdict({ vanished: [spills] }), "proven");
  assert.equal(verdict({ vanished: [spills], is_worse: true }), "worse");
  assert.equal(verdict({ vanished: [spills], is_worse: true, fixed: ["BM"] }), "partial");
  for (const change of [BLOCK, LOOP]) {
    assert.equal(verdict({ vanished: [spills] }, "complete", { change }), "running");
    for (const isOther of [true, false]) {
      const results = { isOther, words: "" };
      const expected = isOther ? "other" : "proven";
      assert.equal(verdict({ vanished: [spills] }, "complete", { change, results }), expected);
    }
  }
});

test("results are the same if all outputs match, and not compared if there is a reason", () => {
  /** @param {string} reason @param {...boolean} matches */
  const results = (reason, ...matches) =>
    resultsOf(/** @type {never} */ ({ reason, outputs: matches.map((each) => ({ matches: each })) }));
  assert.deepEqual(results("", true, true), { isOther: false, words: "same results" });
  assert.deepEqual(results("", true, false), { isOther: true, words: "other results" });
  assert.deepEqual(results("It is long."), {
    isOther: false,
    words: "results not compared: It is long.",
  });
});

test("the matrix compiles the request of the result with each change", () => {
  const document = {
    request: {
      source: "x",
      target: "cuda:90",
      triton: "3.9.0",
      launch: 0,
      arguments: null,
      options: { num_stages: 2 },
    },
    target: { name: "cuda:90" },
    triton: "3.9.0",
  };
  const matrix = matrixOf(/** @type {never} */ (document), [WARPS, BLOCK, LOOP]);
  assert.deepEqual(matrix.configurations, [
    { options: WARPS.options, constants: {}, edits: [] },
    { options: {}, constants: BLOCK.constants, edits: [] },
    { options: {}, constants: {}, edits: LOOP.edits },
  ]);
  assert.deepEqual(matrix.compilation.options, { num_stages: 2 });
  assert.deepEqual([matrix.targets, matrix.tritons], [[], []]);
});

test("a change is applied to the options, the constants and the source of a draft", () => {
  const draft = /** @type {import("../../../explorer/static/core/types.js").Draft} */ (
    /** @type {unknown} */ ({
      ...{ source: "a\nB\nc", options: { num_stages: 2 }, constants: {} },
      arguments: [{ name: "x" }, { name: "BM", value: 128 }],
    })
  );
  assert.deepEqual(applied(draft, WARPS).options, { num_stages: 2, num_warps: 8 });
  const smaller = applied(draft, BLOCK);
  assert.deepEqual(smaller.constants, { BM: 64 });
  assert.deepEqual(smaller.arguments, [{ name: "x" }, { name: "BM", value: 64 }]);
  assert.equal(smaller.source, draft.source);
  assert.equal(applied(draft, LOOP).source, "a\nb\nc");
});
