import assert from "node:assert/strict";
import { test } from "node:test";
import {
  checked,
  claimsText,
  formatLink,
  isLink,
  readLink,
} from "../../../explorer/static/lessons/exercise_link.js";

const EXERCISE = {
  start: "9zBgM_-1",
  title: "Fewer & fewer",
  task: "`num_warps` = 1?",
  goals: [{ says: "Loads", stage: "ttgir", pattern: "tt\\.load", least: 1 }],
  hints: ["Look."],
};

test("a link holds the whole exercise", () => {
  const link = formatLink(EXERCISE);
  assert.ok(!link.includes("&"));
  const address = link.slice("exercise=".length);
  assert.ok(isLink(address));
  assert.deepEqual(readLink(address), EXERCISE);
});

test("a name is no link", () => assert.ok(!isLink("one_warp")));

test("the server is asked for numbers, not for words", () => {
  assert.equal(claimsText(EXERCISE.goals), '[{"stage":"ttgir","pattern":"tt\\\\.load","least":1}]');
});

for (const [change, words] of /** @type {[object, string][]} */ ([
  [{ start: "../x" }, "Its start is not the ID of a result."],
  [{ title: " " }, "It has no title."],
  [{ task: 3 }, "Its task is missing."],
  [{ goals: [] }, "It has no goals."],
  [{ goals: Array(13).fill(EXERCISE.goals[0]) }, "It has more than 12 goals."],
  [{ goals: [{ says: "x", metric: "registers" }] }, "The goal “x” does not say how many."],
  [{ goals: [{ says: "x", onclick: "y", most: 1 }] }, "The goal “x” has an invalid “onclick”."],
  [{ goals: [null] }, "Its goal is missing."],
  [
    { goals: [{ says: "x", pattern: "y".repeat(201), most: 1 }] },
    "Its pattern has more than 200 characters.",
  ],
  [{ hints: Array(11).fill("x") }, "It has more than 10 hints."],
  [{ hints: Array(10).fill("x".repeat(500)), task: "y".repeat(1500) }, "It has more than 6,000 characters."],
])) {
  test(words, () => assert.throws(() => checked({ ...EXERCISE, ...change }), { message: words }));
}

for (const address of ["%7B", "{", "%E0%A4%A", "%7B%22start"]) {
  test(`“${address}” is cut off`, () => assert.throws(() => readLink(address), /cut off/));
}
