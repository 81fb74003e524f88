import assert from "node:assert/strict";
import { test } from "node:test";
import { plainWords } from "../../../explorer/static/core/compiler_words.js";

/** Messages of Triton 3.6.0 and 3.9.0 and of ptxas, and the beginning of the plain words. */
for (const [message, words] of /** @type {const} */ ([
  [
    "Warning: vectorization fails vec = 1 origin vec = 1 numElems = 8 mask is 1",
    "The compiler does not vectorize this access: a thread moves 1 of its 8 elements at a time. The layout,",
  ],
  [
    "Warning: vectorization fails vec = 1 origin vec = 1 elemsPerThread = 128 mask is 1",
    "The compiler does not vectorize this access: a thread moves 1 of its 128 elements at a time. The layout,",
  ],
  [
    "Warning: vectorization fails vec = 1 origin vec = 4 numElems = 8 mask is 1",
    "The compiler does not vectorize this access: a thread moves 1 of its 8 elements at a time. The addresses allow 4, but the mask",
  ],
  [
    "MMA version 3 acceleration not applied due to unsupported shapes or data types.",
    "The matrix instructions of version 3 do not have the shapes",
  ],
  ["Unable to choose MFMA intrinsic for dot operation.", "The compiler finds no matrix instruction (MFMA)"],
  [
    "ptxas C7511: Potential Performance Loss: wgmma.mma_async instructions are serialized due to insufficient register resources for the wgmma pipeline in the function 'product'",
    "The matrix instructions wait for each other, because of this: insufficient register resources for the wgmma pipeline.",
  ],
  [
    "ptxas C7512: Potential Performance Loss: wgmma.mma_async instructions are serialized due to insufficient register resources for the function 'product'",
    "The matrix instructions wait for each other, because of this: insufficient register resources.",
  ],
  ["The fake GPU computes nothing: checks are skipped (line 65).", ""],
])) {
  test(`${message.slice(0, 60)} …`, () =>
    assert.ok(words ? plainWords(message).startsWith(words) : plainWords(message) === ""));
}
