/**
 * Change the draft. Compile it after a pause in typing, unless live compilation is switched off.
 *
 * @import { Draft } from "../core/types.js"
 */
import { ApiError, api } from "../core/api.js";
import { compile, inspect, open } from "./compiler.js";
import { debounce, toast } from "../core/dom.js";
import { movedAssumed } from "../editor/script_choice.js";
import { editsOfPasses, forgetDraft, forgetUnsent, keepDraft } from "./draft.js";
import { freshDraft } from "../core/fresh_draft.js";
import { canCompile } from "../core/host.js";
import { keepLive, pauseBefore } from "./live.js";
import { freshKey } from "../core/privacy.js";
import { store } from "../core/store.js";

const INSPECT_DELAY_MS = 350;

const inspectSoon = debounce(() => void inspect(), INSPECT_DELAY_MS);
const compileSoon = debounce((/** @type {boolean} */ isLive) => void compile({ isLive }), pauseBefore);

/** The Triton version of the profile of the example that is open; "": it has none, or the user chose a version. */
let profiledTriton = "";

/** Aborts the opening of a result or an example when the user edits or opens something else. */
let opening = new AbortController();

/**
 * The signal of the first opening of a visit. Typing before its end aborts it, since the typed text takes precedence.
 */
export const firstOpening = opening.signal;

/** Whether the page has loaded the server's facts and has started its first opening. */
let isBegun = false;

/** The task for text that was typed before the page was ready. @type {(() => void) | null} */
let due = null;

/** Start to compile, also text that was typed before. */
export function begin() {
  isBegun = true;
  if (firstOpening.aborted) due?.();
  due = null;
}

/** Return whether a task must wait until the page is ready. Only the last task is kept. @param {() => void} task */
function mustWait(task) {
  if (!isBegun) due = task;
  return !isBegun;
}

/**
 * Open an example of the gallery and compile it.
 * @param {string} name @param {AbortSignal} [signal]
 * @param {string} [pinnedText] the first line with this text is pinned
 */
export async function openExample(name, signal = startOpening(), pinnedText = "") {
  try {
    const example = await api.example(name, signal);
    if (signal.aborted) return;
    const { draft, gallery, tritons } = store.state;
    const row = gallery.find((each) => each.name === name);
    // The measurements of a profile belong to the binary of one version.
    const profiled = row?.profiled_target === draft.target ? row.profiled_triton : null;
    const chosen = draft.triton === profiledTriton ? null : draft.triton;
    const triton = profiled ?? chosen ?? (tritons.default || null);
    const line =
      1 + (pinnedText ? example.source.split("\n").findIndex((text) => text.includes(pinnedText)) : -1);
    store.update({ pinned: line ? [line] : [], origin: null, inspection: null });
    choose(freshDraft(example.source, draft.target, { triton }));
    profiledTriton = profiled ?? "";
    // An example as it came is nothing to keep.
    forgetDraft();
  } catch (error) {
    if (signal.aborted) return;
    if (!(error instanceof ApiError)) throw error;
    store.update({ problem: error.problem });
  }
}

/**
 * Show a stored or running compilation, and edit its draft.
 * @param {string} id @param {AbortSignal} [signal]
 */
export function openResult(id, signal = startOpening()) {
  forgetUnsent();
  // A compilation of the text before would take the place of the result.
  if (!signal.aborted) {
    inspectSoon.cancel();
    compileSoon.cancel();
  }
  return open(id, signal);
}

/** @returns {AbortSignal} aborted when the user edits before the result has arrived */
function startOpening() {
  opening.abort();
  opening = new AbortController();
  return opening.signal;
}

/**
 * The source was typed.
 * @param {string} source
 * @param {boolean} isOther nothing of the text before is left, so that no choice made for it applies
 */
