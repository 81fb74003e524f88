/**
 * The trials of findings: each proposed change is compiled, and the server says which findings it removes. A proven
 * change is run beside the original where it may write other results, or where there is a GPU of the target.
 *
 * @import { AnalysisAnswer, CompilationDocument, Draft, FindingChanges, MatrixCell } from "../core/types.js"
 */
import { api } from "../core/api.js";
import { withSettings } from "../launch/draft.js";
import { canceledByLeaving, compared, measure, runFinder, runStarter } from "./trial_runs.js";

/** @typedef {AnalysisAnswer<"findings">["findings"][number]} Finding */
/** @typedef {Finding["changes"][number]} Change */
/** A change, and the index of the first finding that proposes it. @typedef {{index: number, change: Change}} Proposal */
/**
 * A change with its compilation, and what the server says about each finding; null until they are known. `results`
 * are null while both kernels run.
 * @typedef {{change: Change, cell: MatrixCell | null, verdicts: FindingChanges["verdicts"] | null,
 *   results: Results | null}} Trial
 */
/** Trials by the keys of their changes. @typedef {Map<string, Trial>} Trials */
/** @typedef {import("./trial_runs.js").Results} Results */

const POLL_MS = 400;

/** The different changes that findings propose, in their order. @param {Finding[]} findings */
export function proposalsOf(findings) {
  /** @type {Map<string, Proposal>} */
  const found = new Map();
  for (const [index, { changes }] of findings.entries())
    for (const change of changes) if (!found.has(keyOf(change))) found.set(keyOf(change), { index, change });
  return [...found.values()];
}

/** @param {Change} change */
export function keyOf({ options, constants, edits }) {
  return JSON.stringify([options, constants, edits]);
}

/** What changes make of a draft. @param {Draft} draft @param {Change[]} changes @returns {Partial<Draft>} */
export function applied(draft, changes) {
  const lines = draft.source.split("\n");
  for (const { line, text } of changes.flatMap(({ edits }) => edits)) lines[line - 1] = text;
  const options = Object.assign({}, ...changes.map((each) => each.options));
  const constants = Object.assign({}, ...changes.map((each) => each.constants));
  return { source: lines.join("\n"), ...withSettings(draft, { options, constants }) };
}

/**
 * What a trial says about a finding.
 * @param {Partial<Trial>} trial @param {number} index of the finding
 * @returns {{kind: "waiting" | "unproven" | "other" | "slower" | "proven", words: string, details?: string}}
 */
export function verdictOf({ cell, verdicts, results }, index) {
  if (cell?.state === "failed")
    return { kind: "unproven", words: `fails: ${cell.message.split("\n", 1)[0]}` };
  if (cell && ["refused", "missing", "kernels_found"].includes(cell.state))
    return { kind: "unproven", words: "not compiled" };
  const said = verdicts?.[index];
  if (!said) return { kind: "waiting", words: waitingWords(cell) };
  if (!said.is_proven) return { kind: "unproven", words: said.text };
  if (!results) return { kind: "waiting", words: "both kernels run" };
  const { details } = results;
  if (results.isOther) return { kind: "other", words: results.words, details };
  const kind = results.isFaster === false ? "slower" : "proven";
  return { kind, words: `${said.text}, ${results.words}`, details };
}

/** @param {MatrixCell | null | undefined} cell without verdicts */
function waitingWords(cell) {
  if (cell?.state === "complete") return "the findings are compared";
  return cell?.state === "compiling" ? "compiling" : "waits";
}

/**
 * Compile the changes of a result. `tell` is called with the trials whenever one changes.
 * @param {CompilationDocument} document @param {Proposal[]} proposals
 * @param {(trials: Trials) => void} tell @param {AbortSignal} signal ends the trials
 * @param {CompilationDocument} [original] what it writes is right
 */
export async function tryAll(document, proposals, tell, signal, original = document) {
  if (signal.aborted) return;
  const { id } = await api.startTrials(document.id);
  const cancel = () => api.cancelMatrix(id);
  if (!signal.aborted)
    await canceledByLeaving(cancel, () =>
      follow(id, document, proposals, tell, signal, runStarter(original.id, signal)),
    );
  if (signal.aborted) await cancel();
}

/**
 * Show the trials of an earlier visit, if there are any. Nothing is started.
 * @param {CompilationDocument} document @param {Proposal[]} proposals
 * @param {(trials: Trials) => void} tell @param {AbortSignal} signal
 */
export async function findTrials(document, proposals, tell, signal) {
  const matrix = await api.trials(document.id);
  if (matrix && !signal.aborted)
    await follow(matrix.id, document, proposals, tell, signal, runFinder(document));
}

/**
 * Follow the matrix of the trials, and the runs of the proven changes.
 * @param {string} id of the matrix
 * @param {CompilationDocument} document @param {Proposal[]} proposals
 * @param {(trials: Trials) => void} tell @param {AbortSignal} signal
 * @param {import("./trial_runs.js").Runner} run
 */
async function follow(id, document, proposals, tell, signal, run) {
  /** @type {Trials} */
  const trials = new Map(
    proposals.map(({ change }) => [keyOf(change), { change, cell: null, verdicts: null, results: null }]),
  );
  tell(trials);
  const measured = measure(document, run);
  /** @param {Trial} trial @param {string} compilation */
  const compare = async (trial, compilation) => {
    const { verdicts, change } = trial;
    if (!verdicts?.some((each) => each.is_proven)) return;
    trial.results = await compared(compilation, change, await measured, run);
    if (!signal.aborted) tell(trials);
  };
  /** @type {Promise<void>[]} */
  const comparisons = [];
  for (let isAtWork = true; !signal.aborted; ) {
    if (isAtWork) {
      const { is_at_work, cells } = await api.matrix(id);
      if (signal.aborted) break;
      isAtWork = is_at_work;
      for (const cell of cells) {
        const proposal = proposals[cell.configuration - 1]; // the first is the unchanged kernel
        const trial = proposal && trials.get(keyOf(proposal.change));
        if (trial) trial.cell = cell;
      }
      tell(trials);
    }
    if (signal.aborted) break;
    // A verdict may take seconds: the cells are fetched again after each.
    const next = [...trials.values()].find(({ cell, verdicts }) => cell?.state === "complete" && !verdicts);
    if (next?.cell?.id) {
      next.verdicts = (await api.findingChanges(document.id, next.cell.id)).verdicts;
      if (signal.aborted) break;
      comparisons.push(compare(next, next.cell.id));
      tell(trials);
    } else if (isAtWork) await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    else break;
  }
  await Promise.all(comparisons);
}
