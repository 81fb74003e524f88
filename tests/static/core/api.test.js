import "../browser.js";
import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { ApiError, answerBy, api } from "../../../explorer/static/core/api.js";

const REFUSED = { error: "Too many requests", kind: "too_many_requests", detail: "Try again in 61 seconds." };

/** Let the server refuse once, and then answer. @param {number} status @param {number} seconds */
function refuseOnce(status, seconds) {
  let asked = 0;
  answerBy(async () => {
    asked += 1;
    if (asked > 1) return Response.json([]);
    return Response.json(REFUSED, { status, headers: { "Retry-After": String(seconds) } });
  });
  return () => asked;
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

test("what a client may do in a minute is waited for", async () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  const asked = refuseOnce(429, 61);
  const targets = api.targets();
  await settled();
  mock.timers.tick(60_999);
  await settled();
  assert.equal(asked(), 1);
  mock.timers.tick(61_000 / 4 + 1);
  assert.deepEqual(await targets, []);
  assert.equal(asked(), 2);
  mock.timers.reset();
});

test("a server that needs long is not waited for", async () => {
  const asked = refuseOnce(503, 60);
  await assert.rejects(api.targets(), (error) => error instanceof ApiError && error.isBusy);
  assert.equal(asked(), 1);
});

test("a connection that is lost in the middle of an answer is told from a defect", async () => {
  const stopped = new ReadableStream({
    start(stream) {
      stream.enqueue(new TextEncoder().encode('{"cut'));
      stream.error(new TypeError("Failed to fetch"));
    },
  });
  answerBy(async () => new Response(stopped));
  await assert.rejects(
    api.targets(),
    (error) => error instanceof ApiError && error.problem.kind === "unreachable" && error.status === 0,
  );
});
