import "../browser.js";
import assert from "node:assert/strict";
import { test } from "node:test";
import { documentOf, serve } from "./trial_server.js";

const { changedLines, improve } = await import("../../../explorer/static/findings/improve.js");
const { findTrials, proposalsOf, tryAll, verdictOf } = await import(
  "../../../explorer/static/findings/trials.js"
);
const { api } = await import("../../../explorer/static/core/api.js");

/** @import { Search } from "../../../explorer/static/findings/improve.js" */

const K = /** @type {never} */ (documentOf("k"));
const endless = () => new AbortController().signal;

/** The end of a search. @param {AbortSignal} [signal] @returns {Promise<Search>} */
async function found(signal = endless()) {
  /** @type {Search | null} */
  let last = null;
  await improve(K, (search) => (last = search), signal);
  return /** @type {Search} */ (/** @type {unknown} */ (last));
}

/** The verdicts of the trials of a kernel. @param {typeof tryAll | typeof findTrials} start */
async function verdicts(start) {
  const { findings } = await api.analysis("k", "findings");
  const proposals = proposalsOf(findings);
  /** @type {import("../../../explorer/static/findings/trials.js").Trials} */
  let trials = new Map();
  await start(K, proposals, (now) => (trials = now), endless());
  return [...trials.values()].map((trial, index) => verdictOf(trial, index).words);
}

test("without a GPU, a change of the source is compared, and no change is measured", async () => {
  const started = serve({});
  assert.deepEqual(await verdicts(tryAll), [
    "proven in the compiler, not measured",
    "proven in the compiler, same results, not measured",
  ]);
  assert.deepEqual(started, ["compilations/k/trials", "k-loop:interpreter"]);
});

test("with a GPU, both kernels are timed", async () => {
  serve({ hasGpu: true });
  assert.deepEqual(await verdicts(tryAll), [
    "proven in the compiler, same results, measured: 20 µs → 30 µs (29.9 µs to 30.1 µs), slower",
    "proven in the compiler, same results, measured: 20 µs → 4 µs (3.9 µs to 4.1 µs), faster",
  ]);
});

test("a change that rounds the results otherwise is said to do so", async () => {
  const started = serve({ rounded: "loop" });
  assert.equal(
    (await verdicts(tryAll))[1],
    "proven in the compiler, results are rounded otherwise, not measured",
  );
  assert.deepEqual(started, ["compilations/k/trials"]);
  serve({ rounded: "loop", hasGpu: true });
  assert.match((await verdicts(tryAll))[1] ?? "", /, results are rounded otherwise, measured: .* faster$/);
});

test("earlier trials are shown, and nothing is started", async () => {
  let started = serve({ tried: ["k"] });
  assert.deepEqual(await verdicts(findTrials), ["proven in the compiler, not measured", "both kernels run"]);
  assert.deepEqual(started, []);
  started = serve({});
  assert.deepEqual(await verdicts(findTrials), []);
  assert.deepEqual(started, []);
});

test("complete trials say so before their verdicts are known", async () => {
  serve({ tried: ["k"] });
  const { findings } = await api.analysis("k", "findings");
  /** @type {string[][]} */
  const told = [];
  const tell = (/** @type {import("../../../explorer/static/findings/trials.js").Trials} */ trials) =>
    told.push([...trials.values()].map((trial, index) => verdictOf(trial, index).words));
  await findTrials(K, proposalsOf(findings), tell, endless());
  const compared = "the findings are compared";
  assert.deepEqual(told.slice(0, 2), [
    ["waits", "waits"],
    [compared, compared],
  ]);
});

test("trials and runs that are under way when the page is closed are canceled", async (context) => {
  const started = serve({ runStatus: "running" });
  const stop = new AbortController();
  context.after(() => stop.abort());
  /** @type {typeof findTrials} */
  const start = (document, proposals, tell) => tryAll(document, proposals, tell, stop.signal);
  const trying = verdicts(start);
  const hide = (/** @type {boolean} */ persisted) =>
    dispatchEvent(Object.assign(new Event("pagehide"), { persisted }));
  const isRun = () => started.includes("k-loop:interpreter");
  for (let turn = 0; turn < 10_000 && !isRun(); turn += 1) await new Promise(setImmediate);
  assert.ok(isRun());
  hide(true); // the browser keeps the page to show it again
  const canceled = () => started.filter((each) => each.startsWith("cancel"));
  assert.deepEqual(canceled(), []);
  hide(false);
  assert.deepEqual(canceled(), ["cancel matrices/k", "cancel runs/k-loop:interpreter"]);
  stop.abort();
  await trying;
  const { length } = started;
  hide(false);
  assert.equal(started.length, length);
});

