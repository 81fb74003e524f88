/**
 * Change what the user asks for; compile it when things have been quiet for a while.
 *
 * @import { Draft } from "./types.js"
 */
import { ApiError, api } from "./api.js";
import { draftProblems } from "./argument_checks.js";
import { compile, inspect, open } from "./compiler.js";
import { debounce } from "./dom.js";
import { forgetDraft, forgetUnsent, freshDraft, keepDraft } from "./draft.js";
import { canCompile } from "./host.js";
import { store } from "./store.js";

const INSPECT_DELAY_MS = 350;
const COMPILE_DELAY_MS = 900;

const inspectSoon = debounce(() => void inspect(), INSPECT_DELAY_MS);
const compileSoon = debounce(() => void compile(), COMPILE_DELAY_MS);

/** What is being opened, for as long as nothing else is asked for. @type {AbortController | null} */
let opening = null;

/** Open an example of the gallery and compile it. @param {string} name */
export async function openExample(name) {
  const signal = startOpening();
  try {
    const example = await api.example(name, signal);
    if (signal.aborted) return;
    const { draft, tritons } = store.state;
    store.update({ pinned: [], origin: null, inspection: null });
    choose(freshDraft(example.source, draft.target, { triton: draft.triton ?? (tritons.default || null) }));
    // An example as it came is nothing to keep.
    forgetDraft();
  } catch (error) {
    if (signal.aborted) return;
    if (!(error instanceof ApiError)) throw error;
    store.update({ problem: error.problem });
  }
}

/** Show a stored or running compilation, and edit what it was made from. @param {string} id */
export function openResult(id) {
  forgetUnsent();
  return open(id, startOpening());
}

/** @returns {AbortSignal} aborted by what the user does before it has come: that counts */
function startOpening() {
  opening?.abort();
  opening = new AbortController();
  return opening.signal;
}

/** The source was typed. @param {string} source */
export function editSource(source) {
  change({ source });
  if (!source.trim()) {
    inspectSoon.cancel();
    compileSoon.cancel();
    // Nothing is there to look into, nor to complain about.
    store.update({ inspection: null });
    return;
  }
  inspectSoon();
  compileSoon();
}

/** Something was chosen that needs no second thought. @param {Partial<Draft>} changes */
export function choose(changes) {
  change(changes);
  compileNow();
}

/** Something was typed beside the source; what cannot be taken says so in its place. @param {Partial<Draft>} changes */
export function adjust(changes) {
  change(changes);
  if (draftProblems(store.state.draft).length) compileSoon.cancel();
  else compileSoon();
}

/** Do not wait any longer. */
export function compileNow() {
  inspectSoon.cancel();
  compileSoon.cancel();
  return compile();
}

/** @param {Partial<Draft>} changes */
function change(changes) {
  if (!canCompile) return;
  opening?.abort();
  const draft = { ...store.state.draft, ...changes };
  store.update({ draft, edited: true, problem: null });
  keepDraft(draft, (store.state.failure ?? store.state.result)?.id ?? "");
}
