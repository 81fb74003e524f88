import assert from "node:assert/strict";
import { test } from "node:test";
import { formatView, groupsOf, parseLayout, parseView } from "../../../explorer/static/core/view.js";

const ADDRESSES = [
  "#panes=stage:ttgir",
  "#panes=stage:ttgir,passes*@60+(stage:sass+log)@40",
  "#panes=stage:ttgir;fold=all.61;only=6.7@30+graph",
  "#panes=roofline&line=ttgir.42&pin=3,4&read&source",
  "#panes=log&tour=programs.2",
  "#exercise=%7B%22title%22%3A%22a%26b%22%7D",
  "",
];

for (const address of ADDRESSES) {
  test(`“${address}” is written as it is read`, () => assert.equal(formatView(parseView(address)), address));
}

test("tabs, the one in front and shares are read", () => {
  const layout = parseLayout("stage:ttgir,passes*@60+log@40");
  assert.deepEqual(layout && groupsOf(layout), [
    { panes: ["stage:ttgir", "passes"], active: 1, share: 60 },
    { panes: ["log"], active: 0, share: 40 },
  ]);
});

for (const text of ["", "+", "log+", "(log", "Log", "log@", `${"(".repeat(9)}log${")".repeat(9)}`]) {
  test(`“${text}” is no layout`, () => assert.equal(parseLayout(text), null));
}

test("pins that are no lines are left out", () => {
  assert.deepEqual(parseView("#pin=3,0,-1,x,4.5,7").pinned, [3, 7]);
});

test("what cannot be decoded is taken as it is", () => {
  assert.equal(parseView("#panes=%E0%A4%A").layout, null);
  assert.deepEqual(parseView("#panes=stage%3Attgir"), parseView("#panes=stage:ttgir"));
});
