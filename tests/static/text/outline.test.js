import assert from "node:assert/strict";
import { test } from "node:test";
import { SYNTAXES, syntaxOf } from "../../../explorer/static/core/languages.js";
import { Outline } from "../../../explorer/static/text/outline.js";

/** @param {string} text @param {string} language a key of `SYNTAXES` */
function regions(text, language) {
  return new Outline(text.split("\n"), SYNTAXES[language] ?? syntaxOf(language)).regions.map(
    ({ kind, first, last, title }) => `${kind} ${first}-${last} ${title}`,
  );
}

const TTGIR = `#blocked = #ttg.blocked<{sizePerThread = [1]}>
module attributes {"ttg.num-warps" = 4 : i32} {
  tt.func public @add(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
    %r = scf.for %i = %a to %b step %c iter_args(%v = %d) -> (f32) {
      scf.yield %v : f32
    }
    cf.cond_br %p, ^bb1, ^bb2
  ^bb1:
    tt.return
  ^bb2:
    tt.return
  }
}`;

test("functions, loops and blocks of MLIR are nested", () => {
  assert.deepEqual(regions(TTGIR, "ttgir"), [
    "region 2-13 module",
    "function 3-12 add",
    "loop 4-6 scf.for %i",
    "block 8-9 ^bb1",
    "block 10-11 ^bb2",
  ]);
  const outline = new Outline(TTGIR.split("\n"), SYNTAXES.mlir);
  assert.deepEqual(
    outline.path(5).map(({ title }) => title),
    ["module", "add", "scf.for %i"],
  );
  assert.equal(outline.functionOf(9)?.title, "add");
  assert.equal(outline.functionOf(1), null);
});

test("functions and blocks of LLVM IR", () => {
  const text = `define void @add(ptr %0) {
  br label %loop

loop:
  ret void
}
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()`;
  assert.deepEqual(regions(text, "llir"), ["function 1-6 add", "block 4-5 loop"]);
});

test("a function of PTX begins above its brace", () => {
  const text = `.visible .entry add(
  .param .u64 add_param_0
)
{
$L__BB0_1:
  ret;
}`;
  assert.deepEqual(regions(text, "ptx"), ["function 1-7 add", "block 5-6 $L__BB0_1"]);
});

test("functions and blocks of machine code end where the next ones begin", () => {
  const sass = ".text.add:\n /*0000*/ MOV R1, R2 ;\n.L_x_0:\n /*0010*/ BRA `(.L_x_0) ;";
  assert.deepEqual(regions(sass, "sass"), ["function 1-4 add", "block 3-4 .L_x_0"]);
  const amdgcn = "add:\n  s_load_dword s0\n.LBB0_1:\n  s_endpgm";
  assert.deepEqual(regions(amdgcn, "amdgcn"), ["function 1-4 add", "block 3-4 .LBB0_1"]);
});

test("a syntax tree folds by its indentation, with functions and loops", () => {
  const text = "Module\n  body:\n    FunctionDef add\n      For i\n        Expr";
  assert.deepEqual(regions(text, "python-ast"), [
    "region 1-5 Module",
    "region 2-5 body:",
    "function 3-5 FunctionDef add",
    "loop 4-5 For i",
  ]);
});

test("a text without a known language folds by its indentation", () => {
  assert.deepEqual(regions("one\n  two\n  three\nFunctionDef\n  four", "no-such-language"), [
    "region 1-3 one",
    "region 4-5 FunctionDef",
  ]);
});

test("braces in strings and comments do not count", () => {
  assert.deepEqual(regions('tt.func @f() {\n  x.y "{" // {\n}', "ttgir"), ["function 1-3 f"]);
});
