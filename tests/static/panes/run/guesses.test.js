import assert from "node:assert/strict";
import { test } from "node:test";
import { guessedForm } from "../../../../explorer/static/panes/run/guesses.js";

/** @import { Argument, CompilationDocument } from "../../../../explorer/static/core/types.js" */

/** @param {string} name @param {string} type @param {Partial<Argument>} more */
const argument = (name, type, more = {}) =>
  /** @type {Argument} */ ({ name, type, specialization: "", shape: null, value: null, ...more });
const UNIT = { specialization: /** @type {const} */ ("equal to 1") };

/** @param {Argument[]} given @param {string} source */
const formOf = (given, source = "") =>
  guessedForm(
    /** @type {CompilationDocument} */ ({ specialization: { arguments: given }, request: { source } }),
  );

test("sizes are the integers with names of one capital letter, and shapes and strides follow from them", () => {
  const form = formOf([
    ...["a_ptr", "b_ptr", "c_ptr"].map((name) => argument(name, "*fp16")),
    ...["M", "N", "K"].map((name) => argument(name, "i32")),
    argument("S", "i32", UNIT),
    argument("stride_am", "i32"),
    argument("stride_ak", "i32", UNIT),
    argument("D", "constexpr", { value: 64 }),
    argument("BLOCK_M", "constexpr", { value: 32 }),
    argument("BLOCK_N", "constexpr", { value: 16 }),
  ]);
  assert.equal(form.sizes, "M = 200, N = 168, K = 136");
  assert.equal(form.grid, "cdiv(M, BLOCK_M) * cdiv(N, BLOCK_N)");
  assert.deepEqual(
    form.inputs.map(({ name, shape, value }) => [name, shape ?? value]),
    [
      ["a_ptr", "M, K"],
      ["b_ptr", "K, N"],
      ["c_ptr", "M, N"],
      ["M", "M"],
      ["N", "N"],
      ["K", "K"],
      ["S", "1"],
      ["stride_am", "K"],
      ["stride_ak", "1"],
      ["D", "64"],
      ["BLOCK_M", "32"],
      ["BLOCK_N", "16"],
    ],
  );
});

test("each input keeps its type, and a constant that is 1 for the compiler only is an integer", () => {
  const form = formOf([
    argument("x", "*i32", { shape: [500] }),
    argument("factor", "fp32"),
    argument("n", "i32", { value: 500 }),
    argument("step", "constexpr", UNIT),
    argument("BLOCK", "constexpr", { value: 128 }),
  ]);
  assert.equal(form.sizes, "n = 500");
  assert.equal(form.grid, "cdiv(n, BLOCK)");
  assert.deepEqual(
    form.inputs.map(({ type, shape, value, distribution }) => [type, shape ?? value, distribution]),
    [
      ["*i32", "n", "integers"],
      ["fp32", "1.0", "normal"],
      ["i32", "n", "normal"],
      ["i32", "1", "normal"],
      ["constexpr", "128", "normal"],
    ],
  );
});
