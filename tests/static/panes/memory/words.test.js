import assert from "node:assert/strict";
import { test } from "node:test";
import {
  barrierCount,
  bufferTitle,
  columnWords,
  exact,
  hazardWords,
  rowWords,
  summary,
  tensorLabel,
} from "../../../../explorer/static/panes/memory/words.js";

test("bytes are given exactly, and in KiB where that is a round number", () => {
  assert.equal(exact(800), "800 B");
  assert.equal(exact(98304), "96 KiB (98,304 B)");
  assert.equal(exact(1025), "1,025 B");
});

test("a buffer of the program has its shape, scratch has the operation that needs it", () => {
  const explicit = /** @type {any} */ ({ use: "explicit", name: "a", type: "3x128x64xf16, #shared" });
  assert.equal(bufferTitle(explicit), "a · 3×128×64 f16");
  assert.equal(
    bufferTitle(/** @type {any} */ ({ use: "scratch", name: "scratch of tt.dot", type: "" })),
    "scratch of tt.dot",
  );
});

test("a hazard names both accesses, their bytes and their buffers", () => {
  const place = (/** @type {string} */ operation, /** @type {number} */ source_line) => ({
    operation,
    value: "",
    source_line,
  });
  const hazard = /** @type {any} */ ({
    kind: "write after read",
    before: place("ttg.local_load", 4),
    after: place("ttg.local_store", 0),
    before_buffer: 0,
    after_buffer: 1,
    first_byte: 0,
    end_byte: 1024,
    around_loop: true,
    iterations: 1,
    overlaps: true,
    races: true,
  });
  const map = /** @type {any} */ ({
    buffers: [
      { index: 0, name: "a" },
      { index: 1, name: "b" },
    ],
  });
  assert.equal(
    hazardWords(hazard, map),
    "ttg.local_load, line 4 reads in the previous iteration, then ttg.local_store writes bytes 0 to 1,024: of a, then of b.",
  );
  assert.match(hazardWords({ ...hazard, iterations: 2 }, map), /reads 2 iterations earlier, then/);
  assert.match(hazardWords({ ...hazard, overlaps: false }, map), /different slots.*no bytes are common\.$/);
  assert.match(hazardWords({ ...hazard, races: false }, map), /compiler's rules: no access .* was found\.$/);
});

test("the summary says what a function saves by sharing, and how many blocks fit", () => {
  const memory = /** @type {any} */ ({
    shared_bytes: 2048,
    shared_limit_bytes: 8192,
    steps: [
      { most_shared_bytes: 1024, blocks: 8 },
      { most_shared_bytes: 4096, blocks: 2 },
    ],
  });
  const map = /** @type {any} */ ({ buffers: [{}, {}], shared_bytes: 2048, sum_bytes: 3072, problem: "" });
  assert.equal(
    summary(memory, map),
    "2 KiB (2,048 B) for 2 buffers · 3 KiB without sharing · 2 blocks per multiprocessor · limit 8 KiB",
  );
  assert.equal(summary(memory, { ...map, buffers: [] }), "This kernel uses no shared memory.");
});

test("a buffer of tensor memory has its columns, and all ranges of its rows", () => {
  const half = /** @type {any} */ ({
    name: "first",
    type: "64x128xf32",
    column: 128,
    columns: 128,
    row: 16,
    rows: 32,
    row_ranges: [
      [16, 31],
      [48, 63],
    ],
  });
  assert.equal(columnWords(half), "128–255");
  assert.equal(rowWords(half), "16–31, 48–63");
  assert.equal(tensorLabel(half), "first: 64x128xf32, columns 128–255, rows 16–31, 48–63");
  const unknown = { ...half, columns: null, rows: null, row_ranges: [] };
  assert.equal(columnWords(unknown), "from 128");
  assert.equal(rowWords(unknown), "from 16");
});

test("the number of barriers says which barriers it counts", () => {
  assert.equal(barrierCount([1, 2, 3, 4]), "4 barriers for shared memory");
  assert.equal(barrierCount([1]), "1 barrier for shared memory");
});
