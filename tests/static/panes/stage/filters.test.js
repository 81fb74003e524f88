import assert from "node:assert/strict";
import { test } from "node:test";
import { SYNTAXES, syntaxOf } from "../../../../explorer/static/core/languages.js";
import {
  Filters,
  filtersOf,
  locationNote,
  rawColumn,
} from "../../../../explorer/static/panes/stage/filters.js";
import { parsePaneState } from "../../../../explorer/static/panes/stage/pane_state.js";

/** @import { Syntax } from "../../../../explorer/static/core/languages.js" */
/** @import { Locations } from "../../../../explorer/static/core/types.js" */

/**
 * The text of a line as a pane with this state shows it.
 * @param {string} text @param {string} language @param {string} state
 */
function shown(text, language, state, filters = new Filters()) {
  const cuts = filters.cuts(text, SYNTAXES[language], parsePaneState(state));
  let column = 0;
  const parts = cuts.map(({ from, to, instead }) => {
    const part = text.slice(column, from) + instead;
    column = to;
    return part;
  });
  return { text: parts.join("") + text.slice(column), cuts };
}

/**
 * The lines that a pane with this state hides, from 1.
 * @param {string[]} lines @param {string} language @param {string} state
 */
function hidden(lines, language, state, filters = new Filters()) {
  const marks = new Uint8Array(lines.length + 1);
  filters.hide(marks, lines, SYNTAXES[language], parsePaneState(state));
  return [...marks.keys()].filter((line) => marks[line]);
}

test("a language has its own filters, plain text has its locations only", () => {
  const names = (/** @type {Syntax} */ syntax) => filtersOf(syntax).map(({ name }) => name);
  assert.deepEqual(names(SYNTAXES.ttgir), ["locations", "attributes", "layouts"]);
  assert.deepEqual(names(SYNTAXES.llir), ["locations", "attributes", "metadata"]);
  assert.deepEqual(names(SYNTAXES.sass), ["locations", "registers", "scoreboards", "control", "addresses"]);
  assert.deepEqual(names(SYNTAXES.ptx), ["locations", "directives"]);
  assert.deepEqual(names(syntaxOf("no-such-language")), ["locations"]);
});

test("attributes of MLIR are replaced, layouts and regions are not", () => {
  const line = "%a = tt.load %p {cache = 1 : i32} : tensor<4xf32, #ttg.blocked<{order = [0]}>>";
  assert.equal(
    shown(line, "ttgir", "ttgir;hide=attributes").text,
    "%a = tt.load %p {…} : tensor<4xf32, #ttg.blocked<{order = [0]}>>",
  );
  assert.equal(shown(line, "ttgir", "ttgir").text, line);
  const loop = "scf.for %i = %a to %b step %c {";
  assert.equal(shown(loop, "ttgir", "ttgir;hide=attributes").text, loop);
  const definition = "#a = #ttg.x <{order = 1}> {b = 2}";
  assert.equal(shown(definition, "ttgir", "ttgir;hide=attributes").text, definition);
});

test("aliases of layouts are written in full, inner ones as well", () => {
  const filters = new Filters();
  filters.read([
    "#blocked = #ttg.blocked<{a = 1}>",
    "#slice = #ttg.slice<{parent = #blocked}>",
    "#smem = #ttg.shared_memory",
  ]);
  assert.equal(
    shown("x.y : tensor<4xf32, #slice>", "ttgir", "ttgir;show=layouts", filters).text,
    "x.y : tensor<4xf32, #ttg.slice<{parent = #ttg.blocked<{a = 1}>}>>",
  );
  assert.equal(filters.isLayout("#slice"), true);
  assert.equal(filters.isLayout("#smem"), false);
  assert.deepEqual(
    filters.layoutsIn("a #slice b #smem").map(({ from, to }) => [from, to]),
    [[2, 8]],
  );
});

test("machine code opens without control codes and addresses", () => {
  const line = "B--2---:R0:W-:Y:S05 /*0010*/ IADD3 R1, R1, 0x1, RZ ;";
  assert.equal(shown(line, "sass", "sass").text, "IADD3 R1, R1, 0x1, RZ ;");
  assert.equal(shown(line, "sass", "sass;show=control").text, "B--2---:R0:W-:Y:S05 IADD3 R1, R1, 0x1, RZ ;");
  assert.equal(shown(line, "sass", "sass;show=addresses.control").text, line);
});

test("metadata and attribute groups of LLVM IR are left out", () => {
  const line = "  %1 = call i32 @f() #3, !dbg !12, !srcloc !{}";
  assert.equal(shown(line, "llir", "llir;hide=attributes.metadata").text, "  %1 = call i32 @f()");
  const lines = [
    "define void @f() {",
    "  ret void, !dbg !1",
    "}",
    "declare void @g()",
    "!0 = !{}",
    "attributes #0 = {}",
  ];
  assert.deepEqual(hidden(lines, "llir", "llir;hide=metadata"), [4, 5, 6]);
  assert.deepEqual(hidden(lines, "llir", "llir"), []);
});

test("directives are hidden, functions and their parameters are not", () => {
  const ptx = [
    ".version 8.7",
    ".visible .entry f(",
    "  .param .u64 f_param_0",
    ")",
    "  .reg .b32 %r<4>;",
    "  ret;",
  ];
  assert.deepEqual(hidden(ptx, "ptx", "ptx;hide=directives"), [1, 5]);
  const amdgcn = ["  .text", "f:", ".LBB0_1:", "  s_endpgm", "---"];
  assert.deepEqual(hidden(amdgcn, "amdgcn", "amdgcn;hide=directives"), [1, 5]);
});

test("a line that was looked for is shown although a filter hides it", () => {
  const filters = new Filters();
  filters.exempt.add(1);
  assert.deepEqual(hidden([".version 8.7", ".target sm_90"], "ptx", "ptx;hide=directives", filters), [2]);
});

test("a column of the shown line leads to the column of the text", () => {
  const text = "a {x = 1} b";
  const { cuts } = shown(text, "ttgir", "ttgir;hide=attributes");
  assert.equal(rawColumn(0, cuts), 0);
  assert.equal(rawColumn(3, cuts), 2);
  assert.equal(rawColumn("a {…} ".length, cuts), text.indexOf("b"));
});

test("the source location of a line has its file, line, column and the calls around", () => {
  const locations = /** @type {Locations} */ ({
    files: ["", "/lib/standard.py"],
    locations: [
      [[0, 12, 4, "kernel"]],
      [
        [1, 7, 0, "zeros"],
        [0, 14, 8, "kernel"],
      ],
    ],
    lines: [[0], [1], []],
  });
  assert.equal(locationNote(locations, 1), "loc(line 12:4)");
  assert.equal(locationNote(locations, 2), "loc(standard.py:7 at line 14:8)");
  assert.equal(locationNote(locations, 3), "");
});
