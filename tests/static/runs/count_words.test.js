import assert from "node:assert/strict";
import { test } from "node:test";
import { perByte, sectorsWords, usedShare, wholeWords } from "../../../explorer/static/runs/count_words.js";

test("the used share is above 1 where lanes ask for the same bytes", () => {
  assert.equal(usedShare({ requested_bytes: 32, sectors: 2 }), 0.5);
  assert.equal(usedShare({ requested_bytes: 128, sectors: 2 }), 2);
  assert.equal(usedShare({ requested_bytes: 128, sectors: 0 }), 0);
});

test("sectors are given with their use", () => {
  assert.match(sectorsWords(4, 64), /^in 4 sectors, 50.%\D* used$/);
  assert.equal(sectorsWords(4, 256), "in 4 sectors, each byte requested 2 times");
  assert.equal(sectorsWords(0, 256), "");
});

test("operations for each byte need bytes", () => {
  assert.equal(perByte(64, 32), "2 for each requested byte");
  assert.equal(perByte(64, 0), "");
});

test("a count of some programs is extrapolated and marked", () => {
  const words = wholeWords(457_179_136, { programs: 109, grid_programs: 256 }, " bytes");
  assert.equal(words, "extrapolated: 1,073,741,824 bytes in all 256 programs");
  assert.equal(wholeWords(64, { programs: 256, grid_programs: 256 }, " bytes"), "");
  assert.equal(wholeWords(0, { programs: 0, grid_programs: 256 }, " bytes"), "");
});
