import assert from "node:assert/strict";
import { test } from "node:test";
import { html, textPlaces } from "../../../explorer/static/core/template.js";

/** @param {readonly string[]} strings @param {unknown[]} _values */
const placesOf = (strings, ..._values) => textPlaces(strings);

test("a value between tags is a text", () => {
  assert.deepEqual(placesOf`<p>${0}</p>${0}`, [true, true]);
});

test("a value in an attribute is a text only if the attribute is read out", () => {
  assert.deepEqual(placesOf`<a href=${0} title="A ${0} of ${0}" .value=${0} @click=${0}>${0}</a>`, [
    false,
    true,
    true,
    false,
    false,
    true,
  ]);
});

test("a value in a tag without a name is a directive", () => {
  assert.deepEqual(placesOf`<a ${0} class="x ${0}" ${0}>${0}`, [false, false, false, true]);
});

test("texts are shown with escapes, and in lists as well", () => {
  const { values } = html`<p title=${"a\u202eb"} class=${"a\u202eb"}>${["a\u202eb", 1]}</p>`;
  assert.deepEqual(values, ["a\\u202eb", "a\u202eb", ["a\\u202eb", 1]]);
});
