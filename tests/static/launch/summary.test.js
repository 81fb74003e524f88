import "../browser.js";
import assert from "node:assert/strict";
import { test } from "node:test";
import { launchSummary } from "../../../explorer/static/launch/summary.js";
import { freshDraft } from "../../../explorer/static/core/fresh_draft.js";
import { store } from "../../../explorer/static/core/store.js";

/** @import { Draft, InspectionDocument, Target } from "../../../explorer/static/core/types.js" */

const POINTER = { name: "x", type: "*fp32", specialization: "", value: null };
const SIZE = { name: "n", type: "i32", specialization: "divisible by 16", value: 64 };
const INSPECTION = /** @type {InspectionDocument} */ (
  /** @type {unknown} */ ({
    kernels: [{ name: "scale", parameters: [{ guess: POINTER }, { guess: SIZE }] }],
    launches: [{ index: 0, kernel: "scale", grid: [4, 2], arguments: [POINTER, SIZE] }],
  })
);

/** @param {Partial<Draft>} changes @param {{isLaunched?: boolean, title?: string}} [options] */
function summary(changes, { isLaunched = true, title = "Launch · found at line 3" } = {}) {
  store.update({
    targets: /** @type {Target[]} */ ([{ name: "cuda:90", architecture: "sm_90" }]),
    tritons: { ...store.state.tritons, default: "3.6.0" },
    inspection: INSPECTION,
    draft: freshDraft("source", "cuda:90", changes),
  });
  const launch = isLaunched ? (INSPECTION.launches[0] ?? null) : null;
  return launchSummary(INSPECTION.kernels[0] ?? null, launch, title);
}

test("the line has the target, the version, the grid and the changed values", () => {
  assert.equal(summary({}), "sm_90 · Triton 3.6.0 · grid 4 × 2");
  assert.equal(
    summary({ triton: "3.9.0", config: 2, options: { num_warps: 8, enable_fp_fusion: false } }),
    "sm_90 · Triton 3.9.0 · configuration 2 · num_warps=8 · enable_fp_fusion=False",
  );
});

test("with other constants, the grid is that of their compilation", () => {
  const constants = { BLOCK: 32 };
  const request = { source: "source", constants };
  const document = { request, specialization: { launch: 0, grid: [8, 4] } };
  const before = store.state.result;
  assert.equal(summary({ constants }), "sm_90 · Triton 3.6.0 · BLOCK=32");
  store.update({ result: /** @type {never} */ ({ document }) });
  assert.equal(summary({ constants }), "sm_90 · Triton 3.6.0 · grid 8 × 4 · BLOCK=32");
  assert.equal(summary({ constants: { BLOCK: 16 } }), "sm_90 · Triton 3.6.0 · BLOCK=16");
  assert.equal(summary({}), "sm_90 · Triton 3.6.0 · grid 4 × 2");
  store.update({ result: before });
});

test("a launch that was not found in the source is named, with the arguments that differ from it", () => {
  const options = { isLaunched: false, title: "Launch · by hand" };
  const entered = /** @type {Draft["arguments"]} */ ([{ ...POINTER, type: "*bf16" }, SIZE]);
  assert.equal(
    summary({ mode: "form", arguments: entered }, options),
    "by hand · sm_90 · Triton 3.6.0 · x: *bf16",
  );
  const larger = /** @type {Draft["arguments"]} */ ([POINTER, { ...SIZE, value: 128 }]);
  assert.equal(
    summary({ mode: "form", arguments: larger }, options),
    "by hand · sm_90 · Triton 3.6.0 · n=128",
  );
});
