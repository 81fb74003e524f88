/**
 * Compile drafts and follow the compilations until they are done.
 *
 * The panes switch to a new result of the same source in one step: when every visible stage has arrived, or at the end.
 * Until then the previous result stays, marked as stale. A result of another source is shown from its first stage on.
 * After a failure, the panes show the failed compilation, and the last complete result can be shown again.
 *
 * A live compilation follows from typing. It becomes the result at its end, if it is complete; the stage panes
 * show its stages earlier, as they arrive. If it fails, the previous result stays.
 *
 * @import { CompilationDocument, Draft, InspectionDocument, Progress, StageRow, PassRow } from "../core/types.js"
 * @import { Sources } from "../core/source_files.js"
 */
import { ApiError, api, isAbort } from "../core/api.js";
import { IN_PLACE } from "../core/selection.js";
import { draftProblems } from "./argument_checks.js";
import { draftOf, filesOf, requestOf, sameRequest } from "./draft.js";
import { POLL_MS, follow as followEvents } from "../core/events.js";
import { canCompile } from "../core/host.js";
import { expectOwn } from "../menus/expected_results.js";
import { Result } from "../core/result.js";
import { sameSources, sourceTexts } from "../core/source_files.js";
import { shownStage, targetStages } from "../core/stages.js";
import { isOver } from "../core/status.js";
import { store } from "../core/store.js";
import { matchLines } from "../text/line_matching.js";
import { isAwaited } from "./variants.js";

/** After this time, the page says that a live compilation is under way. */
const SHOWN_AFTER_MS = 1000;
/** The reason of an abort: a live compilation replaces the compilation. */
const REPLACED = new DOMException("A live compilation takes its place.", "AbortError");

/** @type {AbortController | null} ends the request or event stream under way */
let current = null;
/** @type {AbortController | null} */
let inspecting = null;
/** The sources whose kernels were found last. @type {Sources | null} */
let inspected = null;
/** Settled when the server has answered the last submission: submissions must not overtake each other. */
let submitted = Promise.resolve();
/** The last result on screen that came to its end, and the last complete one. @type {Result | null} */
let lastFinished = null;
/** @type {Result | null} */
let lastComplete = null;
store.watch(["result"], () => {
  const { result } = store.state;
  if (result?.finished) lastFinished = result;
  if (result?.document.status === "complete") lastComplete = result;
});

/**
 * Ask the server to compile the draft as it is now.
 * @param {{isLive?: boolean}} [how] `isLive`: nobody has pressed a button
 */
export async function compile({ isLive = false } = {}) {
  if (!canCompile) return;
  if (store.state.isTyping && !isLive) store.update({ isTyping: false });
  const draft = structuredClone(store.state.draft);
  if (isLive && (!draft.source.trim() || draftProblems(draft).length)) {
    store.update({ isTyping: false });
    return;
  }
  if (!draft.source.trim()) {
    store.update({
      problem: {
        title: "There is nothing to compile",
        kind: "empty",
        detail: "Paste a Triton kernel, or open one from the gallery.",
      },
    });
    return;
  }
  const problems = draftProblems(draft);
  if (problems.length) {
    store.update({
      problem: {
        title: "The launch is invalid",
        kind: "launch",
        detail: problems.join(" "),
      },
    });
    if (!store.state.inspection) void inspect();
    return;
  }
  const { run, result } = store.state;
  const shown = store.state.liveFailure ?? store.state.failure ?? result;
  const same = run?.result ?? shown;
  // A request for the running or shown compilation changes nothing. A failed compilation may be repeated.
  if (
    same &&
    sameRequest(draftOf(same.document), withTriton(draft)) &&
    (run || isLive || same.document.status === "complete")
  ) {
    if (!isLive) adopt(same);
    store.update({
      isTyping: isLive && run !== null,
      edited: false,
      problem: null,
      ...(same.finished ? foundIn(draft, inspectionOf(same.document)) : {}),
    });
    return;
  }
  const stop = takeOver(isLive);
  store.update({ sending: !isLive, isBusy: false, problem: null });
  try {
    const id = await submit(draft, stop.signal, isLive);
    if (stop.signal.aborted) return;
    if (!isLive) expectOwn(id);
    await follow(id, draft, stop, { isLive });
  } catch (error) {
    report(error, stop);
  }
}

