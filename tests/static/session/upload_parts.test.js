import assert from "node:assert/strict";
import { test } from "node:test";
import {
  groupsOf,
  importKind,
  partsOf,
  withoutFolder,
} from "../../../explorer/static/session/upload_parts.js";

const CACHE = ["B/__grp__k.json", "B/k.json", "B/k.ttir", "A/__grp__k.json", "A/k.so", "C/utils.so"];

test("captures, caches, dumps, traces, logs and cubins are imported, scripts are not", () => {
  assert.equal(importKind(["capture.json", "kernels/1.json"]), "capture");
  assert.equal(importKind(CACHE), "kernels");
  assert.equal(importKind(["k.ttgir"]), "kernels");
  assert.equal(importKind(["a.ndjson", "notes.txt"]), "traces");
  assert.equal(importKind(["a.ndjson.gz"]), "traces");
  assert.equal(importKind(["dedicated_log_torch_trace_x.log"]), "traces");
  assert.equal(importKind(["output.txt"]), "traces");
  assert.equal(importKind(["first.cubin", "second.cubin"]), "traces");
  assert.equal(importKind(["kernel.py", "kernel.cubin"]), null);
  assert.equal(importKind(["a.txt", "b.txt"]), null);
  assert.equal(importKind(["train.py", "run.log"]), null);
  assert.equal(importKind(["src/train.py", "run.log"]), null);
  assert.equal(importKind(["train.py", "dump/k.ttgir"]), null);
  assert.equal(importKind([]), null);
});

test("the files of a kernel stay together, without libraries", () => {
  assert.deepEqual(groupsOf("kernels", CACHE), [
    ["A/__grp__k.json"],
    ["B/__grp__k.json", "B/k.json", "B/k.ttir"],
  ]);
  assert.deepEqual(groupsOf("traces", ["b.log", "a.ndjson", "x.txt"]), [["a.ndjson"], ["b.log"]]);
  assert.deepEqual(groupsOf("capture", ["capture.json", "kernels/1.json", "blobs/2"]), [["kernels/1.json"]]);
});

test("parts have a number of bytes and of groups at most, but each at least one group", () => {
  const bytes = (/** @type {number} */ group) => group;
  assert.deepEqual(partsOf([1, 2, 3, 9, 1], bytes, 5, 10), [[1, 2], [3], [9], [1]]);
  assert.deepEqual(partsOf([1, 1, 1], bytes, 5, 2), [[1, 1], [1]]);
  assert.deepEqual(partsOf([], bytes, 5, 2), []);
});

test("paths are those below the common folder", () => {
  assert.deepEqual(withoutFolder(["a/b", "a/c/d"]), ["b", "c/d"]);
  assert.deepEqual(withoutFolder(["a/b", "c"]), ["a/b", "c"]);
});
