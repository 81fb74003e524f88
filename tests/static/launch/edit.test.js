import "../browser.js";
import assert from "node:assert/strict";
import { mock, test } from "node:test";

const { begin, editSource, openResult } = await import("../../../explorer/static/launch/edit.js");
const { store } = await import("../../../explorer/static/core/store.js");

test("what was typed before a result is opened is not compiled", async () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  /** @type {string[]} */
  const asked = [];
  mock.method(
    globalThis,
    "fetch",
    async (/** @type {URL | string} */ url, /** @type {RequestInit} */ init) => {
      asked.push(`${init?.method ?? "GET"} ${new URL(url, location.origin).pathname}`);
      return new Promise(() => {});
    },
  );
  store.update({ live: true });
  begin();
  editSource("import triton", true);
  void openResult("0123456789abcdef");
  mock.timers.tick(10_000);
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(asked, ["GET /api/v1/compilations/0123456789abcdef"]);

  editSource("import torch", true);
  mock.timers.tick(10_000);
  await new Promise((resolve) => setImmediate(resolve));
  assert.ok(asked.includes("POST /api/v1/compilations"), asked.join());
});
