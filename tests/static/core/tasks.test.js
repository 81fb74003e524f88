import assert from "node:assert/strict";
import { test } from "node:test";

const { nextTask, oncePerTask } = await import("../../../explorer/static/core/tasks.js");

test("another task runs before the next task of what waits for it", async () => {
  /** @type {string[]} */
  const order = [];
  setTimeout(() => order.push("other"));
  await nextTask();
  order.push("waited");
  assert.deepEqual(order, ["other", "waited"]);
});

test("what is asked for many times in a task is done once, in a task of its own", async () => {
  let done = 0;
  const ask = oncePerTask(() => (done += 1));
  ask();
  ask();
  assert.equal(done, 0);
  await nextTask();
  assert.equal(done, 1);
  ask();
  await nextTask();
  assert.equal(done, 2);
});
