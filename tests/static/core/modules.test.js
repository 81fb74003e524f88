import assert from "node:assert/strict";
import { test } from "node:test";
import { isLost, loadLater } from "../../../explorer/static/core/modules.js";

const LOST = [
  "Failed to fetch dynamically imported module: http://127.0.0.1/banner.js",
  "error loading dynamically imported module: http://127.0.0.1/banner.js",
  "Importing a module script failed.",
].map((message) => new TypeError(message));

test("a module that cannot be fetched is told from other errors in each browser", () => {
  for (const error of LOST) assert.ok(isLost(error));
  assert.ok(!isLost(new TypeError("x is not a function")));
  assert.ok(!isLost(new Error("a module")));
});

test("a module is used when it has been loaded, and tried again after it was lost", async () => {
  /** @type {string[]} */
  const used = [];
  const use = (/** @type {string} */ name) => void used.push(name);
  await loadLater(() => Promise.reject(LOST[0]), use);
  assert.deepEqual(used, []);
  await loadLater(() => Promise.resolve("banner"), use);
  assert.deepEqual(used, ["banner"]);
  await assert.rejects(
    loadLater(() => Promise.reject(new Error("a fault"))),
    /a fault/,
  );
});
