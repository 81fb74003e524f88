import assert from "node:assert/strict";
import { test } from "node:test";
import { findLines, MOST_LINES } from "../../../explorer/static/search/found_lines.js";

/** @param {string} text @param {Partial<import("../../../explorer/static/text/text_search.js").Query>} [options] */
const query = (text, options) => ({ text, isPattern: false, isExact: false, ...options });
const LINES = ["module {", "    %a = tt.load %p", "    tt.store %a, %A  "];

test("lines are found by a word, and shown without their indentation", () => {
  assert.deepEqual(findLines(LINES, query("%A"), 80), {
    matches: 3,
    lines: 2,
    listed: [
      {
        line: 2,
        pieces: [
          ["%a", true],
          [" = tt.load %p", false],
        ],
      },
      {
        line: 3,
        pieces: [
          ["tt.store ", false],
          ["%a", true],
          [", ", false],
          ["%A", true],
        ],
      },
    ],
    problem: "",
  });
  assert.equal(findLines(LINES, query("%A", { isExact: true }), 80).matches, 1);
  assert.equal(findLines(LINES, query("t.l"), 80).lines, 1);
});

test("lines are found by a regular expression, and a wrong one says why", () => {
  assert.deepEqual(
    findLines(LINES, query("tt\\.\\w+", { isPattern: true }), 80).listed.map(({ line }) => line),
    [2, 3],
  );
  const wrong = findLines(LINES, query("tt(", { isPattern: true }), 80);
  assert.deepEqual([wrong.matches, wrong.problem], [0, "Unterminated group"]);
});

test("a long line is cut around its first match", () => {
  const line = `${"x".repeat(2000)}needle${"y".repeat(2000)}needle`;
  const [found] = findLines([line], query("needle"), 80).listed;
  const text = found?.pieces.map(([words]) => words).join("") ?? "";
  assert.match(text, /^…x{16}needley+…$/);
  assert.ok(text.length < 300);
  assert.equal(found?.pieces.filter(([, isMatch]) => isMatch).length, 1);
});

test("of many lines the first are listed, and all are counted", () => {
  const found = findLines(
    Array.from({ length: 3 * MOST_LINES }, () => "mov mov"),
    query("mov"),
    80,
  );
  assert.deepEqual(
    [found.matches, found.lines, found.listed.length],
    [6 * MOST_LINES, 3 * MOST_LINES, MOST_LINES],
  );
});
