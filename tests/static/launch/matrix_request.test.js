/** Test how drafts of one kernel become a matrix. */
import "../browser.js";
import assert from "node:assert/strict";
import { test } from "node:test";
import { freshDraft } from "../../../explorer/static/core/fresh_draft.js";
import { matrixOf } from "../../../explorer/static/launch/matrix_request.js";

const BASE = freshDraft("pass", "cuda:90", { triton: "3.9.0" });

test("configurations, targets and versions are listed once", () => {
  const drafts = [0, 1].flatMap((config) =>
    ["cuda:80", "cuda:90"].map((target) => ({ ...BASE, target, config, options: { num_warps: 2 } })),
  );
  assert.deepEqual(matrixOf(drafts), {
    compilation: { source: "pass", target: "cuda:80", triton: "3.9.0" },
    configurations: [
      { config: 0, options: { num_warps: 2 }, constants: {} },
      { config: 1, options: { num_warps: 2 }, constants: {} },
    ],
    targets: ["cuda:80", "cuda:90"],
    tritons: ["3.9.0"],
  });
});

test("arguments that differ are constants of the configuration", () => {
  const drafts = [64, 128].map((value, config) => ({
    ...BASE,
    mode: /** @type {const} */ ("form"),
    config,
    arguments: /** @type {any} */ ([
      { name: "n", type: "i32" },
      { name: "BLOCK", type: "constexpr", value },
    ]),
  }));
  const { compilation, configurations } = matrixOf(drafts);
  assert.deepEqual(
    configurations.map(({ constants }) => constants),
    [{}, { BLOCK: 128 }],
  );
  assert.equal(compilation.arguments?.length, 2);
});

test("constants that a draft sets beside its launch belong to the configuration", () => {
  const drafts = [64, 128].map((BLOCK) => ({ ...BASE, constants: { BLOCK } }));
  const { compilation, configurations } = matrixOf(drafts);
  assert.deepEqual(
    configurations.map(({ constants }) => constants),
    [{ BLOCK: 64 }, { BLOCK: 128 }],
  );
  assert.equal("constants" in compilation, false);
});
