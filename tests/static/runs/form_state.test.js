import assert from "node:assert/strict";
import { test } from "node:test";
import {
  firstRun,
  formProblems,
  lackOf,
  launchOf,
  launchable,
  measuresOf,
  runOf,
} from "../../../explorer/static/runs/form_state.js";

/** @type {any} */
const KINDS = [
  { name: "check", devices: ["interpreter", "gpu"] },
  { name: "time", devices: ["gpu"] },
  { name: "energy", devices: ["gpu"] },
  { name: "sweep", devices: ["gpu"] },
];
/** @type {any} */
const COMPILATION = {
  kernel: "add",
  launches: [{ kernel: "add" }],
  kernels: [{ name: "add", configs: [] }],
  specialization: null,
  request: { source: "BLOCK = 128\n" },
};
/** @type {any} */
const FORM = {
  measures: null,
  what: null,
  inputs: [],
  sizes: "",
  benchmarkSizes: "",
  grid: "",
  reference: " ",
  seed: "0",
  repeats: "50",
  sweepSize: "",
  sweepValues: "",
};

test("a measure that only the server knows can be ticked where its device is chosen", () => {
  const form = { ...FORM, measures: ["energy", "check"] };
  assert.deepEqual(measuresOf(form, "gpu", KINDS), ["check", "energy"]);
  assert.deepEqual(measuresOf(form, "interpreter", KINDS), ["check"]);
});

test("without a tick a run has the measures of its preset", () => {
  assert.deepEqual(measuresOf({ ...FORM, measures: [] }, "interpreter", KINDS), ["check", "counts"]);
  assert.deepEqual(measuresOf(FORM, "gpu", KINDS), ["check", "time"]);
});

test("a kernel that the script launches is run as launched, others with inputs", () => {
  assert.deepEqual(launchable(COMPILATION), ["launch", "inputs"]);
  const source = "@triton.testing.perf_report(x)\n";
  assert.deepEqual(launchable({ ...COMPILATION, launches: [], request: { source } }), [
    "benchmark",
    "inputs",
  ]);
});

test("each problem names its field", () => {
  const inputs = [{ name: "x", type: "*fp32", shape: "n, k", value: "", distribution: "normal" }];
  const form = { ...FORM, what: "inputs", inputs, sizes: "n = 10", grid: "", seed: "-1" };
  const fields = formProblems(COMPILATION, form, "gpu", KINDS).map(({ field }) => field);
  assert.deepEqual(fields, ["input.x", "grid", "seed"]);
});

test("the number of repeats matters to measures that time", () => {
  const form = { ...FORM, repeats: "many" };
  assert.deepEqual(formProblems(COMPILATION, form, "interpreter", KINDS), []);
  assert.match(formProblems(COMPILATION, form, "gpu", KINDS)[0]?.words ?? "", /from 1 to 1,000/);
});

test("a launch without a benchmark has nothing to sweep", () => {
  const [problem] = formProblems(COMPILATION, { ...FORM, measures: ["sweep"] }, "gpu", KINDS);
  assert.match(problem?.words ?? "", /has no benchmark/);
});

test("a form becomes the request of a run", () => {
  const inputs = [
    { name: "x", type: "*fp32", shape: "n, 2 * n", value: "", distribution: "ones" },
    { name: "scale", type: "fp32", shape: null, value: " 2.5 ", distribution: "normal" },
  ];
  const form = { ...FORM, what: "inputs", inputs, sizes: "n = 2**4", grid: "n, 1", sweepSize: "n" };
  const run = runOf(COMPILATION, form, "gpu", KINDS);
  assert.deepEqual([run.grid, run.sizes, run.reference, run.sweep_size], [["n", "1"], { n: 16 }, "", ""]);
  assert.deepEqual(
    run.inputs.map(({ shape, value }) => [shape, value]),
    [
      [["n", "2 * n"], ""],
      [null, "2.5"],
    ],
  );
});

test("a preset says what it lacks", () => {
  assert.equal(lackOf("run", "interpreter", COMPILATION), "");
  assert.match(lackOf("profile", "interpreter", COMPILATION), /needs a GPU/);
  assert.match(lackOf("autotune", "gpu", COMPILATION), /no autotune configurations/);
});

test("the first run is the newest with a measurement, then a profile, then a failed run", () => {
  const run = (
    /** @type {string} */ id,
    /** @type {string} */ status,
    /** @type {object[]} */ measurements,
  ) => /** @type {any} */ ({ id, status, measurements });
  const failed = run("failed", "failed", []);
  const running = run("running", "running", [{}]);
  const complete = run("complete", "complete", [{}]);
  const profile = run("profile", "complete", [{}]);
  assert.equal(firstRun({ runs: [running, failed, complete], recordings: [profile] })?.id, "complete");
  assert.equal(firstRun({ runs: [running, failed], recordings: [profile] })?.id, "profile");
  assert.equal(firstRun({ runs: [running, failed], recordings: [] })?.id, "failed");
  assert.equal(firstRun({ runs: [running], recordings: [] }), undefined);
});

test("the grid and the arguments of a launch follow the constants of the compilation", () => {
  const launched = {
    index: 0,
    line: 9,
    kernel: "scale",
    grid: [16],
    arguments: [{ name: "BLOCK", value: 256 }],
  };
  const changed = { grid: [32], arguments: [{ name: "BLOCK", value: 128 }] };
  /** @type {any} */
  const compilation = { launches: [launched], specialization: { launch: 0, ...changed }, kernel: "scale" };
  assert.deepEqual(launchOf(compilation), { ...launched, ...changed });
});
