import assert from "node:assert/strict";
import { test } from "node:test";
import { banksPicture } from "../../../../explorer/static/panes/layouts/banks.js";
import { LinearLayout } from "../../../../explorer/static/panes/layouts/linear_layout.js";

/** @import { SharedAccess } from "../../../../explorer/static/core/types.js" */
/** @import { Told } from "../../../../explorer/static/panes/layouts/pictures.js" */

test("a word of an access says which lanes use it, and which words of its bank wait for each other", () => {
  const bases = Array.from({ length: 6 }, (_, bit) => [1 << bit]);
  const layout = new LinearLayout(
    /** @type {any} */ ({ inputs: [{ name: "offset", bases }], shape: [64], padding: [] }),
  );
  const access = { operation: "ttg.local_load", offsets_bytes: [0, 128, 4, 4], vector_bytes: 4 };
  /** @type {{lit: number[], told: Told | null}} */
  const seen = { lit: [], told: null };
  const { picture, warned } = banksPicture(
    layout,
    32,
    32,
    /** @type {SharedAccess} */ ({ ...access, least_wavefronts: 1 }),
    /** @type {any} */ ({ light: (/** @type {Iterable<number>} */ cells) => (seen.lit = [...cells]) }),
    (told) => (seen.told = told),
  );
  assert.deepEqual([picture.rows, picture.columns, warned], [2, 32, [0, 32]]);
  const used = (/** @type {string} */ lanes) => `Used by ${lanes} in wavefront 1 of 1.`;

  picture.point(1, 0);
  assert.deepEqual(seen.lit, [0, 32]);
  assert.equal(seen.told?.title, "Bank 0, byte 128: (32).");
  assert.deepEqual(seen.told?.lines, [
    used("1 lane (1)"),
    "2 words of this bank are wanted in the same wavefront: it takes 2 times as long.",
  ]);
  picture.point(0, 1);
  assert.deepEqual([seen.lit, seen.told?.lines], [[1], [used("2 lanes (2, 3)")]]);
  picture.point(0, 2);
  assert.deepEqual([seen.lit, seen.told?.lines], [[2], []]);
});
