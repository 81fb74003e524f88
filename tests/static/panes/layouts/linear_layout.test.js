import assert from "node:assert/strict";
import { test } from "node:test";
import { LinearLayout } from "../../../../explorer/static/panes/layouts/linear_layout.js";
import { elementsOfThread, ownersOf, sheetOf } from "../../../../explorer/static/panes/layouts/pictures.js";

/** Two registers along the columns, four lanes along the rows, two warps that hold the same. */
const layout = new LinearLayout(
  /** @type {any} */ ({
    inputs: [
      { name: "register", bases: [[0, 1]] },
      {
        name: "lane",
        bases: [
          [1, 0],
          [2, 0],
        ],
      },
      { name: "warp", bases: [[0, 0]] },
    ],
    shape: [4, 2],
    padding: [{ interval: 4, padding: 2 }],
  }),
);

test("a place adds the bases of its bits", () => {
  assert.deepEqual([...layout.elements], [0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7]);
  assert.deepEqual([...layout.owners], [0, 1, 2, 3, 4, 5, 6, 7]);
  assert.deepEqual(layout.placesOf(3), [3, 11]);
});

test("the parts of a place are found again", () => {
  assert.deepEqual([layout.size("register"), layout.size("lane"), layout.size("block")], [2, 4, 1]);
  assert.deepEqual(
    [layout.part(11, "register"), layout.part(11, "lane"), layout.part(11, "warp")],
    [1, 1, 1],
  );
  assert.deepEqual(layout.coordinates(5), [2, 1]);
  assert.equal(layout.index([2, 1]), 5);
});

test("padding moves what lies behind it", () => {
  assert.deepEqual(
    [0, 3, 4, 9].map((offset) => layout.padded(offset)),
    [0, 3, 6, 13],
  );
});

test("a thread holds the elements of its registers, and an element names its owner", () => {
  assert.deepEqual([...elementsOfThread(layout, 3)], [2, 3]);
  const { title, place } = ownersOf(layout, 3);
  assert.match(title, /\(1, 1\)/);
  assert.equal(place, 3);
});

test("a tensor of one dimension is wrapped", () => {
  assert.equal(sheetOf([256]).rows, 4);
  assert.equal(sheetOf([256]).columns, 64);
  assert.deepEqual([sheetOf([2, 8, 4]).rows, sheetOf([2, 8, 4]).columns], [16, 4]);
});
