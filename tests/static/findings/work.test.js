import "../browser.js";
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { documentOf, serve } from "./trial_server.js";

const { Result } = await import("../../../explorer/static/core/result.js");
const { store } = await import("../../../explorer/static/core/store.js");
const { findTrials, tryAll } = await import("../../../explorer/static/findings/trials.js");
const { Work, settled } = await import("../../../explorer/static/findings/work.js");

/** What toasts have said. */
const toasted = { textContent: "", classList: { add() {}, remove() {} } };
Object.assign(document, { getElementById: () => toasted });

const [FIRST, SECOND] = ["k", "k-warps"].map(
  (id) => new Result(/** @type {never} */ ({ ...documentOf(id), status: "complete" }), true),
);
assert.ok(FIRST && SECOND);
/** The words of the first changes. @param {InstanceType<typeof Work>} work */
const words = (work) =>
  [...work.trials.values()].map(({ change }, index) => work.verdict(FIRST, index, change).words);

beforeEach(() => store.update({ settled: FIRST, result: FIRST }));

test("a result whose module is lost is settled", () => {
  assert.equal(settled(), FIRST);
  store.update({ settled: null });
  assert.equal(settled(), FIRST);
  store.update({ result: null });
  assert.equal(settled(), null);
});

test("changes are tried for the result that has the findings, while a newer one is shown", async () => {
  const started = serve({});
  const work = new Work(() => {});
  const answer = await work.load(FIRST);
  store.update({ result: SECOND });
  await work.tryWith(tryAll, answer);
  assert.equal(work.tried, FIRST);
  assert.ok(work.isComplete(answer));
  assert.ok(started.includes("compilations/k/trials"));
  assert.ok(!started.some((path) => path.startsWith("compilations/k-warps")));
});

test("findings that arrive after a different result has settled start nothing", async () => {
  const started = serve({ tried: ["k"] });
  const work = new Work(() => {});
  const loading = work.load(FIRST);
  store.update({ settled: SECOND, result: SECOND });
  const answer = await loading;
  await work.tryWith(tryAll, answer);
  assert.equal(work.tried, null);
  assert.deepEqual(started, []);
});

test("trials of a result that is no longer settled are not shown", async () => {
  serve({});
  const work = new Work(() => {});
  const answer = await work.load(FIRST);
  const trying = work.tryWith(tryAll, answer);
  store.update({ settled: SECOND, result: SECOND });
  await trying;
  assert.equal(work.tried, null);
});

test("trials that the server refuses say why, and can be started again", async () => {
  serve({ fails: "compilations/k/trials" });
  const work = new Work(() => {});
  const answer = await work.load(FIRST);
  await work.tryWith(tryAll, answer);
  assert.equal(toasted.textContent, "The server is full.");
  assert.equal(work.following, null);
  assert.ok(!work.isComplete(answer));
});

test("trials that fail under way are stopped", async () => {
  for (const start of [tryAll, findTrials]) {
    serve({ tried: ["k"], fails: "matrices/k" });
    const work = new Work(() => {});
    const answer = await work.load(FIRST);
    await work.tryWith(start, answer);
    assert.deepEqual(words(work), ["stopped", "stopped"]);
    assert.ok(!work.isComplete(answer));
  }
});

test("a change has one state: by its earlier trial, or by the search that has compared its results", async () => {
  serve({ tried: ["k"] });
  const work = new Work(() => {});
  await work.load(FIRST);
  while (work.following) await new Promise((resolve) => setTimeout(resolve));
  assert.deepEqual(words(work)[1], "results not compared");
  serve({ hasGpu: true });
  await work.improve(FIRST);
  const said = work.search?.tries.map(({ words: each }) => each);
  assert.match(said?.[1] ?? "", /same results.* faster$/);
  assert.deepEqual(words(work), said?.slice(0, 2));
  assert.equal(work.search?.tries[1]?.details, "y (64 × 32): relative error 1.0e-4, tolerance 0.01");
});

test("a search is stopped when a different result has settled", async () => {
  serve({});
  const work = new Work(() => {});
  const searching = work.improve(FIRST);
  store.update({ settled: SECOND, result: SECOND });
  await searching;
  assert.equal(work.searchOf(SECOND), null);
  assert.deepEqual([work.search?.isOver, work.search?.isStopped], [true, true]);
});
