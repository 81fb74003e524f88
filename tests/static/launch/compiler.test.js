import "../browser.js";
import assert from "node:assert/strict";
import { mock, test } from "node:test";

const { choose, begin } = await import("../../../explorer/static/launch/edit.js");
const { store } = await import("../../../explorer/static/core/store.js");
const { fieldsOf } = await import("../../../explorer/static/launch/value_lists.js");

const KERNEL = {
  name: "scale",
  line: 1,
  configs: [],
  parameters: [{ name: "BLOCK", is_constexpr: true, guess: { name: "BLOCK", type: "constexpr", value: 64 } }],
};

/** The names of the lists of values. */
const names = () => fieldsOf(store.state.draft, store.state.inspection, {}).map(({ name }) => name);

test("a compilation that ends before it finds the kernels leaves the lists of their constants", async () => {
  /** The status and the kernels of the next compilations. @type {[string, {}[]][]} */
  const outcomes = [];
  /** @type {Map<string, {}>} */
  const documents = new Map();
  mock.method(globalThis, "fetch", async (/** @type {string} */ url, /** @type {RequestInit} */ init) => {
    const id = /compilations\/(\w+)/.exec(url)?.[1];
    if (init?.method !== "POST") return Response.json(documents.get(id ?? ""));
    const [status, kernels] = outcomes.shift() ?? ["failed", []];
    const ticket = `job${documents.size}`;
    const request = {
      arguments: null,
      options: {},
      constants: {},
      files: {},
      ...JSON.parse(String(init.body)),
    };
    const empty = { launches: [], stages: [], passes: [], diagnostics: [], logs: [], alternatives: [] };
    const target = { name: "cuda:90", stages: [] };
    documents.set(ticket, { ...empty, id: ticket, status, kernels, request, target, output_code: null });
    return Response.json({ id: ticket });
  });
  const compiled = async (
    /** @type {string} */ status,
    /** @type {{}[]} */ kernels,
    /** @type {{}} */ changes,
  ) => {
    outcomes.push([status, kernels]);
    choose(changes);
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    assert.equal(store.state.result?.document.status, status);
    return names();
  };
  store.update({ tritons: { versions: ["3.9.0"], default: "3.9.0" } });
  begin();
  const source = "def scale(BLOCK): ...";
  assert.ok((await compiled("complete", [KERNEL], { source, target: "cuda:90" })).includes("BLOCK"));
  // A row of the table is opened, and its job reaches the time limit.
  assert.ok((await compiled("failed", [], { options: { num_warps: 2 } })).includes("BLOCK"));
  assert.ok((await compiled("failed", [], { options: { num_warps: 8 } })).includes("BLOCK"));
  // Another source has other kernels.
  assert.ok(!(await compiled("failed", [], { source: "while" })).includes("BLOCK"));
});
