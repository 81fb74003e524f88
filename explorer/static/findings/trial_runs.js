/**
 * The runs of trials: both kernels run on the arguments of the launch, and what they write and need is compared.
 *
 * @import { Check, CompilationDocument, Run, RunDocument, Timing, Timings } from "../core/types.js"
 */
import { ApiError, api } from "../core/api.js";
import { dimensions, error as errorWords, time } from "../core/numbers.js";
import { isFaster } from "../compare/side_rows.js";

/**
 * What both kernels write, and their times. `details` has the compared outputs and their tolerances. `isFaster`: null if the times do not differ, undefined if none was measured.
 * @typedef {{isOther: boolean, words: string, details?: string, before?: Timing, timing?: Timing, isFaster?: boolean | null}} Results
 */
/**
 * Returns the finished run of the kernel of a compilation; null: there is none, or it was cancelled.
 * @typedef {(compilation: string, fields: Run) => Promise<RunDocument | null>} Runner
 */

const POLL_MS = 400;
const UNFINISHED = ["queued", "running"];
const NOT_MEASURED = "not measured";

/** Run kernels, and compare with the kernel of `original`. @param {string} original @param {AbortSignal} signal @returns {Runner} */
export function runStarter(original, signal) {
  return async (compilation, fields) => {
    if (signal.aborted) return null;
    const { id } = await api.startRun(compilation, fields, { isBatch: true }, original);
    const cancel = () => api.cancelRun(id);
    const finished = await canceledByLeaving(cancel, async () => {
      while (!signal.aborted) {
        const found = await api.run(id, compilation);
        if (!UNFINISHED.includes(found.status)) return found;
        await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      }
      return null;
    });
    if (!finished) await cancel();
    return finished;
  };
}

/**
 * Follow a job to its end. Cancel it if the page is closed or left meanwhile, unless the browser keeps the page to show
 * it again.
 * @template Found
 * @param {() => Promise<unknown>} cancel @param {() => Promise<Found>} followToEnd
 */
export async function canceledByLeaving(cancel, followToEnd) {
  const leave = (/** @type {PageTransitionEvent} */ { persisted: isKept }) => {
    if (!isKept) void cancel().catch(() => {}); // nobody is there to read an error
  };
  addEventListener("pagehide", leave);
  try {
    return await followToEnd();
  } finally {
    removeEventListener("pagehide", leave);
  }
}

/** Find the runs that a `runStarter` has made. @param {CompilationDocument} original @returns {Runner} */
export function runFinder({ request: { source, config, options, constants } }) {
  const wanted = JSON.stringify({ source, config, options, constants });
  return async (compilation, { device, measures }) => {
    const { runs } = await api.runs(compilation);
    const row = runs.find(
      ({ run, status }) =>
        !UNFINISHED.includes(status) &&
        run.device === device &&
        String(run.measures) === String(measures) &&
        JSON.stringify(run.original) === wanted,
    );
    return row ? api.run(row.id, compilation) : null;
  };
}

/**
 * Time a kernel on a GPU of its target. Without a time, the interpreter compares the results.
 * @param {CompilationDocument} document @param {Runner} run
 * @returns {Promise<Timing | undefined>}
 */
export async function measure({ id, target }, run) {
  try {
    const { gpu } = (await api.runs(id)).devices;
    return gpu.available && gpu.target === target.name ? (await outcome(id, true, run))?.timing : undefined;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return undefined;
  }
}

/**
 * Compare what a kernel with a change writes, and its time, with the kernel before; null: there is no run.
 * @param {string} id @param {import("./trials.js").Change} change @param {Timing | undefined} before
 * @param {Runner} run @returns {Promise<Results | null>}
 */
export async function compared(
  id,
  { constants, edits, is_exact: isExact, is_correction: isCorrection },
  before,
  run,
) {
  if (isCorrection) return { isOther: false, words: "results not compared: the kernel before is wrong" };
  // Options leave the results as they are.
  const mayWriteOther = edits.length > 0 || Object.keys(constants).length > 0;
  if (!before && !mayWriteOther) return { isOther: false, words: NOT_MEASURED };
  // The interpreter does not round as the GPU does, and the tolerance of the comparison allows for TF32.
  const rounded = "results are rounded otherwise";
  if (!before && !isExact) return { isOther: false, words: `${rounded}, ${NOT_MEASURED}` };
  const found = await outcome(id, Boolean(before), run);
  if (!found || found.isOther) return found;
  if (!isExact) found.words = rounded;
  if (!before) return { ...found, words: `${found.words}, ${NOT_MEASURED}` };
  if (!found.timing) return { ...found, isFaster: null, words: `${found.words}, the GPU gave no time` };
  const { median_ns: median, low_ns: low, high_ns: high } = found.timing;
  const faster = isFaster(before, found.timing);
  const isWhat = { true: "faster", false: "slower", null: "no clear difference" }[`${faster}`];
  const times = `${time(before.median_ns)} → ${time(median)} (${time(low)} to ${time(high)})`;
  return { ...found, before, isFaster: faster, words: `${found.words}, measured: ${times}, ${isWhat}` };
}

/**
 * The outcome of a run; null: there is none.
 * @param {string} id @param {boolean} isTimed
 * @param {Runner} run @returns {Promise<Results | null>}
 */
async function outcome(id, isTimed, run) {
  const fields = /** @type {Run} */ (
    isTimed ? { device: "gpu", measures: ["check", "time"] } : { device: "interpreter", measures: ["check"] }
  );
  try {
    const found = await run(id, fields);
    if (!found) return null;
    const read = async (/** @type {string} */ wanted) =>
      found.measurements.some(({ name }) => name === wanted) ? api.measurement(found.id, wanted) : null;
    const timings = /** @type {Timings | null} */ (await read("timings"))?.timings ?? [];
    const outputs = /** @type {Check | null} */ (await read("check"))?.outputs ?? [];
    return {
      ...resultsOf(found),
      details: outputs.map(detailsOf).join("; "),
      timing: timings.find(({ cache }) => cache === "cold"),
    };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { isOther: true, words: `results not compared: ${error.problem.detail}` };
  }
}

/** @param {Pick<RunDocument, "matches" | "not_compared" | "problem">} run @returns {Results} */
function resultsOf({ matches, not_compared: reason, problem }) {
  if (matches === null) return { isOther: !reason, words: `results not compared: ${reason || problem}` };
  return matches
    ? { isOther: false, words: "same results" }
    : { isOther: true, words: "the kernel writes other results" };
}

/** @param {Check["outputs"][number]} output */
function detailsOf({ name, shape, relative_error: relative, tolerance }) {
  const size = shape.length ? ` (${dimensions(shape)})` : "";
  return `${name}${size}: relative error ${errorWords(relative)}, tolerance ${errorWords(tolerance)}`;
}
