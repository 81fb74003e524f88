import assert from "node:assert/strict";
import { test } from "node:test";
import {
  aliveAtMost,
  instructionWords,
  levelsOf,
  machineWords,
  placeRanges,
  shortName,
  topOf,
} from "../../../../explorer/static/panes/registers/data.js";

const range = (
  /** @type {string} */ name,
  /** @type {number} */ registers,
  /** @type {number} */ first,
  /** @type {number} */ last,
) => /** @type {any} */ ({ name, registers, first, last });
const extent = (/** @type {{first: number, last: number}} */ { first, last }) => ({
  left: first,
  right: last,
});

test("live ranges share a row where they do not overlap, the largest first", () => {
  const ranges = [range("a", 8, 1, 4), range("b", 64, 2, 9), range("c", 4, 5, 9), range("d", 0, 1, 9)];
  const { rows, placed, left } = placeRanges(ranges, extent);
  assert.deepEqual(
    placed.map(({ range: { name }, row }) => `${name}${row}`),
    ["b0", "a1", "c1"],
  );
  assert.deepEqual([rows, left], [2, 0]);
});

test("ranges that do not fit into 40 rows are counted", () => {
  const ranges = Array.from({ length: 45 }, (_, index) => range(`t${index}`, 1, 1, 9));
  assert.deepEqual(placeRanges(ranges, extent).left, 5);
});

test("a name loses its sign and the number that makes it unique", () => {
  assert.equal(shortName("%accumulator_12#1"), "accumulator#1");
  assert.equal(shortName("%a_7"), "a");
  assert.equal(shortName("%42"), "%42");
});

test("the tensors alive at the maximum end after that line", () => {
  const tensors = [range("a", 8, 1, 5), range("b", 16, 5, 6), range("c", 4, 6, 9), range("d", 32, 2, 9)];
  const names = aliveAtMost(/** @type {any} */ ({ tensors, most_line: 5 })).map(({ name }) => name);
  assert.deepEqual(names, ["d", "b"]);
});

test("levels are the limit, the registers that are taken, and each count above which fewer blocks fit", () => {
  const steps = [
    { most_registers: 32, blocks: 8, share: 1 },
    { most_registers: 64, blocks: 4, share: 0.5 },
    { most_registers: 128, blocks: 1, share: 0.125 },
  ];
  const levels = levelsOf(/** @type {any} */ ({ registers: 100, limit: 255, steps }));
  assert.deepEqual(
    levels.map(({ kind, value, words }) => [kind, value, words]),
    [
      ["limit", 255, "limit 255"],
      ["taken", 100, "100 taken"],
      ["step", 64, "above: 1 block, 13 % occupancy"],
    ],
  );
});

test("a level far above the values is not drawn", () => {
  const series = [{ name: "general", values: [10, 100] }];
  /** @type {any} */
  const levels = [{ value: 140 }, { value: 255 }];
  assert.equal(topOf(series, levels), 140 * 1.06);
});

test("an instruction and the whole code in words", () => {
  const instruction = {
    address: 16,
    line: 3,
    source_line: 0,
    general: 9,
    uniform: 1,
    predicate: 2,
    spill: "",
  };
  assert.equal(
    instructionWords(/** @type {any} */ (instruction)),
    "/*0010*/, SASS line 3: 9 general, 1 uniform, 2 predicate",
  );
  const document = {
    most_general: 90,
    registers: 96,
    difference: "",
    limit: 255,
    limited_by: "the architecture",
    spill_stores_bytes: 8,
    spill_loads_bytes: null,
  };
  assert.equal(
    machineWords(/** @type {any} */ (document)),
    "90 general registers alive at most · 96 taken by the compiler · limit 255, by the architecture · spilled: 8 bytes stored, 0 loaded.",
  );
});