/**
 * Submit a draft after the server has answered the previous submission. A submission is never aborted before its
 * answer, which contains the ID of the job to cancel.
 * @param {Draft} draft @param {AbortSignal} signal @param {boolean} isLive
 * @returns {Promise<string>} the ID of the compilation
 */
async function submit(draft, signal, isLive) {
  await submitted;
  signal.throwIfAborted();
  const onBusy = () => store.update({ isBusy: true });
  const answered = api.compile(requestOf(draft), { patience: signal, onBusy, isLive });
  const ended = answered.then(async ({ id }) => {
    // The server ends a live job when it gets the next one.
    if (signal.aborted && !(isLive && signal.reason === REPLACED)) await api.cancel(id);
  });
  submitted = ended.then(
    () => {},
    () => {},
  );
  return (await answered).id;
}

/**
 * The user has requested the result of a live compilation: the server keeps it like any other result.
 * @param {Result} result
 */
function adopt(result) {
  if (!result.isLive) return;
  result.isLive = false;
  expectOwn(result.id);
  void api.compile(requestOf(draftOf(result.document))).catch(() => undefined);
  const { run } = store.state;
  store.update(run?.result === result ? { run: { ...run, isShown: true } } : { result });
}

/**
 * End the compilation under way, if there is one.
 * @param {boolean} [isLive] a live compilation takes its place
 * @returns {AbortController}
 */
function takeOver(isLive = false) {
  const { run } = store.state;
  current?.abort(isLive ? REPLACED : undefined);
  const isEndedByServer = isLive && run?.result.isLive;
  if (run && !run.result.finished && !isEndedByServer && !isAwaited(run.result.id))
    void api.cancel(run.result.id).catch(() => undefined);
  current = new AbortController();
  store.update({ run: null });
  return current;
}

/** @param {Draft} draft */
function withTriton(draft) {
  return { ...draft, triton: draft.triton ?? store.state.tritons.default };
}

/**
 * Show a stored or running compilation by its address, and edit its draft.
 * @param {string} id
 * @param {AbortSignal} edited aborted when the draft is changed meanwhile, which is kept then
 */
export async function open(id, edited) {
  const stop = takeOver();
  store.update({
    sending: true,
    isBusy: false,
    isTyping: false,
    problem: null,
    failure: null,
    liveFailure: null,
    earlier: null,
  });
  try {
    const document = await api.compilation(id);
    if (stop.signal.aborted) return;
    const draft = draftOf(document);
    if (!edited.aborted) store.update({ draft, ...foundIn(draft, inspectionOf(document)) });
    await follow(id, draft, stop, { known: document });
  } catch (error) {
    report(error, stop);
  }
}

/** Stop waiting, and tell the server to stop working. */
export function cancel() {
  takeOver();
  withdraw();
  store.update({ sending: false, isTyping: false, edited: true });
}

/** Replace an incomplete result by the last complete result. */
function withdraw() {
  const { result } = store.state;
  if (result === null || result.finished) return;
  store.update({ result: lastFinished, linked: new Set(), ...(lastFinished ? pinsFor(lastFinished) : {}) });
}

/** Whether the server is looking for the kernels of the draft. */
export const isInspecting = () => inspecting !== null;

/** Look for kernels, launches and problems in the draft, without compiling. */
export async function inspect() {
  const asked = store.state.draft;
  const { source, target, triton, assumed, scriptArguments } = asked;
  inspecting?.abort();
  const own = (inspecting = new AbortController());
  const { signal } = own;
  try {
    const inspection = await api.inspect(
      {
        source,
        target,
        triton: triton ?? undefined,
        ...filesOf(asked),
        assumed,
        script_arguments: scriptArguments,
      },
      signal,
    );
    const { draft } = store.state;
    if (signal.aborted || !sameSources(draft, asked)) return;
    store.update({ inspectionProblem: null });
    const isGone =
      inspection.kernels.length > 0 && inspection.kernels.every(({ name }) => name !== draft.kernel);
    // A kernel that was chosen and then renamed leaves the choice open again.
    store.update({
      ...foundIn(asked, inspection),
      ...(draft.kernel && isGone ? { draft: { ...draft, kernel: null, launch: null, config: null } } : {}),
    });
  } catch (error) {
    if (error instanceof ApiError && !signal.aborted) store.update({ inspectionProblem: error.problem });
  } finally {
    if (inspecting === own) inspecting = null;
  }
}

