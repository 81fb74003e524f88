import assert from "node:assert/strict";
import { test } from "node:test";
import { strToU8, zipSync } from "fflate";
import { pythonFiles } from "../../../explorer/static/editor/zip.js";

const LIMITS = { files: 3, bytes: 1000 };
const packed = (/** @type {Record<string, string>} */ files) =>
  zipSync(Object.fromEntries(Object.entries(files).map(([path, text]) => [path, strToU8(text)])));

/** Change a 32-bit number behind each occurrence of a signature. @param {Uint8Array} zip @param {number} signature @param {number} offset @param {number} value */
function forged(zip, signature, offset, value) {
  const view = new DataView(zip.buffer, zip.byteOffset, zip.byteLength);
  for (let at = 0; at + 4 <= zip.length; at += 1)
    if (view.getUint32(at, true) === signature) view.setUint32(at + offset, value, true);
  return zip;
}
const CENTRAL = 0x02014b50;

test("the Python files of an archive are unpacked, and nothing else", () => {
  const zip = packed({
    "pkg/__init__.py": "",
    "pkg/a.py": "x = 'ä'\r\ny = 2\r\n",
    "pkg/notes.txt": "n".repeat(5000),
    "pkg/.git/hook.py": "hidden",
    "__MACOSX/pkg/a.py": "metadata",
  });
  assert.deepEqual(pythonFiles("a.zip", zip, LIMITS), {
    "pkg/__init__.py": "",
    "pkg/a.py": "x = 'ä'\ny = 2\n",
  });
});

for (const path of ["../up.py", "a/../../up.py", "/etc/x.py", "a\\b.py"]) {
  test(`“${path}” is refused`, () =>
    assert.throws(() => pythonFiles("a.zip", packed({ [path]: "x" }), LIMITS), /outside of its folder/));
}

test("too many files, too many bytes and a bomb are refused", () => {
  const many = packed(Object.fromEntries([1, 2, 3, 4, 5].map((each) => [`${each}.py`, ""])));
  assert.throws(() => pythonFiles("a.zip", many, LIMITS), /more than 4 Python files/);
  const large = packed({ "a.py": "#".repeat(600), "b.py": "#".repeat(600) });
  assert.throws(() => pythonFiles("a.zip", large, LIMITS), /more than 1,000 bytes/);
  const bomb = packed({ "a.py": "#".repeat(50_000_000) });
  assert.ok(bomb.length < 100_000);
  assert.throws(() => pythonFiles("a.zip", bomb, LIMITS), /more than 1,000 bytes/);
});

test("a bomb that claims to be small is not unpacked beyond what it claims", () => {
  const liar = forged(packed({ "a.py": "#".repeat(50_000_000) }), CENTRAL, 24, 10);
  assert.equal(pythonFiles("a.zip", liar, { files: 3, bytes: 100_000 })["a.py"]?.length, 10);
});

test("a damaged archive is refused, and so is a file that is no archive", () => {
  for (const data of [new Uint8Array(), strToU8("no archive"), packed({ "a.py": "x" }).slice(0, -30)])
    assert.throws(() => pythonFiles("a.zip", data, LIMITS), /cannot be unpacked/);
});
