import assert from "node:assert/strict";
import { test } from "node:test";
import {
  lineWords,
  placeOf,
  sameSources,
  sourceFiles,
  sourceTexts,
} from "../../../explorer/static/core/source_files.js";

const SOURCES = {
  source: "import tools\nx = 1\n",
  path: "main.py",
  files: { "tools.py": "A = 1\r\nB = 2", "a/b.py": "C = 3\n" },
};

test("the lines of the files follow the lines of the script, in the order of their paths", () => {
  assert.deepEqual(
    sourceFiles(SOURCES).map(({ path, first }) => [path, first]),
    [
      ["", 1],
      ["a/b.py", 4],
      ["tools.py", 6],
    ],
  );
  assert.deepEqual(sourceTexts(SOURCES), ["import tools", "x = 1", "", "C = 3", "", "A = 1", "B = 2"]);
});

test("a number leads to the line of its file", () => {
  assert.deepEqual(placeOf(SOURCES, 2), { path: "", line: 2 });
  assert.deepEqual(placeOf(SOURCES, 4), { path: "a/b.py", line: 1 });
  assert.deepEqual(placeOf(SOURCES, 7), { path: "tools.py", line: 2 });
  assert.equal(lineWords(SOURCES, 7), "line 2 of tools.py");
  assert.equal(lineWords(SOURCES, 2), "line 2");
  assert.equal(lineWords(null, 7), "line 7");
});

test("sources are the same if the script and all files are", () => {
  assert.ok(sameSources(SOURCES, structuredClone(SOURCES)));
  assert.ok(!sameSources(SOURCES, { ...SOURCES, source: "x" }));
  assert.ok(!sameSources(SOURCES, { ...SOURCES, path: "other.py" }));
  assert.ok(!sameSources(SOURCES, { ...SOURCES, files: { ...SOURCES.files, "tools.py": "" } }));
  assert.ok(!sameSources(SOURCES, { source: SOURCES.source }));
  assert.ok(sameSources({ source: "x" }, { source: "x", path: "", files: {} }));
});
