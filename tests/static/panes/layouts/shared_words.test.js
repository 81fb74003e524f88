import assert from "node:assert/strict";
import { test } from "node:test";
import { sharedWords } from "../../../../explorer/static/panes/layouts/shared_words.js";

/** @import { SharedAccess } from "../../../../explorer/static/core/types.js" */

/** @param {string} operation @param {string[]} names */
function told(operation, ...names) {
  const emitted = names.map((name) => ({ name, count: 1, lane_bytes: null }));
  return sharedWords(
    /** @type {SharedAccess} */ (
      /** @type {unknown} */ ({ operation, conflicts: 0, source: "compiler", vector_bytes: 16, emitted })
    ),
  );
}

test("an access says what its own instruction does, not what another instruction of its line does", () => {
  const [load, store] = [
    "ldmatrix.sync.aligned.m8n8.x4.shared.b16",
    "stmatrix.sync.aligned.m8n8.x4.shared.b16",
  ];
  assert.match(told("ttg.local_load", store, load), /^Each lane reads .* uses ldmatrix, which loads rows/);
  assert.match(told("ttg.local_store", load, store), /^Each lane writes .* uses stmatrix, which stores rows/);
  assert.match(told("ttg.local_alloc", store), /uses stmatrix, which stores rows/);
  assert.doesNotMatch(told("ttg.local_store", load), /uses/);
  assert.match(told("ttg.local_load", "ds_read_b64_tr_b16"), /loads a tile for the whole wave/);
  assert.doesNotMatch(told("ttg.local_load", "ds_read_b128"), /uses/);
});
