/**
 * Compile drafts and follow the compilations until they are done.
 *
 * What arrives becomes what the panes show in one step: as soon as every stage that can be seen is there, or
 * at the end. Until then the result before stays.
 *
 * @import { CompilationDocument, Draft, StageRow, PassRow } from "./types.js"
 */
import { ApiError, api } from "./api.js";
import { draftProblems } from "./argument_checks.js";
import { draftOf, requestOf, sameRequest } from "./draft.js";
import { canCompile } from "./host.js";
import { expectOwn } from "./history.js";
import { Result } from "./result.js";
import { fallbackStage, targetStages } from "./stages.js";
import { store } from "./store.js";
import { isAwaited } from "./variants.js";

/** @type {AbortController | null} ends the request or event stream under way */
let current = null;
/** @type {AbortController | null} */
let inspecting = null;
/** The last result on screen that came to its end. @type {Result | null} */
let lastFinished = null;
store.watch(["result"], () => {
  const { result } = store.state;
  if (result?.finished) lastFinished = result;
});

/** Ask the server to compile the draft as it is now. */
export async function compile() {
  if (!canCompile) return;
  const draft = structuredClone(store.state.draft);
  if (!draft.source.trim()) {
    store.update({ problem: { title: "There is nothing to compile", kind: "empty", detail: "Paste a Triton kernel, or open one from the gallery." } });
    return;
  }
  const problems = draftProblems(draft);
  if (problems.length) {
    store.update({ problem: { title: "The launch cannot be compiled as it stands", kind: "launch", detail: problems.join(" ") } });
    if (!store.state.inspection) void inspect();
    return;
  }
  const { run, result } = store.state;
  const shown = store.state.failure ?? result;
  const same = run?.result ?? shown;
  // Asking again for what is on its way, or shown already, changes nothing; a failure may be tried again.
  if (same && sameRequest(draftOf(same.document), withTriton(draft)) && (run || same.document.status === "complete")) {
    store.update({ edited: false, problem: null, ...(same.finished ? { inspection: inspectionOf(same.document) } : {}) });
    return;
  }
  const stop = takeOver();
  store.update({ sending: true, problem: null });
  try {
    const accepted = await api.compile(requestOf(draft), stop.signal);
    if (stop.signal.aborted) return;
    expectOwn(accepted.id);
    await follow(accepted.id, draft, stop);
  } catch (error) {
    report(error, stop);
  }
}

/** The result of before, if there is one, makes room for another. @returns {AbortController} */
function takeOver() {
  const { run } = store.state;
  current?.abort();
  if (run && !run.result.finished && !isAwaited(run.result.id)) void api.cancel(run.result.id).catch(() => undefined);
  current = new AbortController();
  store.update({ run: null });
  return current;
}

/** @param {Draft} draft */
function withTriton(draft) {
  return { ...draft, triton: draft.triton ?? store.state.tritons.default };
}

/**
 * Show a stored or running compilation by its address, and edit what it was made from.
 * @param {string} id @param {AbortSignal} edited aborted when the draft is changed meanwhile, which is kept then
 */
export async function open(id, edited) {
  const stop = takeOver();
  store.update({ sending: true, problem: null, failure: null });
  try {
    const document = await api.compilation(id);
    if (stop.signal.aborted) return;
    const draft = draftOf(document);
    if (!edited.aborted) store.update({ draft, inspection: inspectionOf(document) });
    await follow(id, draft, stop, document);
  } catch (error) {
    report(error, stop);
  }
}

/** Stop waiting, and tell the server to stop working. */
export function cancel() {
  takeOver();
  withdraw();
  store.update({ sending: false, edited: true });
}

/** Nothing more comes of what is half there: the last result that came to its end stands in for it. */
function withdraw() {
  const { result } = store.state;
  if (result === null || result.finished) return;
  store.update({ result: lastFinished, linked: new Set(), ...(lastFinished ? pinsFor(lastFinished) : {}) });
}

/** Look for kernels, launches and problems in the draft, without compiling. */
export async function inspect() {
  const { source, target, triton } = store.state.draft;
  inspecting?.abort();
  inspecting = new AbortController();
  const { signal } = inspecting;
  try {
    const inspection = await api.inspect({ source, target, triton: triton ?? undefined }, signal);
    const { draft } = store.state;
    if (signal.aborted || draft.source !== source) return;
    store.update({ inspectionProblem: null });
    const isGone = inspection.kernels.length > 0 && inspection.kernels.every(({ name }) => name !== draft.kernel);
    // A kernel that was chosen and then renamed leaves the choice open again.
    const { inspection: before } = store.state;
    // A source that cannot be read for the moment keeps its kernels on screen.
    const isUnreadable = inspection.kernels.length === 0 && inspection.diagnostics.some(({ severity }) => severity === "error");
    const seen = before && isUnreadable ? { ...before, diagnostics: inspection.diagnostics } : inspection;
    store.update({ inspection: seen, ...(draft.kernel && isGone ? { draft: { ...draft, kernel: null, launch: null, config: null } } : {}) });
  } catch (error) {
    if (error instanceof ApiError && !signal.aborted) store.update({ inspectionProblem: error.problem });
  }
}

/**
 * @param {string} id
 * @param {Draft} draft what was asked
 * @param {AbortController} stop
 * @param {CompilationDocument} [known]
 */
