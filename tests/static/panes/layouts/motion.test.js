/** The steps of an access: sectors and banks. */
import assert from "node:assert/strict";
import test from "node:test";
import { bankMotion, sectorMotion, stepWords } from "../../../../explorer/static/panes/layouts/motion.js";

test("a sector is moved once, by the first lane that needs it", () => {
  const { cells, steps } = sectorMotion([0, 16, 32, 48], [0, 0, 0, 0], 16, false);
  assert.equal(cells, 2);
  assert.deepEqual(
    steps.map(({ moved, used }) => [moved, used]),
    [
      [32, 16],
      [32, 32],
      [64, 48],
      [64, 64],
    ],
  );
});

test("lanes that are far from each other move what nobody uses", () => {
  const motion = sectorMotion([0, 32, 64, 96], [0, 0, 0, 0], 4, false);
  assert.equal(stepWords(motion, 3), "Lane 3: bytes 96 to 99, sector 3. Moved 128 B, used 16 B (13 %).");
});

test("no distance is shown between ranges whose distance is unknown", () => {
  const motion = sectorMotion([0, 16, 32, 48, 64, 80], [0, 0, 1, 1, 2, 2], 16, false);
  assert.deepEqual(motion.starts, [1, 2]);
  assert.equal(
    stepWords(motion, 5),
    "Lane 5: bytes 16 to 31 of range 3, sector 2. Moved 96 B, used 96 B (100 %).",
  );
});

test("a bank serves the words of a wavefront one after the other, and the same word once", () => {
  const access = { offsets_bytes: [0, 128, 0, 4], vector_bytes: 4, least_wavefronts: 1, banks: 32 };
  const motion = bankMotion(access);
  assert.deepEqual(
    motion?.steps.map(({ depth }) => depth),
    [1, 2, 2, 2],
  );
  assert.equal(motion?.steps.at(-1)?.moved, 12);
});

test("a wavefront begins with free banks", () => {
  const access = { offsets_bytes: [0, 4, 0, 4], vector_bytes: 4, least_wavefronts: 2, banks: 32 };
  assert.deepEqual(
    bankMotion(access)?.steps.map(({ wavefront, depth }) => [wavefront, depth]),
    [
      [0, 1],
      [0, 1],
      [1, 1],
      [1, 1],
    ],
  );
  const alone = { offsets_bytes: [0, 4], vector_bytes: 4, least_wavefronts: 2, banks: 32 };
  assert.deepEqual(
    bankMotion(alone)?.steps.map(({ wavefront }) => wavefront),
    [0, 1],
  );
});
