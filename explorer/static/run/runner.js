/**
 * Start runs of the shown result, follow them until they are done, and know of those before.
 *
 * @import { Problem } from "../types.js"
 * @import { MeasurementRow, Progress, Run, RunsDocument } from "./documents.js"
 */
import { ApiError, api } from "../api.js";
import { store } from "../store.js";
import { RunResult } from "./run_result.js";

/** @typedef {{compilation: string, document: RunsDocument | null, problem: Problem | null}} Runs */

/** How often a run is asked for what is no event, such as its place in the queue. */
const ASKED_MS = 1500;

/** Learn what was run of a compilation, and what it can be run on. @param {string} compilation */
export async function loadRuns(compilation) {
  if (store.state.runs?.compilation !== compilation) store.update({ runs: { compilation, document: null, problem: null } });
  try {
    const document = await api.runs(compilation);
    if (store.state.result?.id === compilation) store.update({ runs: { compilation, document, problem: null } });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (store.state.result?.id === compilation) store.update({ runs: { compilation, document: null, problem: error.problem } });
  }
}

/**
 * Run a compilation. What has run in the same way before is run again, as another attempt.
 * @param {string} compilation @param {Run} run @returns {Promise<RunResult | null>} null: it was refused, `runProblem` says why
 */
export async function startRun(compilation, run) {
  store.update({ startingRun: true, runProblem: null });
  try {
    const { id } = await api.startRun(compilation, { ...run, attempt: nextAttempt(compilation, run) });
    const result = await lookUp(id, compilation);
    result.started = Date.now();
    // Who waits for it is told of a run that has ended already, too.
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

/** The first attempt that has not been made yet; one under way is joined. @param {string} compilation @param {Run} run */
function nextAttempt(compilation, run) {
  const { runs } = store.state;
  const before = runs?.compilation === compilation ? (runs.document?.runs ?? []) : [];
  const same = before.filter((each) => settings(each.run) === settings(run));
  const last = same.reduce((one, other) => Math.max(one, other.run.attempt), -1);
  const isUnderWay = same.some(({ run: { attempt }, status }) => attempt === last && (status === "queued" || status === "running"));
  return isUnderWay ? last : last + 1;
}

/** What a run asks for, but for the attempt, in one order. @param {Run} run */
function settings(run) {
  const entries = /** @type {[string, unknown][]} */ (Object.entries({ ...run, attempt: 0, measures: [...run.measures].sort() }));
  return JSON.stringify(entries.sort(([one], [other]) => one.localeCompare(other)));
}

/** Look at a run, and follow it as long as it goes on. @param {string} id @param {string} compilation what it is looked at with @returns {Promise<RunResult>} */
export async function openRun(id, compilation) {
  const known = store.state.runResults.get(id);
  // A recording is compared with what it is looked at with.
  if (known && known.compilation === compilation) return known;
  const result = await lookUp(id, compilation);
  void follow(result);
  return result;
}

/** Stop a run; what it has measured so far stays. @param {RunResult} result */
export async function cancelRun(result) {
  try {
    await api.cancelRun(result.id);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    store.update({ runProblem: error.problem });
  }
}

/** @param {string} id @param {string} compilation */
async function lookUp(id, compilation) {
  const document = await api.run(id, compilation);
  // Two may have asked at once.
  const known = store.state.runResults.get(id);
  const result = known?.compilation === compilation ? known : new RunResult(document, compilation);
  store.update({ runResults: new Map(store.state.runResults).set(id, result) });
  return result;
}

/** Say that something of a run has come. @param {RunResult} result */
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

/** Take the events of a run until it is done. @param {RunResult} result */
async function follow(result) {
  if (result.finished || followed.has(result.id)) return;
  followed.add(result.id);
  const asking = setInterval(() => void askPlace(result), ASKED_MS);
  try {
    await listen(result);
    result.document = await api.run(result.id, result.compilation);
    // Where the server tells of no events, it answers all the same.
    while (!result.finished) {
      arrived(result);
      await pause(ASKED_MS);
      result.document = await api.run(result.id, result.compilation);
    }
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

/** The place in the queue is no event: it changes by what happens to others. @param {RunResult} result */
async function askPlace(result) {
  if (result.document.status !== "queued") return;
  const document = await api.run(result.id, result.compilation).catch(() => null);
  if (!document || result.document.status !== "queued") return;
  result.document.queue_position = document.queue_position;
  arrived(result);
}

/** @param {number} milliseconds @returns {Promise<void>} */
function pause(milliseconds) {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

/** Take the events of a run until it is done, or as long as the server tells of them. @param {RunResult} result @returns {Promise<void>} */
function listen(result) {
  const { document } = result;
  // The stream begins with all that has happened already.
  Object.assign(document, { measurements: [], diagnostics: [], log: [] });
  return new Promise((resolve) => {
    const stream = new EventSource(api.runUrl(result.id, "events"));
    const close = () => {
      stream.close();
      resolve();
    };
    /** @param {string} kind @param {(data: any) => void} take */
    const on = (kind, take) =>
      stream.addEventListener(kind, (event) => {
        if (document.status === "queued") Object.assign(document, { status: "running", queue_position: null });
        take(JSON.parse(event.data));
        arrived(result);
      });
    on("measurement", (/** @type {MeasurementRow} */ row) => document.measurements.push(row));
    on("progress", (/** @type {Progress} */ progress) => (document.progress = progress));
    on("diagnostic", (diagnostic) => document.diagnostics.push(diagnostic));
    on("log", (entry) => document.log.push(entry));
    on("done", ({ status }) => {
      document.status = status;
      close();
    });
    const isAlone = (/** @type {boolean} */ alone) => {
      result.isAlone = alone;
      arrived(result);
    };
    stream.addEventListener("open", () => isAlone(false));
    stream.addEventListener("error", () => {
      // The browser tries again by itself unless the server has refused; that nothing is to come is such a refusal, too.
      if (stream.readyState === EventSource.CLOSED) close();
      else isAlone(true);
    });
  });
}
