import assert from "node:assert/strict";
import { test } from "node:test";
import {
  isNeighbour,
  isTouched,
  itemOfKey,
  itemsOf,
  linesOf,
  nameOf,
} from "../../../../explorer/static/panes/memory/items.js";

const place = (/** @type {number} */ position, /** @type {number} */ line) => ({
  position,
  operation: "ttg.local_load",
  value: "",
  source_line: line,
});
const early = { index: 0, start: 2, first: place(2, 7), last: place(9, 4), uses: [], alive_with: [1] };
const late = { index: 1, start: 5, first: place(5, 7), last: place(8, 7), uses: [], alive_with: [0] };
const hazard = { before: place(3, 8), after: place(5, 6), before_buffer: 1, after_buffer: 1 };
const barrier = { following: place(5, 6), hazards: [hazard] };
const map = /** @type {any} */ ({ buffers: [late, early], barriers: [barrier] });

test("buffers and barriers are in the order of operations, a barrier before the operation that follows it", () => {
  assert.deepEqual(
    itemsOf(map).map((item) => nameOf(item, map)),
    ["b0", "x0", "b1"],
  );
});

test("the source lines of an item are the lines that begin and end it, in order", () => {
  const [first, middle, last] = itemsOf(map).map(linesOf);
  assert.deepEqual([first, middle, last], [[4, 7], [6, 8], [7]]);
});

test("a chosen buffer marks the buffers alive with it, a chosen barrier the buffers that it orders", () => {
  const [buffer, chosenBarrier] = itemsOf(map);
  assert.ok(buffer && chosenBarrier);
  const { buffers } = map;
  assert.deepEqual(
    buffers.map((/** @type {any} */ each) => isNeighbour(each, buffer)),
    [true, false],
  );
  assert.deepEqual(
    buffers.map((/** @type {any} */ each) => isTouched(each, chosenBarrier)),
    [true, false],
  );
});

test("arrow keys go around, and begin at either end", () => {
  assert.equal(itemOfKey("ArrowRight", -1, 3), 0);
  assert.equal(itemOfKey("ArrowLeft", -1, 3), 2);
  assert.equal(itemOfKey("ArrowDown", 2, 3), 0);
  assert.equal(itemOfKey("ArrowUp", 0, 3), 2);
  assert.equal(itemOfKey("End", 0, 3), 2);
  assert.equal(itemOfKey("x", 0, 3), undefined);
  assert.equal(itemOfKey("Home", -1, 0), undefined);
});
