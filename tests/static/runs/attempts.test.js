import assert from "node:assert/strict";
import { test } from "node:test";
import { nextAttempt } from "../../../explorer/static/runs/attempts.js";

/** @type {any} */
const RUN = { device: "interpreter", measures: ["check", "counts"], seed: 0 };

/** @param {number} attempt @param {string} status @returns {any} */
const known = (attempt, status, changes = {}) => ({ run: { ...RUN, attempt, ...changes }, status });

test("a run that ended is run again, a run that goes on is joined", () => {
  assert.equal(nextAttempt(RUN, []), 0);
  assert.equal(nextAttempt(RUN, [known(0, "running")]), 0);
  assert.equal(nextAttempt(RUN, [known(0, "complete")]), 1);
  assert.equal(nextAttempt(RUN, [known(1, "queued"), known(0, "failed")]), 1);
});

test("a run that has ended since the list was made is run again", () => {
  assert.equal(nextAttempt(RUN, [known(0, "running"), known(0, "complete")]), 1);
  assert.equal(nextAttempt(RUN, [known(0, "complete"), known(0, "running")]), 1);
});

test("only runs with equal requests count, in any order of the measures", () => {
  assert.equal(nextAttempt(RUN, [known(0, "complete", { seed: 1 })]), 0);
  assert.equal(nextAttempt(RUN, [known(0, "complete", { measures: ["counts", "check"] })]), 1);
  assert.equal(nextAttempt(RUN, [known(0, "complete", { original: null })]), 1);
  assert.equal(nextAttempt(RUN, [known(0, "complete", { original: { source: "" } })]), 0);
});
