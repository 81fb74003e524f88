import assert from "node:assert/strict";
import { test } from "node:test";
import { foldsOf } from "../../../explorer/static/compare/line_folds.js";

/** Return a line with its folds. @param {string} text */
function folded(text) {
  return foldsOf(text).reduceRight(
    (left, { from, to, instead }) => left.slice(0, from) + instead + left.slice(to),
    text,
  );
}

test("the shape of a result stays, its layout and its operands' types go", () => {
  assert.equal(
    folded("  %a = tt.splat %b : i32 -> tensor<64x128xi32, #blocked1>"),
    "  %a = tt.splat %b : … → 64x128xi32",
  );
  assert.equal(
    folded("%m = arith.andi %x, %y : tensor<128x128xi1, #ttg.slice<{dim = 1, parent = #mma}>>"),
    "%m = arith.andi %x, %y : 128x128xi1 …",
  );
  assert.equal(
    folded("tt.store %p, %v, %m : tensor<128x64x!tt.ptr<f16>, #blocked>"),
    "tt.store %p, %v, %m : 128x64x!tt.ptr<f16> …",
  );
});

test("a colon in an attribute begins no types", () => {
  assert.equal(
    folded("%a = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #blocked>"),
    "%a = tt.make_range {end = 64 : i32, start = 0 : i32} : 64xi32 …",
  );
  assert.deepEqual(foldsOf("tt.thing %a {note = 1 : i32, other = dense<[1, 2]> : vector<2xi32>}"), []);
});

test("attributes that passes attach are folded, attributes of the operation itself are not", () => {
  const attached = "loop.cluster = 3 : i32, loop.stage = 2 : i32";
  assert.equal(
    folded(`%a = tt.broadcast %b {${attached}} : tensor<1x64xi1, #blocked> -> tensor<128x64xi1, #blocked>`),
    "%a = tt.broadcast %b {…} : … → 128x64xi1",
  );
  assert.equal(
    folded(`%a = tt.dot %b, %c {inputPrecision = 0 : i32, ${attached}, z = 1 : i32} : i32`),
    "%a = tt.dot %b, %c {inputPrecision = 0 : i32, …, z = 1 : i32} : i32",
  );
  assert.deepEqual(foldsOf("%a = arith.addi %b, %c {loop.stage = 2 : i32} : i32"), []);
  assert.deepEqual(foldsOf('module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 8 : i32} {'), []);
});

test("types of which none says what the result is are folded whole", () => {
  const types = "tensor<4xf32, #blocked>, tensor<4xf16, #blocked>";
  assert.equal(folded(`scf.yield %a, %b : ${types}`), "scf.yield %a, %b : …");
});

test("a loop keeps its operands", () => {
  assert.equal(
    folded(
      "%r:2 = scf.for %i = %a to %b step %c iter_args(%x = %y) -> (tensor<128x128xf32, #mma>, i32)  : i32 {",
    ),
    "%r:2 = scf.for %i = %a to %b step %c iter_args(%x = %y) -> (…) {",
  );
});

test("short types, functions, braces and other languages stay as they are", () => {
  for (const text of [
    "%a = arith.addi %b, %c : i32",
    "tt.func public @kernel(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f16>) {",
    "}",
    "#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8]}>",
    "  LDG.E.128 R4, desc[UR4][R2.64] ;",
  ])
    assert.deepEqual(foldsOf(text), []);
});
