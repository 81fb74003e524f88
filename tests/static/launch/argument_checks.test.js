import "../browser.js";
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  assumedOf,
  assumptionsOf,
  draftProblems,
  optionProblem,
  readValue,
  typeProblem,
  unitOf,
  valueProblem,
} from "../../../explorer/static/launch/argument_checks.js";
import { freshDraft } from "../../../explorer/static/core/fresh_draft.js";
import { store } from "../../../explorer/static/core/store.js";

store.update({ argumentTypes: ["fp16", "i32"], typePattern: String.raw`\*?(fp16|fp32|i1|i32|i64|u8)` });

test("values are read as Python reads them", () => {
  assert.equal(readValue(" 1_024 "), 1024);
  assert.equal(readValue("-3"), -3);
  assert.equal(readValue("True"), true);
  assert.equal(readValue("None"), null);
  assert.equal(readValue(""), null);
  assert.equal(readValue("0.5"), 0.5);
  assert.equal(readValue("'ieee'"), "ieee");
});

test("a float that is whole stays a text, because JSON would make an integer of it", () =>
  assert.equal(readValue("2.0"), "2.0"));

test("a type is a type of Triton, or constexpr", () => {
  assert.equal(typeProblem("*fp16"), "");
  assert.equal(typeProblem("constexpr"), "");
  assert.match(typeProblem("*fp17"), /not a type of Triton/);
  assert.match(typeProblem(""), /missing/);
});

test("integers stay within their type", () => {
  assert.equal(valueProblem("2147483647", "i32"), "");
  assert.match(valueProblem("2147483648", "i32"), /−2147483648 to 2147483647/);
  assert.match(valueProblem("-1", "u8"), /0 to 255/);
  assert.match(valueProblem("-1", "u64"), /no negative/);
  assert.match(valueProblem("1.5", "i32"), /whole number/);
  assert.equal(valueProblem("True", "i1"), "");
  assert.match(valueProblem("2", "i1"), /0 to 1/);
});

test("an integer that JSON cannot carry exactly is refused for every type", () => {
  assert.match(valueProblem("9007199254740993", "i64"), /2⁵³/);
  assert.match(valueProblem("9007199254740993", "constexpr"), /2⁵³/);
});

test("only a constant needs a value", () => {
  assert.match(valueProblem("", "constexpr"), /needs a value/);
  assert.equal(valueProblem("", "i32"), "");
  assert.equal(valueProblem("", "*fp16"), "");
});

test("a launch specializes integers on 1 and on multiples of 16", () => {
  assert.equal(assumedOf("i32", 1), "equal to 1");
  assert.equal(assumedOf("i32", 48), "divisible by 16");
  assert.equal(assumedOf("i32", 17), "");
  assert.equal(assumedOf("i1", 1), "");
  assert.equal(assumedOf("fp32", 16), "");
  assert.deepEqual(assumptionsOf("*fp16"), ["", "divisible by 16"]);
  assert.deepEqual(assumptionsOf("fp32"), [""]);
});

test("a unit is named only where name and value tell it", () => {
  const constant = { type: "constexpr", value: 4 };
  assert.equal(unitOf({ ...constant, name: "num_warps" }), "warps");
  assert.equal(unitOf({ ...constant, name: "BLOCK_SIZE_M" }), "elements");
  assert.equal(unitOf({ ...constant, name: "GROUP_M" }), "");
  assert.equal(unitOf({ name: "num_warps", type: "i32", value: 4 }), "");
});

test("options are whole numbers from 1 up", () => {
  assert.equal(optionProblem(" 8 "), "");
  for (const text of ["0", "-1", "1.5", "four", "1000000"]) assert.notEqual(optionProblem(text), "", text);
});

test("a draft has the problems of its options, and of its cells where arguments are given by hand", () => {
  /** @type {import("../../../explorer/static/core/types.js").Argument} */
  const argument = {
    name: "n",
    type: "i32",
    specialization: "equal to 1",
    value: 2,
    shape: null,
    strides: null,
  };
  const draft = freshDraft("source", "cuda:90", {
    arguments: [argument],
    typed: { "option:num_warps": "x", "n.value": "1.5" },
  });
  assert.deepEqual(
    draftProblems(draft).map((problem) => problem.split(":")[0]),
    ["num_warps"],
  );
  assert.deepEqual(
    draftProblems({ ...draft, mode: "form" }).map((problem) => problem.split(":")[0]),
    ["num_warps", "n", "n"],
  );
});
