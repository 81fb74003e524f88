/** Test lists of values: how they are read, the problems of wrong lists, and their combinations. */
import "../browser.js";
import assert from "node:assert/strict";
import { test } from "node:test";
import { freshDraft } from "../../../explorer/static/core/fresh_draft.js";
import { withSettings } from "../../../explorer/static/launch/draft.js";
import {
  combinationsOf,
  countWords,
  fieldsOf,
  readList,
} from "../../../explorer/static/launch/value_lists.js";

/** @typedef {import("../../../explorer/static/launch/value_lists.js").Field} Field */

/** @type {Field} */
const BLOCK = { kind: "constants", name: "BLOCK", present: 1024 };
/** @type {Field} */
const CAUSAL = { kind: "constants", name: "CAUSAL", present: true };
/** @type {Field} */
const PRECISION = { kind: "constants", name: "PRECISION", present: "ieee" };
/** @type {Field} */
const WARPS = { kind: "options", name: "num_warps", present: undefined };

const PARAMETERS = [
  { name: "n", is_constexpr: false, guess: { name: "n", type: "i32", value: null } },
  { name: "BLOCK", is_constexpr: true, guess: { name: "BLOCK", type: "constexpr", value: 16 } },
];
const ARGUMENTS = [
  { name: "n", type: "i32", value: 4095 },
  { name: "BLOCK", type: "constexpr", value: 1024 },
];
/** @type {any} */
const INSPECTION = {
  kernels: [
    {
      name: "scale",
      parameters: PARAMETERS,
      configs: [{ index: 0, arguments: { BLOCK: 256 }, options: {} }],
    },
  ],
  launches: [{ index: 0, kernel: "scale", arguments: ARGUMENTS, options: {}, config: null }],
};

test("values are read once each, and a comma at the end is no problem", () => {
  assert.deepEqual(readList("64, 128,256 , 64,", BLOCK), { values: [64, 128, 256], problem: "" });
  assert.deepEqual(readList("True,False, None", CAUSAL).values, [true, false, null]);
  assert.deepEqual(readList("ieee, 'tf32'", PRECISION).values, ["ieee", "tf32"]);
  assert.deepEqual(readList("0.5, -1", { ...BLOCK, present: 0.1 }).values, [0.5, -1]);
  assert.deepEqual(readList(" ", BLOCK), { values: [], problem: "" });
});

test("a list with a wrong value says which value is wrong, and has no values", () => {
  for (const [text, field, problem] of /** @type {[string, Field, RegExp][]} */ ([
    ["64, 12x", BLOCK, /^12x is not a number\.$/],
    ["64 128", BLOCK, /^64 128 is not a number\. .* commas/],
    ["64,,128", BLOCK, /missing between two commas/],
    [",", BLOCK, /^$/],
    ["4, 0", WARPS, /^0 is not a whole number from 1 up/],
    ["4, 2.5", WARPS, /^2\.5 is not a whole number/],
    ["True, maybe", CAUSAL, /^maybe is neither True nor False/],
    ["9007199254740993", BLOCK, /cannot be sent exactly/],
  ])) {
    const list = readList(text, field);
    assert.match(list.problem, problem, text);
    assert.deepEqual(list.values, []);
  }
});

test("every combination of constants and options is made, and a list without values is left out", () => {
  const lists = [
    { field: BLOCK, values: [64, 128] },
    { field: CAUSAL, values: [] },
    { field: WARPS, values: [2, 4] },
  ];
  assert.deepEqual(combinationsOf(lists), [
    { constants: { BLOCK: 64 }, options: { num_warps: 2 } },
    { constants: { BLOCK: 64 }, options: { num_warps: 4 } },
    { constants: { BLOCK: 128 }, options: { num_warps: 2 } },
    { constants: { BLOCK: 128 }, options: { num_warps: 4 } },
  ]);
});

test("the number of compilations is given in words, with the limit if it is exceeded", () => {
  assert.deepEqual(countWords([3], 1, 1, 500), { words: "3 values: 3 compilations", problem: "" });
  assert.equal(
    countWords([2, 3], 2, 2, 500).words,
    "2 × 3 values for 2 targets and 2 Triton versions: 24 compilations",
  );
  assert.equal(countWords([500], 1, 1, 500).problem, "");
  assert.match(
    countWords([501], 1, 1, 500).problem,
    /501 compilations\. A matrix has at most 500: leave out/,
  );
});

test("the fields are the constants of the draft with their present values, then the options", () => {
  const draft = freshDraft("pass", "cuda:90", {});
  const named = (/** @type {Field[]} */ fields) =>
    Object.fromEntries(fields.map(({ name, present }) => [name, present]));
  const fields = fieldsOf(draft, INSPECTION, { num_warps: 4, waves_per_eu: 0 });
  assert.deepEqual(
    fields.map(({ name }) => name),
    ["BLOCK", "num_warps", "num_stages", "num_ctas", "maxnreg", "waves_per_eu"],
  );
  assert.equal(named(fields).BLOCK, 1024);
  assert.equal(named(fields).num_warps, 4);
  assert.equal(named(fieldsOf({ ...draft, config: 0 }, INSPECTION, {})).BLOCK, 256);
  assert.equal(named(fieldsOf({ ...draft, config: 0, constants: { BLOCK: 8 } }, INSPECTION, {})).BLOCK, 8);
  assert.equal(named(fieldsOf(draft, { ...INSPECTION, launches: [] }, {})).BLOCK, 16);
  const byHand = { ...draft, mode: /** @type {const} */ ("form"), arguments: /** @type {any} */ (ARGUMENTS) };
  assert.equal(named(fieldsOf(byHand, INSPECTION, {})).BLOCK, 1024);
  assert.equal(withSettings(byHand, { options: {}, constants: { BLOCK: 32 } }).arguments[1]?.value, 32);
  assert.equal("BLOCK" in named(fieldsOf({ ...draft, mode: "signature" }, INSPECTION, {})), false);
});