export function editSource(source, isOther) {
  const { draft, tritons } = store.state;
  if (isOther) {
    // The version of an example's profile was chosen for that example.
    const isOfExample = profiledTriton !== "" && draft.triton === profiledTriton;
    const triton = isOfExample ? tritons.default || null : draft.triton;
    if (triton && triton !== draft.triton)
      toast(
        `The source is compiled with Triton ${triton}. Version ${profiledTriton} is that of the example's profile.`,
      );
    profiledTriton = "";
    store.update({ inspection: null, pinned: [] });
    const { path, files } = draft;
    change(freshDraft(source, draft.target, { triton, path, files }));
  } else {
    const edits = editsOfPasses(draft.edits);
    change({ source, edits, assumed: movedAssumed(draft.assumed, "", draft.source, source) });
  }
  // A pasted script is compiled at once: the pause is for typing.
  if (isOther && store.state.live && source.includes("\n")) void compileNow();
  else lookSoon(!isOther);
}

/**
 * The text of a file beside the script was typed.
 * @param {string} path @param {string} text
 */
export function editFile(path, text) {
  const { files, assumed, edits } = store.state.draft;
  change({
    edits: editsOfPasses(edits),
    files: { ...files, [path]: text },
    assumed: movedAssumed(assumed, path, files[path] ?? "", text),
  });
  lookSoon();
}

/**
 * Files were added, renamed or removed.
 * @param {Pick<Draft, "source" | "path" | "files">} paste @param {string} front the path of the file to show
 */
export function changeFiles({ source, path, files }, front) {
  change({ source, path, files }, { openFile: front in files ? front : "" });
  lookSoon();
}

/**
 * Inspect and compile when nothing more is typed.
 * @param {boolean} [isLive] the user edits a source, and the page follows with its result
 */
function lookSoon(isLive = true) {
  if (mustWait(() => lookSoon(isLive))) return;
  if (!store.state.draft.source.trim()) {
    inspectSoon.cancel();
    compileSoon.cancel();
    // Nothing is there to look into, nor to complain about.
    store.update({ inspection: null, liveFailure: null, isTyping: false });
    return;
  }
  const { live } = store.state;
  if (live) compileLater(isLive);
  // A compilation inspects, too.
  if (live && pauseBefore() <= INSPECT_DELAY_MS) inspectSoon.cancel();
  else inspectSoon();
}

/** @param {boolean} isLive */
function compileLater(isLive) {
  if (mustWait(() => compileLater(isLive))) return;
  if (isLive && !store.state.isTyping) store.update({ isTyping: true });
  compileSoon(isLive);
}

/** Switch live compilation on or off. Switching it on compiles the current text. @param {boolean} live */
export function switchLive(live) {
  keepLive(live);
  if (live) lookSoon();
  else {
    compileSoon.cancel();
    store.update({ isTyping: false });
  }
}

/** Something was chosen that needs no second thought. @param {Partial<Draft>} changes */
export function choose(changes) {
  change(changes);
  compileNow();
}

/**
 * Something was typed beside the source; what cannot be taken says so in its place.
 * @param {Partial<Draft>} changes
 */
export function adjust(changes) {
  change(changes);
  if (store.state.live) compileLater(true);
}

/** Do not wait any longer. */
export function compileNow() {
  if (mustWait(compileNow)) return;
  inspectSoon.cancel();
  compileSoon.cancel();
  return compile();
}

/** @param {Partial<Draft>} changes @param {{openFile?: string}} [more] */
function change(changes, more) {
  if (!canCompile) return;
  opening.abort();
  if (changes.triton) profiledTriton = "";
  const draft = { ...store.state.draft, ...changes };
  // A draft without a key gets one where results are to be private, also if it comes from a public result.
  draft.private ||= freshKey();
  // Before the beginning, a problem is why there is none.
  store.update({ draft, edited: true, ...(isBegun ? { problem: null } : {}), ...more });
  keepDraft(draft, (store.state.failure ?? store.state.result)?.id ?? "");
}
