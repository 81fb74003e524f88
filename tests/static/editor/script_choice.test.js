import assert from "node:assert/strict";
import { test } from "node:test";
import {
  SCRIPT_NAME,
  chosenScript,
  freePath,
  movedAssumed,
  movedScript,
  pathProblem,
  pathsOf,
  renamedFile,
  withFiles,
  withoutFile,
} from "../../../explorer/static/editor/script_choice.js";

test("the main program is the script, else a file with a launch, else a file with a kernel", () => {
  const files = { "a.py": "x = 1", "b.py": "@triton.jit\ndef k(): ...", "c.py": "k[(1,)](x)" };
  assert.equal(chosenScript({ ...files, "d.py": 'if __name__ == "__main__":\n    k[(1,)]()' }), "d.py");
  assert.equal(chosenScript(files), "c.py");
  assert.equal(chosenScript({ "a.py": files["a.py"], "b.py": files["b.py"] }), "b.py");
  assert.equal(chosenScript({ "__init__.py": "", "z.py": "" }), "z.py");
  assert.equal(chosenScript({}), null);
});

test("the script of before becomes a file beside the new one", () => {
  const draft = { source: "edited", path: "a.py", files: { "b.py": "other", "c.py": "third" } };
  assert.deepEqual(movedScript(draft, "b.py"), {
    source: "other",
    path: "b.py",
    files: { "a.py": "edited", "c.py": "third" },
  });
  assert.equal(movedScript(draft, "unknown.py"), draft);
});

const PASTE = { source: "main", path: "a.py", files: { "b.py": "other" } };

test("the first file gives the script a path", () => {
  const alone = { source: "main", path: "", files: {} };
  const two = withFiles(alone, { [freePath(alone)]: "" });
  assert.deepEqual(two, { source: "main", path: SCRIPT_NAME, files: { "module.py": "" } });
  assert.equal(freePath(two), "module_2.py");
  assert.deepEqual(pathsOf(two), ["module.py", SCRIPT_NAME]);
});

test("an added file takes the place of the one of its path", () => {
  assert.deepEqual(withFiles(PASTE, { "a.py": "new", "b.py": "newer", "c.py": "third" }), {
    source: "new",
    path: "a.py",
    files: { "b.py": "newer", "c.py": "third" },
  });
});

test("files and the script are renamed", () => {
  assert.deepEqual(renamedFile(PASTE, "b.py", "c/b.py").files, { "c/b.py": "other" });
  assert.equal(renamedFile(PASTE, "a.py", "c.py").path, "c.py");
});

test("a removed script leaves its place to another file, and the last one stands alone", () => {
  assert.deepEqual(withoutFile(PASTE, "b.py"), { source: "main", path: "", files: {} });
  assert.deepEqual(withoutFile(PASTE, "a.py"), { source: "other", path: "", files: {} });
  const three = { ...PASTE, files: { ...PASTE.files, "c.py": "k[(1,)](x)" } };
  assert.deepEqual(withoutFile(three, "a.py"), {
    source: "k[(1,)](x)",
    path: "c.py",
    files: { "b.py": "other" },
  });
});

test("a path that the server refuses or that is taken is not accepted", () => {
  for (const path of ["", "x", "x.txt", "../x.py", "/x.py", ".x.py", "a//b.py", `${"x".repeat(300)}.py`])
    assert.match(pathProblem(PASTE, "b.py", path), /Write a path/);
  assert.match(pathProblem(PASTE, "b.py", "a.py"), /Another file/);
  for (const path of ["b.py", "kernels/größe 2.py"]) assert.equal(pathProblem(PASTE, "b.py", path), "");
});

test("assumed numbers stay with their lines", () => {
  const assumed = { 2: 5, 4: 7, "b.py:3": 9 };
  const before = "a\nb\nc\nd\ne";
  assert.deepEqual(movedAssumed(assumed, "", before, "a\nb\nnew\nc\nd\ne"), { 2: 5, 5: 7, "b.py:3": 9 });
  assert.deepEqual(movedAssumed(assumed, "", before, "a\nB\nc\nd\ne"), { 2: 5, 4: 7, "b.py:3": 9 });
  assert.deepEqual(movedAssumed(assumed, "", before, "a\nd\ne"), { 2: 7, "b.py:3": 9 });
  assert.deepEqual(movedAssumed(assumed, "b.py", "x\ny\nz", "y\nz"), { 2: 5, 4: 7, "b.py:2": 9 });
});
