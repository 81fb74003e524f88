import assert from "node:assert/strict";
import { test } from "node:test";
import {
  elementsText,
  findGroup,
  groupsOf,
  shapeText,
} from "../../../../explorer/static/panes/layouts/document.js";

const row = (/** @type {number} */ index, /** @type {object} */ given) => ({
  index,
  label: "#blocked",
  kind: "blocked",
  memory: "registers",
  encoding: "#ttg.blocked<>",
  element: "f16",
  element_bits: 16,
  shape: [64, 64],
  bases: null,
  values: [],
  ...given,
});
const layouts = [
  row(0, { values: [["%a_7", 3]] }),
  row(1, { element: "f32", values: [["%sum#1", 5]] }),
  row(2, {
    label: "#mma",
    kind: "NVIDIA mma",
    encoding: "#ttg.nvidia_mma<>",
    values: [["%accumulator_46", 9]],
  }),
];
const groups = groupsOf(/** @type {any} */ ({ layouts }));

test("layouts that differ in the element only are one group, matrix layouts first", () => {
  assert.deepEqual(
    groups.map(({ row: { label }, rows }) => [label, rows.map(({ element }) => element).join()]),
    [
      ["#mma", "f16"],
      ["#blocked", "f16,f32"],
    ],
  );
});

for (const [key, label] of [
  ["", "#mma"],
  ["1", "#blocked"],
  ["mma", "#mma"],
  ["accumulator_46", "#mma"],
  ["accumulator", "#mma"],
  ["sum", "#blocked"],
  ["__proto__", undefined],
])
  test(`the key “${key}” leads to ${label}`, () =>
    assert.equal(findGroup(groups, /** @type {string} */ (key))?.row.label, label));

test("pointers are called so", () => {
  assert.equal(shapeText(/** @type {any} */ ({ shape: [2, 4], element: "!tt.ptr<f16>" })), "2 × 4 pointers");
});

test("a layout has the elements of one slot, and of the whole buffer that a part is of", () => {
  assert.equal(elementsText([3, 128, 64], 8192), "8,192 elements per slot, 3 slots");
  assert.equal(elementsText([128, 64], 8192), "8,192 elements");
  assert.equal(elementsText([128, 16], 8192), "2,048 of 8,192 elements");
});
