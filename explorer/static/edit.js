/**
 * Change what the user asks for; compile it when things have been quiet for a while.
 *
 * @import { Draft } from "./types.js"
 */
import { draftProblems } from "./argument_checks.js";
import { compile, inspect } from "./compiler.js";
import { debounce } from "./dom.js";
import { keepDraft } from "./draft.js";
import { canCompile } from "./host.js";
import { store } from "./store.js";

const INSPECT_DELAY_MS = 350;
const COMPILE_DELAY_MS = 900;

const inspectSoon = debounce(() => void inspect(), INSPECT_DELAY_MS);
const compileSoon = debounce(() => void compile(), COMPILE_DELAY_MS);

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
  const draft = { ...store.state.draft, ...changes };
  store.update({ draft, edited: true, problem: null });
  keepDraft(draft);
}
