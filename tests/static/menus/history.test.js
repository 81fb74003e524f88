import "../browser.js";
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { expectOwn, isExpected } from "../../../explorer/static/menus/expected_results.js";
import {
  clearHistory,
  earlierVersions,
  ownResults,
  record,
  setFavourite,
  shownResults,
  titleOf,
} from "../../../explorer/static/menus/history.js";

/** @import { CompilationDocument } from "../../../explorer/static/core/types.js" */

/** @param {string} id @param {string} [kernel] */
function finished(id, kernel = "scale") {
  const target = { name: "cuda:90", title: "H100", architecture: "sm_90", vendor: "NVIDIA" };
  const request = { source: '"""Scale a vector."""\n', target: "cuda:90" };
  const document = { id, kernel, target, triton: "3.6.0", status: "complete", request, specialization: null };
  return /** @type {CompilationDocument} */ (/** @type {unknown} */ (document));
}

beforeEach(() => localStorage.clear());

test("a result is listed once, the newest first, and only favourites outlast the list", () => {
  for (const id of ["a", "b", "a"]) record(finished(id));
  assert.deepEqual(
    ownResults().map(({ id }) => id),
    ["a", "b"],
  );
  assert.equal(ownResults()[0]?.title, "Scale a vector.");
  setFavourite("b", true);
  clearHistory();
  assert.deepEqual(
    ownResults().map(({ id }) => id),
    ["b"],
  );
  setFavourite("b", false);
  clearHistory();
  assert.deepEqual(ownResults(), []);
});

test("kernels that are found in a program are no failure", () => {
  record({ ...finished("a", ""), status: "kernels_found" });
  record({ ...finished("b", ""), status: "failed" });
  assert.deepEqual(
    ownResults().map(({ status }) => status),
    ["failed", "kernels_found"],
  );
});

test("the list is of bounded length", () => {
  for (let number = 0; number < 120; number += 1) record(finished(`id-${number}`));
  assert.equal(ownResults().length, 100);
  assert.equal(ownResults()[0]?.id, "id-119");
});

test("a favourite is at the top, and the limit does not drop it", () => {
  for (const id of ["old", "star", "new"]) record(finished(id));
  setFavourite("star", true);
  assert.deepEqual(
    shownResults().map(({ id }) => id),
    ["star", "new", "old"],
  );
  for (let number = 0; number < 120; number += 1) record(finished(`id-${number}`));
  assert.equal(shownResults()[0]?.id, "star");
  assert.equal(ownResults().length, 101);
  record(finished("star"));
  assert.equal(shownResults()[0]?.isFavourite, true);
  setFavourite("star", false);
  assert.equal(ownResults().length, 100);
});

test("the next live result replaces the last one, unless that is a favourite", () => {
  record(finished("a"), true);
  record(finished("b"), true);
  setFavourite("b", true);
  record(finished("c"), true);
  assert.deepEqual(
    ownResults().map(({ id }) => id),
    ["c", "b"],
  );
});

test("a result is expected until it is listed", () => {
  expectOwn("a");
  expectOwn("b");
  record(finished("a"));
  assert.equal(isExpected("a"), false);
  assert.equal(isExpected("b"), true);
});

test("earlier versions are the results of the same kernel without the result itself", () => {
  record(finished("a"));
  record(finished("b", "other"));
  record(finished("c"));
  assert.deepEqual(
    earlierVersions(finished("c")).map(({ id }) => id),
    ["a"],
  );
});

for (const text of ["{", "3", '[{"id": "a"}]', "[null]"]) {
  test(`${text} in storage lists nothing`, () => {
    localStorage.setItem("history", text);
    assert.deepEqual(ownResults(), []);
  });
}

for (const [source, title] of /** @type {const} */ ([
  ['# Copyright\n"""Softmax of rows.\n\nMore."""', "Softmax of rows."],
  ["#!/usr/bin/env python\n# Softmax\nimport triton", "Softmax"],
  ["import triton\n\ndef kernel(x_ptr):\n    pass", "def kernel(x_ptr):"],
  [`# ${"x".repeat(200)}`, "x".repeat(100)],
])) {
  test(`the title of ${JSON.stringify(source.slice(0, 30))}`, () => assert.equal(titleOf(source), title));
}