/**
 * @param {string} id
 * @param {Draft} draft what was asked
 * @param {AbortController} stop
 * @param {{known?: CompilationDocument, isLive?: boolean}} [how]
 */
async function follow(id, draft, stop, { known, isLive = false } = {}) {
  const document = known ?? (await api.compilation(id, isLive));
  if (stop.signal.aborted) return;
  const result = new Result(document, isLive);
  store.update({
    sending: false,
    run: { result, promoted: false, isShown: !isLive },
    edited: !sameRequest(draft, store.state.draft),
  });
  const showing = setTimeout(() => {
    const { run } = store.state;
    if (run?.result === result) store.update({ run: { ...run, isShown: true } });
  }, SHOWN_AFTER_MS);
  const asking = setInterval(() => void askPosition(result, stop.signal), POLL_MS);
  try {
    if (!result.finished) await listen(result, stop.signal);
  } finally {
    clearInterval(asking);
    clearTimeout(showing);
  }
  if (stop.signal.aborted) return;
  finish(result);
}

/**
 * Poll the position in the queue: other jobs change it, so no event reports it.
 * @param {Result} result @param {AbortSignal} signal
 */
async function askPosition(result, signal) {
  if (result.document.status !== "queued") return;
  const now = await api.compilation(result.id, result.isLive).catch(() => null);
  if (!now || signal.aborted || result.document.status !== "queued") return;
  if (now.status === "queued" || now.status === "running")
    Object.assign(result.document, {
      status: now.status,
      queue_position: now.queue_position,
      waits_for: now.waits_for,
    });
  store.update({ run: store.state.run });
}

/**
 * Take the events of a running compilation until it is done.
 * @param {Result} result @param {AbortSignal} signal
 */
async function listen(result, signal) {
  const { document } = result;
  // The stream begins with all that has happened already.
  Object.assign(document, { stages: [], passes: [], diagnostics: [], logs: [] });
  let isWhole = false;
  let isDue = false;
  /** @param {(data: any) => void} handle @returns {(data: any) => void} */
  const on = (handle) => (data) => {
    if (document.status === "queued") document.status = "running";
    handle(data);
    // Events arrive in bursts. The page is drawn once for each burst.
    if (isDue) return;
    isDue = true;
    setTimeout(() => {
      isDue = false;
      if (!signal.aborted) arrived(result);
    });
  };
  await followEvents(api.events(result.id, result.isLive), {
    on: {
      inspection: on(({ kernels, launches, assumed, output_code }) =>
        Object.assign(document, { kernels, launches, assumed, output_code }),
      ),
      specialized: on((specialization) =>
        Object.assign(document, {
          specialization,
          kernel: specialization.kernel,
          kernel_line: specialization.line,
          language: specialization.language,
        }),
      ),
      stage: on((/** @type {StageRow} */ row) => document.stages.push(row)),
      pass: on((/** @type {PassRow} */ row) => document.passes.push(row)),
      resources: on((resources) => (document.resources = resources)),
      diagnostic: on((diagnostic) => document.diagnostics.push(diagnostic)),
      log: on((entry) => document.logs.push(entry)),
      progress: on((/** @type {Progress} */ { text }) => (result.progress = text)),
      done: on(({ status, milliseconds }) => Object.assign(document, { status, milliseconds })),
    },
    readDocument: async () => {
      result.document = await api.compilation(result.id, result.isLive);
      isWhole = true;
      if (!signal.aborted) arrived(result);
      return result.finished;
    },
    alone: (isAlone) => store.update({ isAlone }),
    signal,
  }).finally(() => store.update({ isAlone: false }));
  if (signal.aborted || isWhole) return;
  // The document contains the data that events omit.
  const whole = await api.compilation(result.id, result.isLive).catch(() => null);
  if (whole && !signal.aborted && isOver(whole)) result.document = whole;
}

