import assert from "node:assert/strict";
import { test } from "node:test";
import { Board, controlFields } from "../../../../explorer/static/panes/stage/control_code.js";

/** @import { ScoreboardWait } from "../../../../explorer/static/core/types.js" */

const LINES = [
  "kernel:",
  "B------:R-:W2:-:S01  /*0000*/  @!P0 LDG.E.128 R4, desc[UR4][R2.64] ;",
  "B------:R-:W2:-:S04  /*0010*/  LDG.E R8, desc[UR4][R2.64] ;",
  "B--2---:R0:W-:Y:S05  /*0020*/  FADD R4, R4.reuse, R8 ;",
  "B------:R-:W-:-:S04  /*0030*/  DEPBAR.LE SB0, 0x1 ;",
  "B------:R-:W-:Y:S00  /*0040*/  BRA `(.L_x_0);",
];
/** @type {ScoreboardWait[]} */
const WAITS = [
  {
    line: 4,
    scoreboard: "2",
    at_most: 0,
    setters: [
      { line: 2, use: "result", is_nearest: false },
      { line: 3, use: "result", is_nearest: true },
    ],
  },
  {
    line: 5,
    scoreboard: "0",
    at_most: 1,
    setters: [
      { line: 4, use: "operands", is_nearest: true },
      { line: 6, use: "result", is_nearest: false },
    ],
  },
];

/** @param {number} line @param {string[]} lines @param {Board | null} board */
function words(line, lines = LINES, board = new Board(WAITS)) {
  return Object.fromEntries(controlFields(lines, line, board).map(({ name, text }) => [name, text]));
}

test("every field is told in words", () => {
  assert.deepEqual(words(4), {
    "B--2---":
      "Waits for scoreboard 2: the result of LDG.E in SASS line 3 and the result of LDG.E.128 in SASS line 2.",
    R0: "Sets scoreboard 0 until its operands are read. SASS line 5 waits for it.",
    "W-": "Sets no scoreboard for its result.",
    Y: "Yields: the scheduler prefers another warp for the next instruction.",
    S05: "The warp issues its next instruction after 5 cycles at the earliest.",
    ".reuse": "R4: kept for the next instruction, which reads it from a cache.",
  });
  assert.equal(words(2).S01, "The warp issues its next instruction after 1 cycle at the earliest.");
  assert.equal(words(6).S00, "Gives no number of cycles until the next instruction.");
  assert.equal(words(6)["R-:W-"], "Sets no scoreboard, for its operands or its result.");
});

test("an instruction that waits by its operands names the number and the operations of an earlier iteration", () => {
  assert.equal(
    words(5).SB0,
    "Waits until at most 1 operation of the scoreboard is in flight: FADD to read its operands in SASS line 4 and " +
      "the result of BRA in SASS line 6 (in an earlier iteration).",
  );
});

test("the fields are described even before it is known which instruction waits for which", () => {
  assert.equal(words(4, LINES, null)["B--2---"], "Waits for scoreboard 2.");
  assert.equal(words(4, LINES, null).R0, "Sets scoreboard 0 until its operands are read.");
});

test("a value that is not understood is unknown", () => {
  const odd = ["B--7---:R6:W?:x:S31  /*0000*/  NOP ;"];
  const told = words(1, odd);
  assert.equal(Object.keys(told).length, 5);
  for (const text of Object.values(told)) assert.match(text, /^Unknown/);
});

test("a line without a control code has no fields", () => {
  assert.deepEqual(controlFields(LINES, 1, null), []);
  assert.deepEqual(controlFields(["        /*0000*/  NOP ;"], 1, null), []);
});

test("lines lead from what sets a scoreboard to what waits for it", () => {
  const board = new Board(WAITS);
  const [waiting, setting] = board.rails(4);
  assert.deepEqual(waiting, {
    scoreboard: "2",
    ends: [
      { from: 2, to: 4, isNearest: false },
      { from: 3, to: 4, isNearest: true },
    ],
    isWait: true,
  });
  assert.deepEqual(setting, { scoreboard: "0", ends: [{ from: 4, to: 5, isNearest: true }], isWait: false });
  assert.deepEqual(board.rails(1), []);
});
