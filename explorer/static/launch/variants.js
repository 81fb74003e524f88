/**
 * Compile variants of the draft (configurations, targets), a few at a time. Keep their results as long as the page
 * lives.
 *
 * @import { CompilationDocument, Draft, Resources } from "../core/types.js"
 */
import { ApiError, api, isAbort } from "../core/api.js";
import { lineWords } from "../core/source_files.js";
import { follow } from "../core/events.js";
import { isOver } from "../core/status.js";
import { draftOf, requestOf } from "./draft.js";
import { store } from "../core/store.js";

/**
 * @typedef {"configs" | "targets" | "values" | "alternatives"} BatchKind
 *
 * @typedef {{key: string, draft: Draft}} Variant
 *
 * @typedef {object} Outcome
 * @property {"waiting" | "compiling" | "complete" | "failed" | "kernels_found" | "refused"} state "refused": the
 *   server did not take it
 * @property {string | null} id
 * @property {string} stage the last stage that has arrived
 * @property {number | null} milliseconds
 * @property {Resources | null} resources
 * @property {string} message what went wrong
 *
 * @typedef {object} Batch
 * @property {string[]} keys
 * @property {number} done
 * @property {AbortController | null} stop null: it has ended
 */

/** The number of parallel compilations, which leaves room in the server's queue for other clients. */
const AT_ONCE = 2;

/** @type {Map<string, number>} sources by their number, which stands for them in keys */
const sourceNumbers = new Map();

/** Return the key of a request on this page. @param {Draft} draft */
export function requestKey(draft) {
  const { source, ...rest } = requestOf({ ...draft, triton: draft.triton ?? store.state.tritons.default });
  const number = sourceNumbers.get(source) ?? sourceNumbers.size;
  sourceNumbers.set(source, number);
  return `${number} ${JSON.stringify(rest)}`;
}

/** @param {Draft} draft @returns {Variant} */
export function variantOf(draft) {
  return { key: requestKey(draft), draft };
}

/**
 * Compile the variants that are not complete yet.
 * @param {BatchKind} kind @param {Variant[]} variants
 */
export async function compileVariants(kind, variants) {
  if (store.state.batches[kind]?.stop) return;
  const waiting = variants.filter(({ key }) => store.state.outcomes.get(key)?.state !== "complete");
  const stop = new AbortController();
  const total = waiting.map(({ key }) => key);
  for (const key of total) setOutcome(key, blank("waiting"));
  setBatch(kind, { keys: total, done: 0, stop });
  const work = async () => {
    for (let next = waiting.shift(); next && !stop.signal.aborted; next = waiting.shift()) {
      await compileVariant(next, stop.signal);
      const batch = store.state.batches[kind];
      if (batch && !stop.signal.aborted) setBatch(kind, { ...batch, done: batch.done + 1 });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  const batch = store.state.batches[kind];
  if (batch?.stop === stop) setBatch(kind, { ...batch, stop: null });
}

/** Cancel waiting and running compilations. Complete results are kept. @param {BatchKind} kind */
export function cancelVariants(kind) {
  const batch = store.state.batches[kind];
  if (!batch?.stop) return;
  batch.stop.abort();
  const outcomes = new Map(store.state.outcomes);
  for (const key of batch.keys) {
    if (isOpen(outcomes.get(key))) outcomes.delete(key);
  }
  store.update({ outcomes, batches: { ...store.state.batches, [kind]: { ...batch, stop: null } } });
}

/** Whether a compilation is awaited by a batch, too. @param {string} id */
export function isAwaited(id) {
  return [...store.state.outcomes.values()].some((outcome) => outcome.id === id && isOpen(outcome));
}

/** Store the shown result as the outcome of its variant. */
export function rememberResults() {
  store.watch(["result", "failure"], () => {
    for (const result of [store.state.result, store.state.failure]) {
      if (!result?.finished) continue;
      const { document } = result;
      const draft = draftOf(document);
      const outcome = outcomeOf(document);
      setOutcome(requestKey(draft), outcome);
      // A request without a configuration also gets one.
      const config = document.specialization?.config ?? null;
      const named = requestKey({ ...draft, config });
      if (config !== null && store.state.outcomes.get(named)?.state !== "complete")
        setOutcome(named, outcome);
    }
  });
}

/** @param {Outcome | undefined} outcome whether something may still come of it */
export function isOpen(outcome) {
  return outcome?.state === "waiting" || outcome?.state === "compiling";
}

/** @param {Variant} variant @param {AbortSignal} signal */
async function compileVariant({ key, draft }, signal) {
  try {
    // Not aborted before the answer, which contains the ID of the job to cancel.
    const { id } = await api.compile(requestOf(draft), { isBatch: true, patience: signal });
    if (signal.aborted) return stopOnServer(id);
    setOutcome(key, { ...blank("compiling"), id });
    const running = await api.compilation(id);
    if (!isOver(running)) {
      await ended(id, signal, (stage) => setOutcome(key, { ...blank("compiling"), id, stage }));
      if (signal.aborted) return stopOnServer(id);
      setOutcome(key, outcomeOf(await api.compilation(id)));
    } else {
      setOutcome(key, outcomeOf(running));
    }
  } catch (error) {
    if (isAbort(error)) return;
    if (!(error instanceof ApiError)) throw error;
    if (!signal.aborted)
      setOutcome(key, { ...blank("refused"), message: `${error.problem.title}. ${error.problem.detail}` });
  }
}

/** @param {string} id */
function stopOnServer(id) {
  // The compilation that the panes show is not canceled.
  if (store.state.run?.result.id !== id) void api.cancel(id).catch(() => undefined);
}

/**
 * Wait until a compilation has ended.
 * @param {string} id @param {AbortSignal} signal @param {(stage: string) => void} reached
 */
function ended(id, signal, reached) {
  return follow(api.events(id), {
    on: { stage: ({ name }) => reached(name) },
    readDocument: async () => {
      const { status, stages } = await api.compilation(id);
      if (stages.length && !signal.aborted) reached(stages[stages.length - 1].name);
      return isOver({ status });
    },
    signal,
  });
}

/** @param {CompilationDocument} document @returns {Outcome} */
function outcomeOf({ id, status, milliseconds, resources, diagnostics, request }) {
  const error = diagnostics.find(({ severity }) => severity === "error");
  const message = error ? `${error.message}${error.line ? ` (${lineWords(request, error.line)})` : ""}` : "";
  return {
    state: status === "complete" || status === "kernels_found" ? status : "failed",
    id,
    stage: "",
    milliseconds,
    resources,
    message,
  };
}

/** @param {Outcome["state"]} state @returns {Outcome} */
function blank(state) {
  return { state, id: null, stage: "", milliseconds: null, resources: null, message: "" };
}

/** @param {string} key @param {Outcome} outcome */
function setOutcome(key, outcome) {
  store.update({ outcomes: new Map(store.state.outcomes).set(key, outcome) });
}

/** @param {BatchKind} kind @param {Batch} batch */
function setBatch(kind, batch) {
  store.update({ batches: { ...store.state.batches, [kind]: batch } });
}