/** An event of the running compilation has arrived. @param {Result} result */
function arrived(result) {
  const { run, visible, result: shown } = store.state;
  if (!run || run.result !== result) return;
  const { stages } = result.document;
  const available = targetStages(result);
  const wanted = visible.map((state) => shownStage(state, result)).filter((name) => available.includes(name));
  const isOther = shown === null || !sameSources(shown.document.request, result.document.request);
  const isWhole = wanted.length > 0 && wanted.every((name) => result.stage(name));
  const enough = (shown === null || !result.isLive) && (isOther ? stages.length > 0 : isWhole);
  if (!run.promoted && enough) {
    run.promoted = true;
    store.update({ run, earlier: null, ...show(result) });
  } else {
    store.update(run.promoted ? { run, result } : { run });
  }
}

/** @param {Result} result */
function finish(result) {
  const inspection = inspectionOf(result.document);
  const outcome = result.document.status;
  if (result.isLive && outcome === "failed" && store.state.result) {
    // A source that does not parse says nothing of its kernels.
    const isKnown = inspection.kernels.length > 0;
    store.update({ run: null, isTyping: false, liveFailure: result, ...(isKnown ? { inspection } : {}) });
    return;
  }
  if (store.state.result !== result) withdraw();
  const { request } = result.document;
  const isCurrent = sameSources(store.state.draft, request);
  store.update({
    run: null,
    isTyping: false,
    earlier: outcome === "complete" ? null : lastComplete,
    ...(isCurrent ? foundIn(request, inspection) : {}),
    ...show(result),
  });
  if (outcome === "failed")
    void import("./alternatives.js").then(({ compileAlternatives }) => {
      if (store.state.result === result) compileAlternatives(result);
    });
}

/**
 * Return the changes of the state that show a result in the panes.
 * @param {Result} result
 */
function show(result) {
  const isShown = store.state.result === result;
  return {
    result,
    failure: null,
    liveFailure: null,
    ...(isShown ? {} : { linked: linkedOf(result), ...pinsFor(result) }),
  };
}

/** The source lines from which something of a result comes, as far as is known. @param {Result} result */
function linkedOf(result) {
  return new Set([...result.contents.values()].flatMap(({ shownLines }) => [...shownLines.keys()]));
}

/**
 * Pinned lines of one kernel mean nothing in another. While a source is typed, they move with their lines.
 * @param {Result} result
 */
function pinsFor(result) {
  const { result: before, pinned } = store.state;
  if (!before || pinned.length === 0) return {};
  if (before.document.kernel !== result.document.kernel) return { pinned: [] };
  if (!result.isLive) return {};
  const { lineOf } = matchLines(sourceTexts(before.document.request), sourceTexts(result.document.request));
  return { pinned: pinned.map(lineOf).filter((line) => line > 0), origin: IN_PLACE };
}

/** Show the last complete result in place of the failure. */
export function showEarlier() {
  const { result, earlier } = store.state;
  if (earlier) store.update({ ...show(earlier), failure: result, earlier: null });
}

/** Show the failed compilation again. */
export function showFailure() {
  const { result, failure } = store.state;
  if (failure) store.update({ ...show(failure), earlier: result });
}

/** @param {CompilationDocument} document */
function inspectionOf({ kernels, launches, assumed, output_code, source_files, logs }) {
  // The compilation's own problems are shown with it.
  return { kernels, launches, assumed, output_code, source_files, diagnostics: [], logs };
}

/**
 * Return the change of the state by an inspection. A job that ended before it found the kernels of its sources, such as
 * at its time limit, takes nothing away that is known of them.
 * @param {Sources} sources @param {InspectionDocument} inspection
 * @returns {{inspection?: InspectionDocument}}
 */
function foundIn(sources, inspection) {
  const hasFound = inspection.kernels.length > 0 || inspection.output_code !== null;
  const isKnown = store.state.inspection !== null && inspected !== null && sameSources(inspected, sources);
  if (!hasFound && isKnown) return {};
  inspected = hasFound ? sources : null;
  return { inspection };
}

/** @param {unknown} error @param {AbortController} stop */
function report(error, stop) {
  if (stop.signal.aborted || isAbort(error)) return;
  if (!(error instanceof ApiError)) throw error;
  withdraw();
  store.update({ sending: false, isTyping: false, run: null, problem: error.problem });
}
