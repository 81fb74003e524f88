import assert from "node:assert/strict";
import { test } from "node:test";
import {
  expressionProblem,
  readSizes,
  readWhole,
  splitExpressions,
} from "../../../../explorer/static/panes/run/expressions.js";

test("expressions are split at commas outside of brackets", () => {
  assert.deepEqual(splitExpressions("cdiv(n, 128), m , "), ["cdiv(n, 128)", "m"]);
  assert.deepEqual(splitExpressions(""), []);
});

test("a whole number may have underscores, powers and factors", () => {
  assert.equal(readWhole("1_000"), 1000);
  assert.equal(readWhole(" 2**20 "), 2 ** 20);
  assert.equal(readWhole("2 * 1024"), 2048);
});

for (const text of ["", "-1", "1.5", "n", "2**", "2**99", "2 ** 3 ** 4"]) {
  test(`“${text}” is no whole number`, () => assert.equal(readWhole(text), null));
}

test("sizes are read by name", () => {
  assert.deepEqual(readSizes("n = 1000, m: 2**6"), { sizes: { n: 1000, m: 64 }, problem: "" });
});

test("a size that cannot be read is named", () => {
  assert.match(readSizes("n = 10, 5").problem, /“5” is not a size/);
  assert.match(readSizes("n = 10, n = 11").problem, /n is given twice/);
});

test("an expression may use sizes, helpers and names of the script", () => {
  const source = "BLOCK = 128\n";
  assert.equal(expressionProblem("cdiv(n, BLOCK)", ["n"], source), "");
  assert.match(expressionProblem("cdiv(n, BLOCK", ["n"], source), /bracket/);
  assert.match(expressionProblem("n)(", ["n"], source), /bracket/);
  assert.match(expressionProblem("n * k", ["n", "m"], source), /^k is not known: there is n, m/);
});
