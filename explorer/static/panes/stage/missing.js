/** Say why a stage pane has no text, and how to fill it. */
import { stageTitle, targetStages } from "../../core/stages.js";
import { store } from "../../core/store.js";

/** @param {string} name of the stage */
export function whyMissing(name) {
  const { result, run, sending } = store.state;
  const title = stageTitle(name);
  if (!result && !run && !sending) return `Compile a kernel to see its ${title} here.`;
  if (!result?.finished) return `${title} appears here as soon as the compilation has reached it.`;
  const { status } = result.document;
  if (status === "kernels_found")
    return `The program itself has no ${title}. Open its kernels to compile them.`;
  if (status === "failed") return `The compilation stopped before ${title}.`;
  if (!targetStages(result).includes(name)) return `${result.document.target.architecture} has no ${title}.`;
  return `This result has no ${title}.`;
}
