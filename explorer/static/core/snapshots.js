/**
 * Which documents besides its text exist for the module after a pass.
 *
 * @import { PassRow } from "./types.js"
 */

/** The pass after which the module has no tensors. */
const TO_LLVM = /to-llvm/;

/** The passes after which tensors have layouts. @param {PassRow[]} passes */
export function passesWithLayouts(passes) {
  const lowered = passes.find(({ stage, name }) => stage === "llir" && TO_LLVM.test(name));
  return passes.filter(
    ({ stage, index }) => stage === "ttgir" || (stage === "llir" && (!lowered || index < lowered.index)),
  );
}
