/**
 * The trials of findings: each proposed change of the launch is compiled, and its findings are compared.
 *
 * @import { AnalysisAnswer, CompilationDocument, Draft, FindingChanges, MatrixCell, MatrixRequest } from "../core/types.js"
 */
import { api } from "../core/api.js";
import { draftOf, requestOf } from "../launch/draft.js";

/** @typedef {AnalysisAnswer<"findings">["findings"][number]} Finding */
/** @typedef {Finding["changes"][number]} Change */
/**
 * A change with its compilation, and the findings that vanished and appeared; null until they are known.
 * @typedef {{change: Change, cell: MatrixCell | null, changes: FindingChanges | null}} Trial
 */

const POLL_MS = 400;

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
export function applied(draft, { options, constants, edits }) {
  const lines = draft.source.split("\n");
  for (const { line, text } of edits) lines[line - 1] = text;
  return {
    source: lines.join("\n"),
    options: { ...draft.options, ...options },
    constants: { ...draft.constants, ...constants },
    arguments: draft.arguments.map((each) =>
      each.name in constants ? { ...each, value: constants[each.name] } : each,
    ),
  };
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
 * What a trial says about a finding: "proven" if the finding has vanished, and nothing else has become worse.
 * @param {Finding} finding @param {Trial} trial @returns {"waiting" | "failed" | "stays" | "partial" | "worse" | "proven"}
 */
export function verdictOf(finding, { cell, changes }) {
  if (cell && ["failed", "refused", "missing"].includes(cell.state)) return "failed";
  if (!changes) return "waiting";
  const isGone = changes.vanished.some(
    ({ rule, source_line: line }) => rule === finding.rule && line === finding.source_line,
  );
  if (!isGone) return "stays";
  if (changes.fixed.length) return "partial";
  return changes.is_worse ? "worse" : "proven";
}

/**
 * Compile changes of a result. `tell` is called with the trials by the keys of their changes, whenever one changes.
 * @param {CompilationDocument} document @param {Change[]} changes
 * @param {(trials: Map<string, Trial>) => void} tell @param {AbortSignal} signal ends the trials
 */
export async function tryAll(document, changes, tell, signal) {
  /** @type {Map<string, Trial>} */
  const trials = new Map(changes.map((change) => [keyOf(change), { change, cell: null, changes: null }]));
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
      if (cell.state === "complete" && cell.id && !trial.changes)
        trial.changes = await api.findingChanges(document.id, cell.id);
      if (signal.aborted) break;
      tell(trials);
    }
    if (isAtWork) await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  if (signal.aborted) await api.cancelMatrix(ticket.id);
}
