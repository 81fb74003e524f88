/**
 * Where the arguments of the launch come from, in a word, and what to do where there are none.
 *
 * @import { CompilationDocument, Kernel, Launch } from "../core/types.js"
 */
import { lineWords } from "../core/source_files.js";
import { diagnosticsOfDraft } from "../core/diagnostics.js";
import { foundWords } from "../core/status.js";
import { store } from "../core/store.js";

/** Whether a kernel is the text of a stage, in place of Python. @param {{language: string | null}} kernel */
export function isStageText({ language }) {
  return language !== null && language !== "triton" && language !== "gluon";
}

/**
 * Why a compiled kernel cannot be run; "": it can. A run executes the Python source.
 * @param {Pick<CompilationDocument, "language" | "kernel_line">} compiled
 */
export function whyNotRun({ language, kernel_line: line }) {
  if (isStageText({ language }))
    return "The source is the text of a stage. A run executes Python: compile the kernel from its Python source.";
  if (line === 0) return "The source of this kernel is missing. A run executes the source.";
  return "";
}

/**
 * @param {Kernel | null} kernel @param {Launch | null} launch
 * @returns {{title: string, hint: string, isProblem?: boolean}}
 */
export function launchState(kernel, launch) {
  const { draft, inspection, inspectionProblem, run, sending } = store.state;
  const error = diagnosticsOfDraft().find(
    ({ severity, line, stage }) => severity === "error" && line > 0 && stage === "",
  );
  if (!kernel) {
    if (!draft.source.trim())
      return { title: "Launch", hint: "Paste a kernel, with or without the code that launches it." };
    if (inspectionProblem && !run && !sending) {
      return {
        title: "Launch · not inspected",
        hint: `${inspectionProblem.title}. ${inspectionProblem.detail}`,
        isProblem: true,
      };
    }
    if (!inspection)
      return {
        title: "Launch · inspecting",
        hint: "The server runs the source with a fake GPU to find its launches.",
      };
    if (error)
      return {
        title: "Launch · source error",
        hint: `${lineWords(draft, error.line).replace("l", "L")}: ${error.message}`,
        isProblem: true,
      };
    // Below it, the panel offers the kernels.
    if (inspection.output_code)
      return { title: `Launch · ${foundWords(inspection.output_code.kernels.length)}`, hint: "" };
    return {
      title: "Launch · no kernel found",
      hint: "A kernel is a function with the decorator @triton.jit or @gluon.jit.",
    };
  }
  if (isStageText(kernel))
    return { title: "Launch · none", hint: "The source is the text of a stage, which has no launch." };
  const guesses = draft.arguments.filter(({ name }) => draft.guessed[name]).length;
  if (draft.mode === "form")
    return {
      title: "Launch · by hand",
      hint: guesses ? `${guesses} of ${draft.arguments.length} arguments are guessed, marked with a ?.` : "",
    };
  if (draft.mode === "signature") return { title: "Launch · by signature", hint: "" };
  if (launch) return { title: `Launch · found at ${lineWords(draft, launch.line)}`, hint: "" };
  return {
    title: "Launch · guessed",
    hint: error
      ? `The script ends with an error at ${lineWords(draft, error.line)}, before it launches the kernel: arguments with a ? are guessed.`
      : "The source has no launch: arguments with a ? are guessed. Change them here, or add a launch.",
  };
}
