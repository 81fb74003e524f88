import assert from "node:assert/strict";
import { test } from "node:test";
import { languageFacts, SYNTAXES, syntaxOf } from "../../../explorer/static/core/languages.js";
import { store } from "../../../explorer/static/core/store.js";
import { FILTERS } from "../../../explorer/static/panes/stage/filters.js";
import { longLists } from "../../../explorer/static/panes/stage/lists.js";

const facts = (/** @type {string} */ family) => ({ family, hue: "", vocabulary: "", word: "", graph: null });

test("a language is read as the server's family of it, unless it has an entry of its own", () => {
  store.update({ languages: { ttir: facts("mlir"), ttgir: facts("mlir"), "mlir-llvm": facts("mlir") } });
  assert.equal(syntaxOf("ttir"), SYNTAXES.mlir);
  assert.equal(syntaxOf("mlir-llvm"), SYNTAXES.mlir);
  assert.equal(syntaxOf("ttgir").hasLayouts, true);
  assert.equal(syntaxOf("ttir").hasLayouts, undefined);
});

test("a language that nobody knows is plain text", () => {
  store.update({ languages: { new: facts("") } });
  for (const language of ["new", "no-such-language"]) {
    const syntax = syntaxOf(language);
    assert.deepEqual(syntax, { regions: { by: "indentation" } });
    assert.deepEqual(longLists(Array(20).fill(".a"), syntax), []);
    assert.equal(languageFacts(language).graph, null);
  }
});

test("the page offers every filter of each language", () => {
  const offered = new Set(FILTERS.map(({ name }) => name));
  for (const [language, { filters = {} }] of Object.entries(SYNTAXES))
    for (const name of Object.keys(filters)) assert.ok(offered.has(name), `${language} ${name}`);
});

test("patterns keep no position from one line to the next", () => {
  for (const [language, { filters = {}, lists = [], regions }] of Object.entries(SYNTAXES)) {
    const patterns = [
      ...lists.map(([pattern]) => pattern),
      ...Object.values(filters).map(({ lines }) => lines),
      regions.function,
      regions.loop,
      regions.block,
    ];
    for (const pattern of patterns) assert.equal(pattern?.global ?? false, false, `${language} ${pattern}`);
  }
});

test("long lists fold, short ones do not, and blank lines may stand between", () => {
  const lines = [
    ...Array(4).fill("declare void @f()"),
    "",
    ...Array(3).fill("declare void @g()"),
    "ret",
    "!0 = !{}",
  ];
  assert.deepEqual(longLists(lines, SYNTAXES.llir), [{ first: 1, last: 8, title: "declarations" }]);
  assert.deepEqual(longLists(lines.slice(0, 5), SYNTAXES.llir), []);
});
