import assert from "node:assert/strict";
import { test } from "node:test";
import { firstFrom, lanesOf, scopeSums } from "../../../../explorer/static/panes/roofline/lanes.js";

const scope = (
  /** @type {string} */ name,
  /** @type {number} */ warp,
  /** @type {number} */ start_ns,
  /** @type {number} */ duration_ns,
) => ({ name, block: 0, warp, multiprocessor: 0, start_ns, duration_ns });
const SCOPES = [
  scope("load", 0, 10, 20),
  scope("program", 0, 0, 100),
  scope("load", 0, 40, 30),
  scope("program", 1, 5, 100),
];

test("each warp has a lane, and scopes in scopes a depth", () => {
  const [first, second] = lanesOf(SCOPES);
  assert.ok(first && second);
  assert.deepEqual(
    first.scopes.map(({ scope: { name }, depth }) => [name, depth]),
    [
      ["program", 0],
      ["load", 1],
      ["load", 1],
    ],
  );
  assert.deepEqual([first.depths, second.depths], [2, 1]);
  assert.deepEqual([firstFrom(first, 0), firstFrom(first, 11), firstFrom(first, 41)], [0, 2, 3]);
});

test("shares are of the time in outermost scopes, the largest first", () => {
  assert.deepEqual(
    scopeSums(lanesOf(SCOPES)).map(({ name, count, total_ns, share }) => [name, count, total_ns, share]),
    [
      ["program", 2, 200, 1],
      ["load", 2, 50, 0.25],
    ],
  );
});
