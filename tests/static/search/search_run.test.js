import "../browser.js";
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { findLines } from "../../../explorer/static/search/found_lines.js";

const { SearchRun } = await import("../../../explorer/static/search/search_run.js");
const { TextWorker } = await import("../../../explorer/static/search/text_worker.js");

/** @import { SearchedText } from "../../../explorer/static/search/searched_texts.js" */

const MISSING = "missing script";
const FAILING = "failing";
const HOSTILE = "(a+)+$";
/** @type {FakeWorker[]} */
let workers = [];

/** Answers as the script of the worker does, and never to the hostile expression. */
class FakeWorker {
  /** @type {Map<string, string[]>} */
  texts = new Map();
  received = 0;
  isTerminated = false;
  /** @type {(event: {data: unknown}) => void} */
  onmessage = () => {};
  onerror = () => {};

  /** @param {string} script */
  constructor(script) {
    workers.push(this);
    if (script === MISSING) queueMicrotask(() => this.onerror());
  }

  /** @param {{key: string, lines?: string[], query: import("../../../explorer/static/text/text_search.js").Query, columns: number}} message */
  postMessage({ key, lines, query, columns }) {
    if (lines) {
      this.received += 1;
      this.texts.set(key, lines);
    }
    if (query.text === FAILING) queueMicrotask(() => this.onerror());
    else queueMicrotask(() => this.onmessage({ data: null }));
    if (![FAILING, HOSTILE].includes(query.text))
      queueMicrotask(() => this.onmessage({ data: findLines(this.texts.get(key) ?? [], query, columns) }));
  }

  terminate() {
    this.isTerminated = true;
  }
}
Object.assign(globalThis, { Worker: FakeWorker });

/** @param {string} title @param {string[] | null} lines @returns {SearchedText} */
const text = (title, lines) => ({
  key: title,
  title,
  hue: "",
  isPass: false,
  read: async () => lines,
  paneOf: () => "",
  go: () => {},
});
const TEXTS = [
  text("TTIR", ["tt.load", "tt.store"]),
  text("PTX", ["ld.global", "st.global"]),
  text("SASS", null),
];
const pattern = (/** @type {string} */ words) => ({ text: words, isPattern: true, isExact: false });

beforeEach(() => {
  workers = [];
});

test("all texts are searched, and a text that cannot be fetched is named", async () => {
  const worker = new TextWorker(async () => "script");
  const run = new SearchRun(worker, TEXTS, pattern("load|ld|st"), 80);
  let changes = 0;
  await run.start(() => (changes += 1));
  assert.deepEqual(
    [...run.found].map(([{ title }, { matches }]) => [title, matches]),
    [
      ["TTIR", 2],
      ["PTX", 2],
    ],
  );
  assert.equal(run.words, "4 matches in 2 texts. Could not be fetched: SASS.");
  assert.equal(changes, 7);

  // The worker keeps the texts for the next search.
  const next = new SearchRun(worker, TEXTS.slice(0, 2), pattern("nothing"), 80);
  await next.start(() => {});
  assert.equal(next.words, "No match.");
  assert.deepEqual(
    workers.map(({ received }) => received),
    [2],
  );
});

test("the time limit begins when the worker has the text", async () => {
  const worker = new TextWorker(async () => "script", 20);
  /** @type {(lines: string[]) => void} */
  let arrive = () => {};
  const slow = { ...text("PTX", null), read: () => new Promise((resolve) => (arrive = resolve)) };
  const run = new SearchRun(worker, [slow], { text: "ld", isPattern: false, isExact: false }, 80);
  const ended = run.start(() => {});
  await new Promise((resolve) => setTimeout(resolve, 30));
  assert.equal(run.words, "0 matches so far, loading PTX …");
  arrive(["ld.global"]);
  await new Promise((resolve) => setImmediate(resolve));
  await ended;
  assert.equal(run.words, "1 match in 1 text.");
});

test("a worker that starts slowly is waited for", async () => {
  class SlowWorker extends FakeWorker {
    /** @param {Parameters<FakeWorker["postMessage"]>[0]} message @override */
    postMessage(message) {
      setTimeout(() => super.postMessage(message), 40);
    }
  }
  Object.assign(globalThis, { Worker: SlowWorker });
  const run = new SearchRun(new TextWorker(async () => "script", 20), TEXTS.slice(0, 1), pattern("load"), 80);
  await run.start(() => {});
  Object.assign(globalThis, { Worker: FakeWorker });
  assert.equal(run.words, "1 match in 1 text.");
});

test("only a regular expression gets the advice about repetitions", async () => {
  const query = { text: HOSTILE, isPattern: false, isExact: false };
  const run = new SearchRun(new TextWorker(async () => "script", 20), TEXTS, query, 80);
  await run.start(() => {});
  assert.equal(run.words, "Stopped: the search takes too long. Try again.");
});

test("an expression that never ends is stopped with its worker, and the next search starts another", async () => {
  const worker = new TextWorker(async () => "script", 20);
  const run = new SearchRun(worker, TEXTS, pattern(HOSTILE), 80);
  await run.start(() => {});
  assert.match(run.words, /^Stopped: the expression takes too long/);
  assert.deepEqual(
    workers.map(({ isTerminated }) => isTerminated),
    [true],
  );
  const next = new SearchRun(worker, TEXTS.slice(0, 2), pattern("global"), 80);
  await next.start(() => {});
  assert.equal(next.words, "2 matches in 1 text.");
  assert.equal(workers.length, 2);
});

test("a search that was answered in time is not stopped later", async () => {
  const worker = new TextWorker(async () => "script", 20);
  await new SearchRun(worker, TEXTS.slice(0, 2), pattern("load"), 80).start(() => {});
  await new Promise((resolve) => setTimeout(resolve, 40));
  assert.equal(workers[0]?.isTerminated, false);
});

for (const [title, script, words] of /** @type {const} */ ([
  ["whose script cannot be loaded", MISSING, "global"],
  ["that fails", "script", FAILING],
])) {
  test(`a worker ${title} ends the search, and the next search starts another`, async () => {
    let address = script;
    const worker = new TextWorker(async () => address);
    const run = new SearchRun(worker, TEXTS, pattern(words), 80);
    await run.start(() => {});
    assert.equal(run.words, "The search failed. Try again.");
    assert.equal(run.isDone, true);
    address = "script";
    const next = new SearchRun(worker, TEXTS.slice(0, 2), pattern("global"), 80);
    await next.start(() => {});
    assert.equal(next.words, "2 matches in 1 text.");
    assert.equal(workers.length, 2);
  });
}

test("a script without an address ends the search", async () => {
  const worker = new TextWorker(() => Promise.reject(new TypeError("no network")));
  const run = new SearchRun(worker, TEXTS, pattern("global"), 80);
  await run.start(() => {});
  assert.equal(run.words, "The search failed. Try again.");
});

test("a search ends the search before it", async () => {
  const worker = new TextWorker(async () => "script");
  const run = new SearchRun(worker, TEXTS, pattern(HOSTILE), 80);
  const ended = run.start(() => run.isCanceled && assert.fail("it is canceled"));
  await new Promise((resolve) => setTimeout(resolve));
  run.cancel();
  await ended;
  assert.equal(run.isDone, false);
  assert.equal(workers[0]?.isTerminated, true);
});

test("a wrong expression is searched for once", async () => {
  const run = new SearchRun(new TextWorker(async () => "script"), TEXTS, pattern("tt("), 80);
  await run.start(() => {});
  assert.equal(run.words, "Not a regular expression: Unterminated group.");
  assert.equal(workers[0]?.received, 1);
});
