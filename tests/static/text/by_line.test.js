import assert from "node:assert/strict";
import { test } from "node:test";
import { byLine } from "../../../explorer/static/text/by_line.js";

test("places are grouped by their lines, in their order", () => {
  const [first, second, third] = [
    { line: 2, from: 1 },
    { line: 2, from: 5 },
    { line: 1, from: 0 },
  ];
  assert.deepEqual(
    [...byLine([first, second, third])],
    [
      [2, [first, second]],
      [1, [third]],
    ],
  );
});
