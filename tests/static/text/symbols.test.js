import assert from "node:assert/strict";
import { test } from "node:test";
import { SYNTAXES, syntaxOf } from "../../../explorer/static/core/languages.js";
import { Outline } from "../../../explorer/static/text/outline.js";
import { definitionOf, namesOf, occurrencesOf } from "../../../explorer/static/text/symbols.js";

/** @param {string} text @param {string} language */
const labels = (text, language) => namesOf(text, SYNTAXES[language]).map(({ label }) => label);

/**
 * The occurrences of the name at the first `word` of a line: "line:column", with "=" behind definitions.
 * @param {string} text @param {string} language @param {number} line @param {string} word
 */
function follow(text, language, line, word) {
  const lines = text.split("\n");
  const syntax = SYNTAXES[language];
  const column = lines[line - 1].indexOf(word);
  const name = namesOf(lines[line - 1], syntax).find(({ from }) => from === column);
  assert.ok(name, `no name at ${line}:${column}`);
  const found = occurrencesOf(lines, new Outline(lines, syntax), syntax, line, name);
  return {
    found: found.map((each) => `${each.line}:${each.from}${each.isDefinition ? "=" : ""}`),
    syntax,
    all: found,
  };
}

test("names of each language are found in a line", () => {
  assert.deepEqual(labels("%a:2 = tt.load %b#1, ^bb1 : #blocked", "ttgir"), ["%a", "%b", "^bb1", "#blocked"]);
  assert.deepEqual(labels("entry: ; preds", "llir"), ["%entry"]);
  assert.deepEqual(labels("%1 = add i32 %x, 1, !dbg !7", "llir"), ["%1", "%x", "!7"]);
  assert.deepEqual(labels("@%p1 st.global.b32 [%rd1], %r2; // %r3", "ptx"), ["%p1", "%rd1", "%r2"]);
  assert.deepEqual(labels("/*0000*/ @!P0 IADD3 R4, R5, UR6 ; // R9", "sass"), ["P0", "R4", "R5", "UR6"]);
  assert.deepEqual(labels("  v_add_f32 v1, s[2:3], vcc ; v9", "amdgcn"), ["v1", "s[2:3]", "vcc"]);
});

test("a text without a known language has no names", () => {
  assert.deepEqual(namesOf("%a = R1", syntaxOf("no-such-language")), []);
});

test("values of two regions with the same name are told apart", () => {
  const text = `tt.func @f(%x: i32) {
  %a = arith.addi %x, %x : i32
  tt.return
}
tt.func @g(%x: i32) {
  tt.use %x : i32
}`;
  assert.deepEqual(follow(text, "ttgir", 2, "%x").found, ["1:11=", "2:18", "2:22"]);
  assert.deepEqual(follow(text, "ttgir", 6, "%x").found, ["5:11=", "6:9"]);
});

test("a label of LLVM IR is the name that branches have with a percent sign", () => {
  const text = "define void @f() {\n  br label %loop\nloop:\n  br label %loop\n}";
  assert.deepEqual(follow(text, "llir", 2, "%loop").found, ["2:11", "3:0=", "4:11"]);
});

test("an alias is followed through the whole text", () => {
  const text = "#blocked = #ttg.blocked<{}>\nmodule {\n  %a = x.y : tensor<4xf32, #blocked>\n}";
  assert.deepEqual(follow(text, "ttgir", 3, "#blocked").found, ["1:0=", "3:27"]);
});

test("a register is defined by the last write before its use", () => {
  const text = `.text.f:
 /*0000*/ MOV R4, R1 ;
 /*0010*/ IADD3 R4, R4, R2 ;
 /*0020*/ STG.E [R4], R2 ;`;
  const { found, all, syntax } = follow(text, "sass", 4, "R4");
  assert.deepEqual(found, ["2:14=", "3:16=", "3:20", "4:17"]);
  assert.equal(definitionOf(all, 4, syntax)?.line, 3);
});

test("stores and branches of machine code write no register", () => {
  const writes = (/** @type {string} */ text, /** @type {string} */ language) => {
    const names = namesOf(text, SYNTAXES[language]);
    const found = SYNTAXES[language].names?.writes(text, names) ?? [];
    return names.filter((_, index) => found[index]).map(({ label }) => label);
  };
  assert.deepEqual(writes("  add.s32 %r1, %r2, %r3;", "ptx"), ["%r1"]);
  assert.deepEqual(writes("  @%p1 ld.global.v2.b32 {%r1, %r2}, [%rd1];", "ptx"), ["%r1", "%r2"]);
  assert.deepEqual(writes("  st.global.b32 [%rd1], %r2;", "ptx"), []);
  assert.deepEqual(writes("  @%p1 bra $L__BB0_1;", "ptx"), []);
  assert.deepEqual(writes(" /*0000*/ ISETP.GE.AND P0, P1, R4, R5, PT ;", "sass"), ["P0", "P1"]);
  assert.deepEqual(writes("  global_store_dword v1, v2, s[0:1]", "amdgcn"), []);
  assert.deepEqual(writes("  v_add_f32 v1, v2, v3", "amdgcn"), ["v1"]);
});
