/**
 * Other Triton versions and options with which a failed compilation may succeed. Each is compiled in the
 * background.
 *
 * @import { Alternative, CompilationDocument, Draft } from "../core/types.js"
 * @import { Result } from "../core/result.js"
 */
import { draftOf } from "./draft.js";
import { canCompile } from "../core/host.js";
import { store } from "../core/store.js";
import { cancelVariants, compileVariants, variantOf } from "./variants.js";

/** Compile the source of a failed result with what may help it. @param {Result} failed */
export function compileAlternatives({ document }) {
  if (!canCompile) return;
  cancelVariants("alternatives");
  if (document.alternatives.length)
    void compileVariants(
      "alternatives",
      document.alternatives.map((each) => variantWith(document, changesOf(document, each))),
    );
}

/**
 * The alternatives that compile: one version, and one value of each option.
 * @param {Result} failed @returns {{name: string, changes: Partial<Draft>}[]}
 */
export function helpfulAlternatives({ document }) {
  const seen = new Set();
  return document.alternatives.flatMap((each) => {
    const changes = changesOf(document, each);
    const { key } = variantWith(document, changes);
    const kind = each.triton === null ? Object.keys(each.options).join() : "triton";
    if (store.state.outcomes.get(key)?.state !== "complete" || seen.has(kind)) return [];
    seen.add(kind);
    return [{ name: each.name, changes }];
  });
}

/** @param {CompilationDocument} document @param {Alternative} alternative @returns {Partial<Draft>} */
function changesOf({ request }, { triton, options }) {
  return triton === null ? { options: { ...request.options, ...options } } : { triton };
}

/** @param {CompilationDocument} document @param {Partial<Draft>} changes */
function variantWith(document, changes) {
  return variantOf({ ...draftOf(document), ...changes });
}
