/**
 * The diagnostics of the source, from its compilation, the shown run and the inspection.
 *
 * @import { Diagnostic } from "./types.js"
 */
import { sameSources } from "./source_files.js";
import { store } from "./store.js";

/** Return the known diagnostics of the current source. @returns {Diagnostic[]} */
export function diagnosticsOfDraft() {
  const { inspection, result, failure, liveFailure, run, draft, shownRun } = store.state;
  const compiled = [liveFailure, failure, run?.result, result].find(
    (each) => each && sameSources(each.document.request, draft),
  );
  const ran = compiled && shownRun?.document.compilation === compiled.id ? shownRun.document.diagnostics : [];
  const all = [...(compiled?.document.diagnostics ?? []), ...ran, ...(inspection?.diagnostics ?? [])];
  const seen = new Set();
  return all.filter(({ line, message }) => {
    const key = `${line}:${message}`;
    return !seen.has(key) && seen.add(key);
  });
}
