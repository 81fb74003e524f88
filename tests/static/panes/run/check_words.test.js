import assert from "node:assert/strict";
import { test } from "node:test";
import { differenceWords, verdictWords } from "../../../../explorer/static/panes/run/check_words.js";

const output = (/** @type {boolean} */ matches) => /** @type {any} */ ({ matches });

test("the verdict counts the outputs", () => {
  assert.equal(verdictWords([output(true)]), "It matches the reference.");
  assert.equal(verdictWords([output(false)]), "It does not match the reference.");
  assert.equal(verdictWords([output(true), output(true)]), "Both outputs match the reference.");
  assert.equal(
    verdictWords([output(true), output(false), output(false)]),
    "2 of 3 outputs do not match the reference.",
  );
});

test("elements that are not finite are told even where a diagnostic says the rest", () => {
  const wrong = /** @type {any} */ ({ name: "y", worst_index: [3], worst_value: 2, worst_reference: 1 });
  const [relative_error, tolerance] = [0.5, 0.01];
  assert.equal(differenceWords({ ...wrong, relative_error, tolerance, not_finite: 0 }, true), "");
  assert.match(
    differenceWords({ ...wrong, relative_error, tolerance, not_finite: 0 }, false),
    /^y\[3\] is 2.*, the reference says 1/,
  );
  assert.match(
    differenceWords({ ...wrong, relative_error, tolerance, not_finite: 2 }, true),
    /^2 elements of y are NaN/,
  );
});
