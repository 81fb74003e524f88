import "../browser.js";
import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";
import { Result } from "../../../explorer/static/core/result.js";
import { store } from "../../../explorer/static/core/store.js";
import { startSettling } from "../../../explorer/static/findings/settle.js";

mock.timers.enable({ apis: ["setTimeout"] });
/** The compilations whose findings were requested. @type {string[]} */
const asked = [];
let isRefused = false;
mock.method(globalThis, "fetch", async (/** @type {string} */ url) => {
  asked.push(/compilations\/(\w+)\/findings/.exec(url)?.[1] ?? url);
  return Response.json(answer, { status: isRefused ? 400 : 200 });
});
/** What the server answers. @type {{findings: {}[], checked: {reason: string}[]}} */
let answer = { findings: [], checked: [] };
startSettling();

/** @param {string} id @param {{isLive?: boolean, status?: string}} [how] */
function show(id, { isLive = false, status = "complete" } = {}) {
  store.update({ result: new Result(/** @type {never} */ ({ id, status, kernel: "scale" }), isLive) });
}

function type() {
  store.update({ draft: { ...store.state.draft } });
}

beforeEach(() => {
  mock.timers.tick(1000);
  asked.length = 0;
});

test("a result that was opened is asked for its findings at once", () => {
  type();
  show("opened");
  assert.deepEqual(asked, ["opened"]);
});

test("the findings are being computed, then known, or never known", async () => {
  show("checked");
  assert.deepEqual(store.state.found, { id: "checked", words: "checking …" });
  await new Promise(setImmediate);
  assert.deepEqual(store.state.found, { id: "checked", words: "no findings" });
  isRefused = true;
  show("refused");
  assert.deepEqual(store.state.found, { id: "refused", words: "checking …" });
  await new Promise(setImmediate);
  assert.equal(store.state.found, null);
  isRefused = false;
});

test("a result of typing waits until 0.7 s after the last edit", () => {
  type();
  mock.timers.tick(200);
  show("one", { isLive: true });
  mock.timers.tick(300);
  type();
  mock.timers.tick(200);
  show("two", { isLive: true });
  mock.timers.tick(499);
  assert.deepEqual(asked, []);
  mock.timers.tick(1);
  assert.deepEqual(asked, ["two"]);
  assert.equal(store.state.settled?.id, "two");
});

test("a result of typing that arrives after the pause does not wait", () => {
  type();
  mock.timers.tick(2000);
  show("slow", { isLive: true });
  assert.deepEqual(asked, ["slow"]);
});

test("a live result that is requested by a button does not wait any longer", () => {
  type();
  show("live", { isLive: true });
  assert.deepEqual(asked, []);
  const { result } = store.state;
  assert.ok(result);
  result.isLive = false;
  store.update({ result });
  assert.deepEqual(asked, ["live"]);
});

test("a failed compilation has no findings to count", () => {
  show("failed", { status: "failed" });
  assert.deepEqual(asked, []);
});

test("the words about findings say how many checks were not possible", async () => {
  const words = async (
    /** @type {string} */ id,
    /** @type {number} */ findings,
    /** @type {number} */ left,
  ) => {
    const checked = ["a", "b", "c"].map((_, index) => ({ reason: index < left ? "No TTGIR." : "" }));
    answer = { findings: Array(findings).fill({}), checked };
    show(id);
    await new Promise((resolve) => setImmediate(resolve));
    return store.state.found?.id === id ? store.state.found.words : null;
  };
  assert.equal(await words("whole", 0, 0), "no findings");
  assert.equal(await words("pasted", 0, 2), "no findings, 2 of 3 not checked");
  assert.equal(await words("found", 1, 0), "1 finding");
  assert.equal(await words("part", 2, 1), "2 findings, 1 of 3 not checked");
});