test("a search takes proven changes until none is left", async () => {
  serve({});
  const { tries, taken, last, isOver, isStopped } = await found();
  assert.deepEqual(
    tries.map(({ rule, isTaken }) => [rule, isTaken]),
    [
      ["warps", true],
      ["loop", true],
    ],
  );
  assert.deepEqual([last.id, taken.length, isOver, isStopped], ["k-warps-loop", 2, true, false]);
  assert.deepEqual(changedLines({ first: K, last }), [{ line: 2, before: "B", after: "b" }]);
});

test("a search takes no change that is slower, or has other results", async () => {
  serve({ hasGpu: true });
  const { tries, last } = await found();
  assert.deepEqual(
    tries.map(({ rule, isTaken }) => [rule, isTaken]),
    [
      ["warps", false],
      ["loop", true],
      ["warps", true],
    ],
  );
  assert.equal(last.id, "k-loop-warps");
  serve({ wrong: ["k-warps-loop"] });
  assert.equal((await found()).last.id, "k-warps");
});

test("a search leaves out a change that makes no difference to the time", async () => {
  serve({ equal: "warps" });
  assert.equal((await found()).last.id, "k-loop");
});

test("a search leaves out a change that rounds the results otherwise", async () => {
  serve({ rounded: "loop" });
  assert.equal((await found()).last.id, "k-warps");
});

test("a search takes a correction, and compares further changes with it", async () => {
  const started = serve({ correction: "warps", wrong: ["k-warps"] });
  const { tries } = await found();
  assert.deepEqual(
    tries.map(({ words, isTaken }) => [words, isTaken]),
    [
      ["proven in the compiler, results not compared: the kernel before is wrong", true],
      ["proven in the compiler, same results, not measured", true],
    ],
  );
  assert.ok(started.includes("k-warps-loop:interpreter as k-warps"));
});

test("a search that is stopped says so", async () => {
  serve({});
  const { taken, isOver, isStopped } = await found(AbortSignal.abort());
  assert.deepEqual([taken, isOver, isStopped], [[], true, true]);
});

test("a search that the server refuses ends with the reason, and keeps what it has taken", async () => {
  serve({ fails: "compilations/k-warps/trials" });
  const { taken, isOver, problem } = await found();
  assert.deepEqual([taken.length, isOver, problem], [1, true, "The server is full."]);
});

test("trials that are stopped start no run, and tell nothing more", async () => {
  const started = serve({ hasGpu: true });
  const { findings } = await api.analysis("k", "findings");
  const stop = new AbortController();
  let told = 0;
  const tell = () => {
    told += 1;
    stop.abort();
  };
  await tryAll(K, proposalsOf(findings), tell, stop.signal);
  assert.equal(told, 1);
  assert.deepEqual(started, ["compilations/k/trials", "cancel matrices/k"]);
});

test("a run that is stopped is cancelled, and nothing is said about its results", async () => {
  const started = serve({ runStatus: "running" });
  const stop = new AbortController();
  const { findings } = await api.analysis("k", "findings");
  const tell = (/** @type {import("../../../explorer/static/findings/trials.js").Trials} */ trials) => {
    for (const { verdicts, results } of trials.values()) {
      assert.ok(!results?.isOther);
      if (verdicts?.[1]?.is_proven) setTimeout(() => stop.abort());
    }
  };
  await tryAll(K, proposalsOf(findings), tell, stop.signal);
  assert.ok(started.includes("cancel runs/k-loop:interpreter"));
});

test("without the devices of the server, nothing is measured", async () => {
  serve({ hasGpu: true, fails: "compilations/k/runs" });
  assert.match((await verdicts(tryAll))[1] ?? "", /same results, not measured$/);
});
