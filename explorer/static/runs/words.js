/**
 * Runs in words: the kind, the device and the status.
 *
 * @import { CompilationDocument } from "../core/types.js"
 * @import { RunDocument, RunRow } from "../core/types.js"
 */
import { ago, positionWords } from "../core/format.js";

export const INTERPRETED = "Interpreted on the CPU: results and counts are exact, times mean nothing.";

/** @param {RunRow} document */
export function runTitle({ run, recorded, imported, gpu }) {
  if (recorded) return recorded.gpu;
  if (imported && gpu) return gpu;
  return run.device === "gpu" ? "GPU" : "Interpreter";
}

/** Name the kind of a run. @param {RunRow} document */
export function runFacts({ run, config, recorded }) {
  const sizes = Object.entries(run.sizes)
    .map(([name, value]) => `${name} = ${value.toLocaleString("en")}`)
    .join(", ");
  const what = run.is_benchmark ? "the benchmark" : run.inputs.length ? "made inputs" : "the script's launch";
  // Of the runs made here all have that of the compilation.
  const configuration = recorded && config !== null ? `configuration ${config}` : "";
  return [what, configuration, sizes, run.measures.join(", ")].filter(Boolean).join(" · ");
}

/** Return the time of a run, or the tool that recorded a profile. @param {RunRow} document */
export function runMoment({ created, recorded }) {
  if (recorded) return `Triton ${recorded.triton}, ${recorded.date.slice(0, 10)}`;
  return ago(Date.now() - Date.parse(created));
}

/**
 * Return how the kernel of a run differs from the shown result; "": no known difference.
 * @param {RunDocument} document
 * @param {string} triton the Triton version of the shown result
 */
export function differenceWords({ match, binary, recorded }, triton) {
  if (match === "other triton")
    return `The profile was recorded with Triton ${recorded?.triton}. The result shown was compiled by Triton ${triton}.`;
  if (match === "other config")
    return "The profile was recorded with another launch, configuration or options of the same source.";
  if (match === "same kernel") return "The profile was recorded with an earlier version of this example.";
  return binary === "other" ? "The run executed a binary other than the one shown." : "";
}

/**
 * Return the kernel of a run if a link shows the run with a different result; "": the run belongs to the shown result.
 * @param {RunDocument} run
 * @param {CompilationDocument} shown
 */
export function strangerWords({ compilation, kernel, target, recorded }, shown) {
  if (compilation === shown.id) return "";
  const what = recorded
    ? `The profile in the link is of ${kernel}, from the example ${recorded.example}`
    : `The run in the link is of ${kernel ?? "another kernel"}`;
  if (kernel !== shown.kernel)
    return `${what}. The result shown is of another kernel, ${shown.kernel ?? "without a name"}.`;
  if (target !== shown.target.name)
    return `${what}, for ${target}. The result shown was compiled for ${shown.target.name}.`;
  return `${what}. The shown result is a different version of it, or was compiled with other options.`;
}

/** @param {Pick<RunDocument, "status" | "queue_position" | "progress">} document */
export function stateWords({ status, queue_position: position, progress }) {
  // A full queue had no place for it, or the server was stopped before: it is started when somebody looks at
  // it.
  if (status === "queued") return position ? positionWords(position) : "not started yet";
  if (status === "running") return progress?.text || "starting";
  return status === "complete" ? "complete" : "failed";
}

/**
 * Return whether a run failed, and its outcome in words for a list; "": as expected.
 * @param {RunRow} run
 * @returns {{isWrong: boolean, words: string}}
 */
export function outcomeOf(run) {
  const { status, matches, problem } = run;
  const [first = ""] = problem.split("\n");
  if (status === "failed") return { isWrong: true, words: first ? `failed: ${first}` : "failed" };
  if (status !== "complete") return { isWrong: false, words: stateWords(run) };
  if (matches === false) return { isWrong: true, words: "does not match the reference" };
  return { isWrong: Boolean(problem), words: first && `ran, with an error: ${first}` };
}

/** How long something takes, by the second. @param {number} milliseconds */
export function elapsed(milliseconds) {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  return seconds < 60
    ? `${seconds} s`
    : `${Math.floor(seconds / 60)} min ${String(seconds % 60).padStart(2, "0")} s`;
}
