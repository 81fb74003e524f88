import assert from "node:assert/strict";
import { test } from "node:test";
import { limitProblem, withoutCommonFolder } from "../../../explorer/static/editor/added_files.js";

test("a dropped folder is the root, unless it is a package", () => {
  assert.deepEqual(withoutCommonFolder({ "src/a.py": "1", "src/b/c.py": "2" }), {
    "a.py": "1",
    "b/c.py": "2",
  });
  const kept = { "pkg/__init__.py": "", "pkg/a.py": "1" };
  assert.deepEqual(withoutCommonFolder(kept), kept);
  const apart = { "a.py": "1", "b/c.py": "2" };
  assert.deepEqual(withoutCommonFolder(apart), apart);
});

test("the limits of the server count files beside the script and bytes of UTF-8", () => {
  assert.equal(limitProblem({ "a.py": "ä", "b.py": "" }, { files: 1, bytes: 2 }), "");
  assert.match(limitProblem({ "a.py": "ää" }, { files: 1, bytes: 3 }), /4 bytes; the limit is 3/);
  assert.match(
    limitProblem({ "a.py": "", "b.py": "", "c.py": "" }, { files: 1, bytes: 9 }),
    /3 Python files/,
  );
});
