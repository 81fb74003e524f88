import "../browser.js";
import assert from "node:assert/strict";
import { mock, test } from "node:test";

const { begin, choose, editSource, openExample, openResult } = await import(
  "../../../explorer/static/launch/edit.js"
);
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

test("a paste says that it leaves the version of an example's profile, and keeps a version that was chosen", async () => {
  const toast = { textContent: "", classList: { add() {}, remove() {} } };
  Object.assign(document, { getElementById: () => toast });
  mock.method(globalThis, "fetch", async () => Response.json({ source: "import triton" }));
  const { draft } = store.state;
  store.update({
    live: false,
    tritons: { versions: ["3.9.0", "3.6.0"], default: "3.9.0" },
    gallery: /** @type {never} */ ([
      { name: "matmul", profiled_target: draft.target, profiled_triton: "3.6.0" },
    ]),
  });
  await openExample("matmul");
  assert.equal(store.state.draft.triton, "3.6.0");
  editSource("import torch", true);
  assert.equal(store.state.draft.triton, "3.9.0");
  assert.match(
    toast.textContent,
    /compiled with Triton 3\.9\.0\. Version 3\.6\.0 is that of the example's profile/,
  );

  toast.textContent = "";
  choose({ triton: "3.6.0" });
  editSource("import triton", true);
  assert.equal(store.state.draft.triton, "3.6.0");
  assert.equal(toast.textContent, "");
});
