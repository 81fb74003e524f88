import "../browser.js";
import assert from "node:assert/strict";
import { test } from "node:test";
import { answerBy } from "../../../explorer/static/core/api.js";
import { follow } from "../../../explorer/static/core/events.js";

const ADDRESS = "/api/v1/compilations/abc/events?follower=me";
/** @type {Stream[]} */
let streams = [];

/** The browser's event stream, which the test fills. */
class Stream extends EventTarget {
  static CLOSED = 2;
  readyState = 1;

  /** @param {string} address */
  constructor(address) {
    super();
    this.address = address;
    streams.push(this);
  }

  /** @param {string} kind @param {string} lastEventId */
  send(kind, lastEventId) {
    this.dispatchEvent(Object.assign(new Event(kind), { data: "{}", lastEventId }));
  }

  close() {
    this.readyState = Stream.CLOSED;
  }
}

/** @type {EventTarget & {hidden: boolean}} */
const tab = Object.assign(new EventTarget(), { hidden: false });
Object.assign(globalThis, { EventSource: Stream, document: tab });

const settled = () => new Promise((resolve) => setImmediate(resolve));

/** @param {boolean} hidden */
async function turn(hidden) {
  tab.hidden = hidden;
  tab.dispatchEvent(new Event("visibilitychange"));
  await settled();
}

/** Follow a job. @param {{status: string}} job what the server answers */
function begin(job) {
  streams = [];
  /** @type {string[]} */
  const seen = [];
  answerBy(async (url) => {
    seen.push(`read ${url}`);
    return Response.json(job);
  });
  const ended = follow(ADDRESS, {
    on: { stage: () => seen.push("stage") },
    readDocument: async () => {
      seen.push("document");
      return job.status === "complete";
    },
  });
  return { seen, ended };
}

const POLLED = "read /api/v1/compilations/abc?follower=me";

test("a hidden tab holds no stream, and goes on after its last event", async () => {
  const { seen, ended } = begin({ status: "running" });
  await settled();
  streams[0]?.send("stage", "7");
  await turn(true);
  assert.equal(streams[0]?.readyState, Stream.CLOSED);
  assert.deepEqual(seen, ["stage", POLLED]);
  await turn(false);
  assert.deepEqual(
    streams.map(({ address }) => address),
    [ADDRESS, `${ADDRESS}&last=7`],
  );
  streams[1]?.send("done", "8");
  await ended;
  assert.equal(streams[1]?.readyState, Stream.CLOSED);
  await turn(true);
  assert.deepEqual(seen, ["stage", POLLED]);
});

test("a job that ends while its tab is hidden needs no stream", async () => {
  await turn(true);
  const { seen, ended } = begin({ status: "complete" });
  await ended;
  assert.deepEqual(seen, [POLLED, "document"]);
  assert.equal(streams.length, 0);
});
