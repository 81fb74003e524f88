/**
 * What the module after a pass can be asked for beside its text.
 *
 * @import { PassRow } from "./types.js"
 */

/** From here on there are no tensors any more. */
const TO_LLVM = /to-llvm/;

/** The passes after which tensors have layouts. @param {PassRow[]} passes */
export function passesWithLayouts(passes) {
  const lowered = passes.find(({ stage, name }) => stage === "llir" && TO_LLVM.test(name));
  return passes.filter(
    ({ stage, index }) => stage === "ttgir" || (stage === "llir" && (!lowered || index < lowered.index)),
  );
}
