import assert from "node:assert/strict";
import { test } from "node:test";
import "../browser.js";

const { Result } = await import("../../../explorer/static/core/result.js");

/** @param {object} changes */
const resultOf = (changes) =>
  new Result(
    /** @type {never} */ ({
      status: "complete",
      diagnostics: [{ severity: "error", message: "TypeError: missing a required argument: 'N'" }],
      specialization: { guesses: { N: "Used as a bound." } },
      ...changes,
    }),
  );

test("a complete result of guesses, whose script failed, is told from a result of a launch", () => {
  assert.equal(resultOf({}).hasFailedScript, true);
  assert.equal(
    resultOf({ specialization: { guesses: {} } }).hasFailedScript,
    false,
    "an error after a launch",
  );
  assert.equal(resultOf({ diagnostics: [] }).hasFailedScript, false, "a source without a launch");
  assert.equal(resultOf({ status: "failed" }).hasFailedScript, false);
});
