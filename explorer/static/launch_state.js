/**
 * Where the arguments of the launch come from, in a word, and what to do where there are none.
 *
 * @import { Kernel, Launch } from "./types.js"
 */
import { diagnosticsOfDraft } from "./diagnostics.js";
import { store } from "./store.js";

/**
 * @param {Kernel | null} kernel @param {Launch | null} launch
 * @returns {{title: string, hint: string, isProblem?: boolean}}
 */
export function launchState(kernel, launch) {
  const { draft, inspection, inspectionProblem, run, sending } = store.state;
  const error = diagnosticsOfDraft().find(({ severity, line, stage }) => severity === "error" && line > 0 && stage === "");
  if (!kernel) {
    if (!draft.source.trim()) return { title: "Launch", hint: "Paste a kernel, with or without the code that launches it." };
    if (inspectionProblem && !run && !sending) {
      return { title: "Launch · not looked into", hint: `${inspectionProblem.title}. ${inspectionProblem.detail}`, isProblem: true };
    }
    if (!inspection) return { title: "Launch · looking", hint: "The source is being run against a fake GPU to see what it launches." };
    if (error) return { title: "Launch · source unreadable", hint: `Line ${error.line}: ${error.message}`, isProblem: true };
    return { title: "Launch · no kernel found", hint: "A kernel is a function with the decorator @triton.jit or @gluon.jit." };
  }
  const stale = inspection?.diagnostics.find(({ severity }) => severity === "error");
  const hint = stale ? `The source cannot be read as it is${stale.line ? ` (line ${stale.line})` : ""}: this is what it launched before.` : "";
  const isProblem = Boolean(hint);
  if (draft.mode === "form") return { title: "Launch · by hand", hint, isProblem };
  if (draft.mode === "signature") return { title: "Launch · by signature", hint, isProblem };
  if (launch) return { title: `Launch · found at line ${launch.line}`, hint, isProblem };
  return {
    title: "Launch · guessed", isProblem,
    hint: hint || "No launch in the source: types are guessed from names and use. Set them by hand, or add a launch.",
  };
}