async function follow(id, draft, stop, known) {
  const document = known ?? (await api.compilation(id));
  if (stop.signal.aborted) return;
  const result = new Result(document);
  store.update({ sending: false, run: { result, promoted: false }, edited: !sameRequest(draft, store.state.draft) });
  if (!result.finished) await listen(result, stop.signal);
  if (stop.signal.aborted) return;
  finish(result);
}

/**
 * Take the events of a running compilation until it is done.
 * @param {Result} result @param {AbortSignal} signal
 */
async function listen(result, signal) {
  const { document } = result;
  // The stream begins with all that has happened already.
  Object.assign(document, { stages: [], passes: [], diagnostics: [], logs: [] });
  await new Promise((resolve, reject) => {
    const stream = new EventSource(api.url(result.id, "events"));
    const close = () => {
      stream.close();
      resolve(undefined);
    };
    signal.addEventListener("abort", close);
    /** @param {string} kind @param {(data: any) => void} take */
    const on = (kind, take) =>
      stream.addEventListener(kind, (event) => {
        if (signal.aborted) return;
        if (document.status === "queued") document.status = "running";
        take(JSON.parse(event.data));
        arrived(result);
      });
    on("inspection", ({ kernels, launches }) => Object.assign(document, { kernels, launches }));
    on("specialized", (specialization) =>
      Object.assign(document, { specialization, kernel: specialization.kernel, kernel_line: specialization.line, language: specialization.language }));
    on("stage", (/** @type {StageRow} */ row) => document.stages.push(row));
    on("pass", (/** @type {PassRow} */ row) => document.passes.push(row));
    on("resources", (resources) => (document.resources = resources));
    on("diagnostic", (diagnostic) => document.diagnostics.push(diagnostic));
    on("log", (entry) => document.logs.push(entry));
    on("done", ({ status, milliseconds }) => {
      Object.assign(document, { status, milliseconds });
      close();
    });
    stream.addEventListener("open", () => store.update({ isAlone: false }));
    stream.addEventListener("error", () => {
      if (signal.aborted) return;
      // The browser tries again by itself unless the server has refused.
      if (stream.readyState !== EventSource.CLOSED) store.update({ isAlone: true });
      else reject(new ApiError({ title: "The connection was lost", kind: "unreachable", detail: "Compile again to go on." }, 0));
    });
  }).finally(() => store.update({ isAlone: false }));
  if (signal.aborted) return;
  // The index has what the events leave out.
  const whole = await api.compilation(result.id).catch(() => null);
  if (whole && !signal.aborted && (whole.status === "complete" || whole.status === "failed")) result.document = whole;
}

/** Something of the running compilation has come. @param {Result} result */
function arrived(result) {
  const { run, visible, result: shown } = store.state;
  if (!run || run.result !== result) return;
  const { stages } = result.document;
  const available = targetStages(result);
  const wanted = visible.map((name) => fallbackStage(name, available)).filter((name) => available.includes(name));
  const enough = shown === null ? stages.length > 0 : wanted.length > 0 && wanted.every((name) => result.stage(name));
  if (!run.promoted && enough) {
    run.promoted = true;
    store.update({ run, result, failure: null, linked: new Set(), ...pinsFor(result) });
  } else {
    store.update(run.promoted ? { run, result } : { run });
  }
}

/** @param {Result} result */
function finish(result) {
  const inspection = inspectionOf(result.document);
  if (store.state.result !== result) withdraw();
  const isCurrent = store.state.draft.source === result.document.request.source;
  const { result: shown, visible, inspection: before } = store.state;
  // A source that cannot be read for the moment keeps its kernels on screen, which is said there.
  const isUnreadable = inspection.kernels.length === 0 && result.document.status === "failed";
  const looked = before && isUnreadable ? { ...before, diagnostics: result.document.diagnostics } : inspection;
  // A failure that would leave every pane empty does not take away what there is to see.
  const keepShown =
    shown !== null && shown !== result && result.document.status === "failed" && !visible.some((name) => result.stage(name));
  store.update({
    run: null,
    ...(isCurrent ? { inspection: looked } : {}),
    ...(keepShown ? { failure: result } : { result, failure: null, ...(shown === result ? {} : { linked: new Set(), ...pinsFor(result) }) }),
  });
}

/** Pinned lines of one kernel mean nothing in another. @param {Result} result */
function pinsFor(result) {
  const before = store.state.result?.document.kernel;
  return before && before !== result.document.kernel ? { pinned: [] } : {};
}

/** Show the failure itself, as far as it came, in place of the result before. */
export function showFailure() {
  const { failure } = store.state;
  if (failure) store.update({ result: failure, failure: null, linked: new Set() });
}

/** @param {CompilationDocument} document */
function inspectionOf({ kernels, launches, logs }) {
  // The compilation's own problems are shown with it.
  return { kernels, launches, diagnostics: [], logs };
}

/** @param {unknown} error @param {AbortController} stop */
function report(error, stop) {
  if (stop.signal.aborted || (error instanceof DOMException && error.name === "AbortError")) return;
  if (!(error instanceof ApiError)) throw error;
  withdraw();
  store.update({ sending: false, run: null, problem: error.problem });
}
