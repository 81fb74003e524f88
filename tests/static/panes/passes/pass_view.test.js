import assert from "node:assert/strict";
import { test } from "node:test";
import { formatView, groupsOf, parseView } from "../../../../explorer/static/core/view.js";
import {
  countWords,
  formatPassView,
  listedPasses,
  parsePassView,
  previousChange,
  selectedPass,
} from "../../../../explorer/static/panes/passes/pass_view.js";

/** @import { PassRow } from "../../../../explorer/static/core/types.js" */

const passes = /** @type {PassRow[]} */ ([
  { index: 0, stage: "ttir", changed: true, failed: false },
  { index: 1, stage: "ttir", changed: false, failed: false },
  { index: 2, stage: "ttgir", changed: true, failed: false },
  { index: 3, stage: "ttgir", changed: false, failed: false },
  { index: 4, stage: "ttgir", changed: false, failed: true },
  { index: 5, stage: "ttgir", changed: false, failed: false, omitted: "it has 201 MiB" },
]);

/** @param {string} state @param {boolean} onlyChanged */
function listed(state, onlyChanged) {
  return listedPasses(passes, parsePassView(state), onlyChanged).map(({ index }) => index);
}

test("the state in an address is read and written back", () => {
  for (const state of [
    "ttgir.2",
    "llvm.7.u",
    "ttgir.2.s.t.w.y.l12",
    "llvm.",
    "ttgir.2.w;kind=tt.dot;search=a-20b",
  ])
    assert.equal(formatPassView(parsePassView(state)), state);
  assert.deepEqual(parsePassView("ttgir.2.l12.t;kind=ttg.convert_layout"), {
    stage: "ttgir",
    index: 2,
    form: "",
    whole: true,
    wide: false,
    types: false,
    line: 12,
    kind: "ttg.convert_layout",
    search: "",
  });
  assert.equal(parsePassView("ttgir").index, null);
});

test("any text that is searched is part of an address", () => {
  for (const search of ["warp_group_dot", "tensor<64x32xf16, #mma>", "50 %-x;y=z", "~(*!'é→", "a.b"]) {
    const state = formatPassView({ ...parsePassView("ttgir.2"), search });
    const address = `panes=passes:${state}*`;
    const view = parseView(formatView(parseView(address)));
    assert.deepEqual(view.layout && groupsOf(view.layout)[0]?.panes, [`passes:${state}`]);
    assert.equal(parsePassView(state).search, search);
  }
  assert.equal(parsePassView("ttgir.2;search=-zz").search, "");
});

test("a search lists only the passes that it has found", () => {
  const found = new Map([[3, {}]]);
  assert.deepEqual(
    listedPasses(passes, parsePassView("ttgir.2"), true, found).map(({ index }) => index),
    [3],
  );
  assert.deepEqual(listedPasses(passes, parsePassView("ttgir.2"), true, new Map()), []);
});

test("passes that changed nothing are left out, unless they failed or the address names them", () => {
  assert.deepEqual(listed("ttgir", true), [0, 2, 4, 5]);
  assert.deepEqual(listed("ttir.1", true), [0, 1, 2, 4, 5]);
  assert.deepEqual(listed("ttgir", false), [0, 1, 2, 3, 4, 5]);
});

test("the count names all passes that are listed as changed", () => {
  assert.equal(countWords(passes), "2 of 6, 1 not known, 1 failed");
  assert.equal(countWords(passes.slice(0, 4)), "2 of 4");
});

test("the pass of the address is selected, else the first one to its stage, else to TTGIR", () => {
  const selected = (/** @type {string} */ state, among = passes) =>
    selectedPass(among, parsePassView(state))?.index;
  assert.equal(selected("ttir.1"), 1);
  assert.equal(selected("ttir.99"), 0);
  assert.equal(selected("llir"), 2);
  assert.equal(selected("", passes.slice(0, 2)), 0);
  assert.equal(selected("", []), undefined);
});

test("the text before a change is that after the last earlier change", () => {
  assert.equal(previousChange(passes, passes[4])?.index, 2);
  assert.equal(previousChange(passes, passes[0]), null);
});
