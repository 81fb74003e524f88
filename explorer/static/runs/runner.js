/**
 * Start runs of the displayed result, follow them until they end, and load the earlier runs.
 *
 * @import { Problem } from "../core/types.js"
 * @import { MeasurementRow, Progress, Run, RunsDocument } from "../core/types.js"
 * @import { KnownRun } from "./attempts.js"
 */
import { ApiError, api } from "../core/api.js";
import { POLL_MS, follow as followEvents } from "../core/events.js";
import { store } from "../core/store.js";
import { nextAttempt } from "./attempts.js";
import { RunResult } from "./run_result.js";

/** @typedef {{compilation: string, document: RunsDocument | null, problem: Problem | null}} Runs */

/** The message for a canceled run that has other followers. @type {Problem} */
const GOES_ON = {
  title: "The run continues",
  kind: "followed",
  detail: "Another page or program follows it. It ends when the last one cancels it.",
};
/** Measures that consist of many runs. */
const LONG_MEASURES = ["sweep", "autotune"];

/** How many lists of runs were requested, and which request the last list that was shown belongs to. */
let requested = 0;
let shown = 0;

/**
 * Load the runs of a compilation and the devices that can run it. An answer that a later one has overtaken is
 * ignored.
 * @param {string} compilation
 */
export async function loadRuns(compilation) {
  requested += 1;
  const request = requested;
  /** @param {Pick<Runs, "document" | "problem">} answer */
  const show = (answer) => {
    if (store.state.result?.id !== compilation || request < shown) return;
    shown = request;
    store.update({ runs: { compilation, ...answer } });
  };
  if (store.state.runs?.compilation !== compilation)
    store.update({ runs: { compilation, document: null, problem: null } });
  try {
    show({ document: await api.runs(compilation), problem: null });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    show({ document: null, problem: error.problem });
  }
}

/**
 * Everything the page knows of the runs of a compilation: a run that it follows ends before the next list says
 * so, and may not be in the last list at all.
 * @param {string} compilation
 * @returns {KnownRun[]}
 */
function knownRuns(compilation) {
  const { runs, runResults } = store.state;
  const listed = runs?.compilation === compilation ? (runs.document?.runs ?? []) : [];
  const opened = [...runResults.values()].map(({ document }) => document);
  return [...listed, ...opened.filter((each) => each.compilation === compilation && !each.recorded)];
}

/**
 * Run a compilation. A run with an equal request becomes another attempt.
 * @param {string} compilation
 * @param {Run} run
 * @returns {Promise<RunResult | null>} null: the server refused; `runProblem` has the reason
 */
export async function startRun(compilation, run) {
  store.update({ startingRun: true, runProblem: null });
  try {
    const isBatch = run.measures.some((each) => LONG_MEASURES.includes(each));
    const attempt = nextAttempt(run, knownRuns(compilation));
    const { id } = await api.startRun(compilation, { ...run, attempt }, { isBatch });
    const result = await lookUp(id, compilation);
    result.started = Date.now();
    // Listeners are also notified of a run that has already ended.
    store.update({ startingRun: false, runUnderWay: result });
    if (result.finished) store.update({ runUnderWay: null });
    else void follow(result);
    void loadRuns(compilation);
    return result;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    store.update({ startingRun: false, runProblem: error.problem });
    return null;
  }
}

/**
 * Open a run, and follow it until it ends.
 * @param {string} id
 * @param {string} compilation the compilation that it is compared with
 * @returns {Promise<RunResult>}
 */
export async function openRun(id, compilation) {
  const known = store.state.runResults.get(id);
  // A profile is compared with the displayed compilation.
  if (known && known.compilation === compilation) return known;
  const result = await lookUp(id, compilation);
  void follow(result);
  return result;
}

/** Cancel a run, unless it has other followers. Its measurements so far are kept. @param {RunResult} result */
export async function cancelRun(result) {
  try {
    if (await api.cancelRun(result.id)) store.update({ runProblem: GOES_ON });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    store.update({ runProblem: error.problem });
  }
}

/** @param {string} id @param {string} compilation */
async function lookUp(id, compilation) {
  const document = await api.run(id, compilation);
  // Two callers may have requested the run at the same time.
  const known = store.state.runResults.get(id);
  const result = known?.compilation === compilation ? known : new RunResult(document, compilation);
  store.update({ runResults: new Map(store.state.runResults).set(id, result) });
  return result;
}

/** Notify the listeners of a change of a run. @param {RunResult} result */
function arrived(result) {
  const { runResults, shownRun, runUnderWay } = store.state;
  store.update({
    runResults,
    ...(shownRun === result ? { shownRun } : {}),
    ...(runUnderWay === result ? { runUnderWay: result.finished ? null : result } : {}),
  });
}

/** @type {Set<string>} runs whose events are listened to */
const followed = new Set();

/** Apply the events of a run until it ends. @param {RunResult} result */
async function follow(result) {
  if (result.finished || followed.has(result.id)) return;
  followed.add(result.id);
  const asking = setInterval(() => void askPosition(result), POLL_MS);
  try {
    await listen(result);
    result.document = await api.run(result.id, result.compilation);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    store.update({ runProblem: error.problem });
  } finally {
    clearInterval(asking);
    followed.delete(result.id);
  }
  arrived(result);
  if (store.state.runUnderWay === result) store.update({ runUnderWay: null });
  const { result: shown } = store.state;
  if (shown?.id === result.compilation) void loadRuns(shown.id);
}

/** Poll the position in the queue: other jobs change it, so no event of the run reports it. @param {RunResult} result */
async function askPosition(result) {
  if (result.document.status !== "queued") return;
  const document = await api.run(result.id, result.compilation).catch(() => null);
  if (!document || result.document.status !== "queued") return;
  result.document.queue_position = document.queue_position;
  arrived(result);
}

/**
 * Apply the events of a run until it ends or the server closes the stream.
 * @param {RunResult} result
 * @returns {Promise<void>}
 */
function listen(result) {
  const { document } = result;
  // The stream begins with all earlier events.
  Object.assign(document, { measurements: [], diagnostics: [], log: [] });
  /** @param {(data: any) => void} handle @returns {(data: any) => void} */
  const on = (handle) => (data) => {
    if (document.status === "queued") Object.assign(document, { status: "running", queue_position: null });
    handle(data);
    arrived(result);
  };
  return followEvents(api.runEvents(result.id), {
    on: {
      measurement: on((/** @type {MeasurementRow} */ row) => document.measurements.push(row)),
      progress: on((/** @type {Progress} */ progress) => (document.progress = progress)),
      diagnostic: on((diagnostic) => document.diagnostics.push(diagnostic)),
      log: on((entry) => document.log.push(entry)),
      done: ({ status }) => {
        document.status = status;
      },
    },
    readDocument: async () => {
      result.document = await api.run(result.id, result.compilation);
      arrived(result);
      return result.finished;
    },
    alone: (isAlone) => {
      result.isAlone = isAlone;
      arrived(result);
    },
  });
}
