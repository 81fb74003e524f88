import assert from "node:assert/strict";
import { test } from "node:test";
import { Folding } from "../../../../explorer/static/panes/stage/folding.js";
import { SYNTAXES } from "../../../../explorer/static/core/languages.js";

/** @import { Outline, Region } from "../../../../explorer/static/text/outline.js" */

/**
 * A function from line 1 to 10 with a loop from line 3 to 8, and in it a region from line 5 to 6.
 */
function folding() {
  const lines = Array.from({ length: 10 }, (_, index) => `line ${index + 1}`);
  const region = (/** @type {string} */ kind, /** @type {number} */ first, /** @type {number} */ last) =>
    /** @type {Region} */ ({ kind, first, last, closes: true, title: kind });
  const regions = [region("function", 1, 10), region("loop", 3, 8), region("region", 5, 7)];
  const read = new Folding();
  read.read(lines, /** @type {Outline} */ ({ regions }), { regions: { by: "braces" } });
  return read;
}

/** @param {Folding} read */
function hiddenLines(read) {
  const hidden = new Uint8Array(14);
  read.hide(hidden);
  return [...hidden.keys()].filter((line) => hidden[line]);
}

test("a region hides the lines between its first and its last line", () => {
  const read = folding();
  read.set(3, true);
  assert.deepEqual(hiddenLines(read), [4, 5, 6, 7]);
  read.set(3, false);
  assert.deepEqual(hiddenLines(read), []);
});

test("a line that heads nothing cannot be folded", () => {
  const read = folding();
  read.set(4, true);
  assert.equal(read.state, "");
});

test("folding everything keeps the skeletons of functions", () => {
  const read = folding();
  read.setAll(true);
  assert.deepEqual([...read.folded].sort(), [3, 5]);
  assert.equal(read.state, "all");
});

test("the innermost fold around a line is found, the innermost open one as well", () => {
  const read = folding();
  assert.equal(read.around(6, false)?.first, 5);
  read.set(5, true);
  assert.equal(read.around(6, true)?.first, 3);
});

test("the state in an address is read back", () => {
  for (const state of ["", "3", "3.5", "all", "1"]) {
    const read = folding();
    read.state = state;
    const again = folding();
    again.state = read.state;
    assert.deepEqual(again.folded, read.folded, state);
  }
});

test("lines of an address that this text does not have are ignored", () => {
  const read = folding();
  read.state = "2.3.99.x";
  assert.equal(read.state, "3");
});

test("a line is uncovered by unfolding all that hides it", () => {
  const read = folding();
  read.setAll(true);
  assert.equal(read.uncover(6), true);
  assert.deepEqual(hiddenLines(read), []);
  assert.equal(read.uncover(6), false);
});

/** The layout aliases from line 1 to 5 and the constants from line 7 to 11 of a module. */
function withLists() {
  const lines = [
    ...Array.from({ length: 5 }, (_, index) => `#layout${index} = #ttg.blocked<{}>`),
    "module {",
    ...Array.from({ length: 5 }, (_, index) => `    %c${index} = arith.constant ${index} : i32`),
    "}",
  ];
  const read = new Folding();
  read.read(
    lines,
    /** @type {Outline} */ ({ regions: /** @type {Region[]} */ ([]) }),
    SYNTAXES.ttgir ?? { regions: { by: "braces" } },
  );
  return read;
}

test("layout aliases and constants are folded until they are opened", () => {
  const read = withLists();
  read.state = "";
  assert.deepEqual(hiddenLines(read), [2, 3, 4, 5, 8, 9, 10, 11]);
  assert.equal(read.at(7)?.title, "constants");
  assert.equal(read.state, "");
  read.set(7, false);
  assert.equal(read.state, "1");
  read.set(1, false);
  assert.equal(read.state, "none");
});

test("an address without folded lists is read back", () => {
  for (const state of ["none", "7", "all"]) {
    const read = withLists();
    read.state = state;
    const again = withLists();
    again.state = read.state;
    assert.deepEqual(again.folded, read.folded, state);
  }
});
