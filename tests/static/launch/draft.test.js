import "../browser.js";
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import {
  draftOf,
  forgetDraft,
  guessOf,
  keepDraft,
  keptDraft,
  kernelOf,
  launchOf,
  requestOf,
  sameRequest,
  unsentDraft,
} from "../../../explorer/static/launch/draft.js";
import { freshDraft } from "../../../explorer/static/core/fresh_draft.js";

/** @import { Argument, CompilationDocument, InspectionDocument, Kernel, Specialized } from "../../../explorer/static/core/types.js" */

const TARGET = "cuda:90";
/** @type {Argument} */
const ARGUMENT = { name: "n", type: "i32", specialization: "", value: 3, shape: null, strides: null };
const INSPECTION = /** @type {InspectionDocument} */ (
  /** @type {unknown} */ ({
    kernels: [{ name: "first" }, { name: "second" }],
    launches: [
      { index: 0, kernel: "second" },
      { index: 1, kernel: "first" },
      { index: 2, kernel: "second" },
    ],
  })
);

beforeEach(() => {
  localStorage.clear();
  sessionStorage.clear();
});

test("a request has nothing that was left open", () =>
  assert.deepEqual(requestOf(freshDraft("source", TARGET)), { source: "source", target: TARGET }));

test("a request has the arguments of its mode only", () => {
  const draft = freshDraft("source", TARGET, { launch: 2, arguments: [ARGUMENT], signature: " *fp16 " });
  assert.deepEqual(requestOf(draft), { source: "source", target: TARGET, launch: 2 });
  assert.deepEqual(requestOf({ ...draft, mode: "form" }).arguments, [ARGUMENT]);
  assert.equal(requestOf({ ...draft, mode: "signature" }).arguments, "*fp16");
  assert.equal(requestOf({ ...draft, mode: "signature" }).launch, undefined);
});

for (const more of [
  { kernel: "scale", launch: 1, config: 0, private: "0123456789abcdef0123456789abcdef" },
  { mode: /** @type {const} */ ("form"), arguments: [ARGUMENT], options: { num_warps: 8 } },
  { mode: /** @type {const} */ ("signature"), signature: "*fp16, i32" },
  { scriptArguments: "--rows 64" },
]) {
  test(`the draft of a result asks for the same again: ${Object.keys(more)}`, () => {
    const draft = freshDraft("source", TARGET, { triton: "3.6.0", ...more });
    const document = { request: requestOf(draft), target: { name: TARGET }, triton: "3.6.0" };
    const again = draftOf(/** @type {CompilationDocument} */ (/** @type {unknown} */ (document)));
    assert.ok(sameRequest(draft, again));
    assert.deepEqual(again, draft);
  });
}

test("the kernel is the one named, else that of the launch, else the first", () => {
  const draft = freshDraft("source", TARGET);
  assert.equal(kernelOf({ ...draft, kernel: "first" }, INSPECTION)?.name, "first");
  assert.equal(kernelOf(draft, INSPECTION)?.name, "second");
  assert.equal(kernelOf({ ...draft, kernel: "renamed" }, { ...INSPECTION, launches: [] })?.name, "first");
  assert.equal(kernelOf(draft, null), null);
});

test("the launch is the one chosen, else the first of the kernel", () => {
  const draft = freshDraft("source", TARGET, { kernel: "second" });
  assert.equal(launchOf({ ...draft, launch: 2 }, INSPECTION)?.index, 2);
  assert.equal(launchOf({ ...draft, launch: 1 }, INSPECTION)?.index, 0);
  assert.equal(launchOf({ ...draft, mode: "form" }, INSPECTION), null);
});

test("a draft is kept, and found behind the result that it was edited from only", () => {
  const draft = freshDraft("source", TARGET, { typed: { "n.value": "x" } });
  keepDraft(draft, "result");
  assert.deepEqual(keptDraft("other"), draft);
  assert.deepEqual(unsentDraft("result", "other"), draft);
  assert.equal(unsentDraft("another", "other"), null);
  forgetDraft();
  assert.equal(keptDraft("other"), null);
  assert.equal(unsentDraft("result", "other"), null);
});

for (const text of ["", "{", "null", "3", '{"source": 3}', '{"source": "  "}']) {
  test(`${JSON.stringify(text)} in storage is no draft`, () => {
    localStorage.setItem("draft", text);
    assert.equal(keptDraft(TARGET), null);
  });
}

test("what a draft of an earlier version lacks is as in a new one", () => {
  localStorage.setItem("draft", '{"source": "kernel"}');
  assert.deepEqual(keptDraft(TARGET), freshDraft("kernel", TARGET));
});

test("guesses come from the compilation, or else from the inspection", () => {
  const kernel = /** @type {Kernel} */ (
    /** @type {unknown} */ ({ parameters: [{ name: "n", guess: ARGUMENT, reason: "By its name." }] })
  );
  assert.deepEqual(guessOf(kernel, null), { arguments: [ARGUMENT], guessed: { n: "By its name." } });
  const compiled = {
    arguments: [{ ...ARGUMENT, type: "i64" }],
    guesses: { n: "The compiler rejected i32." },
  };
  const specialized = /** @type {Specialized} */ (/** @type {unknown} */ (compiled));
  assert.equal(guessOf(kernel, specialized).arguments[0]?.type, "i64");
  const launched = /** @type {Specialized} */ (/** @type {unknown} */ ({ ...compiled, guesses: {} }));
  assert.equal(guessOf(kernel, launched).arguments[0]?.type, "i32");
});

test("the files beside a script are asked for, and come back with a result", () => {
  const files = { "tools.py": "x = 1" };
  const draft = freshDraft("source", TARGET, { path: "script.py", files });
  assert.deepEqual(requestOf(draft), { source: "source", target: TARGET, path: "script.py", files });
  const document = /** @type {CompilationDocument} */ (
    /** @type {unknown} */ ({ request: requestOf(draft), target: { name: TARGET }, triton: null })
  );
  assert.ok(sameRequest(draftOf(document), draft));
});
