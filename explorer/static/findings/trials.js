/**
 * The trials of findings: each proposed change is compiled, and its findings are compared. If it removes findings and
 * changes the source or a constant, the interpreter compares what both kernels write.
 *
 * @import { AnalysisAnswer, Check, CompilationDocument, Draft, FindingChanges, MatrixCell, MatrixRequest, Run } from "../core/types.js"
 */
import { ApiError, api } from "../core/api.js";
import { draftOf, requestOf, withSettings } from "../launch/draft.js";

/** @typedef {AnalysisAnswer<"findings">["findings"][number]} Finding */
/** @typedef {Finding["changes"][number]} Change */
/**
 * A change with its compilation, the findings that vanished and appeared, and the comparison of the results; null
 * until they are known.
 * @typedef {{change: Change, cell: MatrixCell | null, changes: FindingChanges | null, results: Results | null}} Trial
 * @typedef {{isOther: boolean, words: string}} Results
 */

const POLL_MS = 400;
const UNFINISHED = ["queued", "running"];

/** The different changes that findings propose. @param {Finding[]} findings */
export function changesOf(findings) {
  const found = findings.flatMap(({ changes }) => changes);
  return [...new Map(found.map((change) => [keyOf(change), change])).values()];
}

/** @param {Change} change */
export function keyOf({ options, constants, edits }) {
  return JSON.stringify([options, constants, edits]);
}

/** What a change makes of a draft. @param {Draft} draft @param {Change} change @returns {Partial<Draft>} */
export function applied(draft, { edits, ...settings }) {
  const lines = draft.source.split("\n");
  for (const { line, text } of edits) lines[line - 1] = text;
  return { source: lines.join("\n"), ...withSettings(draft, settings) };
}

/** The request of the matrix that compiles changes of a result. @param {CompilationDocument} document @param {Change[]} changes */
export function matrixOf(document, changes) {
  const draft = draftOf(document);
  return /** @type {MatrixRequest} */ ({
    compilation: requestOf(draft),
    configurations: changes.map(({ options, constants, edits }) => ({ options, constants, edits })),
    targets: [],
    tritons: [],
  });
}

/**
 * What a trial says about a finding: "proven" if the finding has vanished, nothing else has become worse, and the
 * kernel does not write anything else.
 * @param {Finding} finding @param {Trial} trial
 * @returns {"waiting" | "failed" | "stays" | "partial" | "worse" | "running" | "other" | "proven"}
 */
export function verdictOf(finding, { change, cell, changes, results }) {
  if (cell && ["failed", "refused", "missing"].includes(cell.state)) return "failed";
  if (!changes) return "waiting";
  const isGone = changes.vanished.some(
    ({ rule, source_line: line }) => rule === finding.rule && line === finding.source_line,
  );
  if (!isGone) return "stays";
  if (changes.fixed.length) return "partial";
  if (changes.is_worse) return "worse";
  if (!results) return mayWriteOther(change) ? "running" : "proven";
  return results.isOther ? "other" : "proven";
}

/** Whether a kernel with a change may write something else: options leave the results as they are. @param {Change} change */
function mayWriteOther({ constants, edits }) {
  return edits.length > 0 || Object.keys(constants).length > 0;
}

/**
 * Compile changes of a result. `tell` is called with the trials by the keys of their changes, whenever one changes.
 * @param {CompilationDocument} document @param {Change[]} changes
 * @param {(trials: Map<string, Trial>) => void} tell @param {AbortSignal} signal ends the trials
 */
export async function tryAll(document, changes, tell, signal) {
  /** @type {Map<string, Trial>} */
  const trials = new Map(
    changes.map((change) => [keyOf(change), { change, cell: null, changes: null, results: null }]),
  );
  /** @param {Trial} trial */
  const compare = async (trial) => {
    const { change, cell, changes: found } = trial;
    const isCandidate = found?.vanished.length && !found.is_worse && !found.fixed.length;
    if (!isCandidate || !cell?.id || !mayWriteOther(change)) return;
    trial.results = await compareResults(cell.id, document.id, signal);
    if (!signal.aborted) tell(trials);
  };
  /** @type {Promise<void>[]} */
  const compared = [];
  tell(trials);
  const ticket = await api.createMatrix(matrixOf(document, changes));
  for (let isAtWork = true; isAtWork && !signal.aborted; ) {
    const matrix = await api.matrix(ticket.id);
    isAtWork = matrix.is_at_work;
    for (const cell of matrix.cells) {
      const change = changes[cell.configuration];
      const trial = change && trials.get(keyOf(change));
      if (!trial) continue;
      trial.cell = cell;
      if (cell.state === "complete" && cell.id && !trial.changes) {
        trial.changes = await api.findingChanges(document.id, cell.id);
        if (!signal.aborted) compared.push(compare(trial));
      }
      if (signal.aborted) break;
      tell(trials);
    }
    if (isAtWork) await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  await Promise.all(compared);
  if (signal.aborted) await api.cancelMatrix(ticket.id);
}

/**
 * Compare what the kernels of two compilations write, in the interpreter.
 * @param {string} compilation @param {string} original @param {AbortSignal} signal @returns {Promise<Results>}
 */
async function compareResults(compilation, original, signal) {
  const fields = /** @type {Run} */ ({ device: "interpreter", measures: ["check"] });
  try {
    const { id } = await api.startRun(compilation, fields, { isBatch: true }, original);
    let run = await api.run(id, compilation);
    while (UNFINISHED.includes(run.status) && !signal.aborted) {
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      run = await api.run(id, compilation);
    }
    if (!run.measurements.some(({ name }) => name === "check"))
      return notCompared(run.diagnostics.find(({ severity }) => severity === "error")?.message ?? run.status);
    return resultsOf(/** @type {Check} */ (await api.measurement(id, "check")));
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return notCompared(error.problem.detail);
  }
}

/** @param {Check} check @returns {Results} */
export function resultsOf({ reason, outputs }) {
  if (reason) return notCompared(reason);
  const isOther = outputs.some(({ matches }) => !matches);
  return { isOther, words: isOther ? "other results" : "same results" };
}

/** @param {string} reason @returns {Results} */
function notCompared(reason) {
  return { isOther: false, words: `results not compared: ${reason}` };
}
