import assert from "node:assert/strict";
import { test } from "node:test";
import { laneOperands } from "../../../../explorer/static/panes/stage/lane_operands.js";

/** @param {string} line @param {string} language */
const words = (line, language) => laneOperands(line, language).map(({ word, text }) => `${word}: ${text}`);
const WHOLE = "The mask of the lanes that take part: all 32 bits are set, for the whole warp.";

test("a shuffle of PTX names its lane, its segment and its mask", () => {
  assert.deepEqual(words("\tshfl.sync.bfly.b32 \t%r12, %r11, 16, 31, -1;", "ptx"), [
    "16: From the lane whose number differs from this one's in the bits of 16.",
    "31: Lanes exchange with any lane of the warp.",
    `-1: ${WHOLE}`,
  ]);
  assert.deepEqual(words("\tshfl.sync.idx.b32 \t%r1|%p1, %r2, 0, 6175, 0xff;", "ptx"), [
    "0: From lane 0.",
    "6175: Lanes exchange within segments of 8 lanes.",
    "0xff: The mask of the lanes that take part: lanes 0 to 7.",
  ]);
});

test("other instructions of PTX name their mask only", () => {
  assert.deepEqual(words("\t@%p4 elect.sync \t%r69|%p5, -1;", "ptx"), [`-1: ${WHOLE}`]);
  assert.deepEqual(words("\tbar.warp.sync \t-1;", "ptx"), [`-1: ${WHOLE}`]);
  assert.deepEqual(words("\tredux.sync.max.s32 \t%r1, %r2, %r3;", "ptx"), [
    "%r3: The mask of the lanes that take part: one bit for each.",
  ]);
  assert.deepEqual(words("\tadd.s32 \t%r1, %r2, -1;", "ptx"), []);
});

test("a shuffle of SASS has no mask", () => {
  assert.deepEqual(words("B------:R-:W0:-:S04  /*0a10*/  SHFL.BFLY PT, R5, R4, 0x10, 0x1f ;", "sass"), [
    "0x10: From the lane whose number differs from this one's in the bits of 16.",
    "0x1f: Lanes exchange with any lane of the warp.",
  ]);
  assert.deepEqual(words("B------:R-:W-:-:S05  /*0a20*/  WARPSYNC 0xffffffff ;", "sass"), [
    `0xffffffff: ${WHOLE}`,
  ]);
});

test("the mask of lanes of AMDGCN", () => {
  assert.deepEqual(words("\ts_mov_b64 exec, -1", "amdgcn"), [
    "-1: The mask of lanes: all lanes of the wave.",
  ]);
  assert.deepEqual(words("\ts_or_saveexec_b64 s[0:1], -1", "amdgcn").length, 1);
  assert.deepEqual(words("\ts_add_i32 s0, s1, -1", "amdgcn"), []);
});
