/**
 * The search for a faster kernel: takes the first proven change of the most costly finding, again and again.
 *
 * @import { CompilationDocument } from "../core/types.js"
 * @import { Finding, Proposal, Trial, Trials } from "./trials.js"
 */
import { ApiError, api } from "../core/api.js";
import { keyOf, proposalsOf, tryAll, verdictOf } from "./trials.js";

/**
 * A change that was tried for a finding.
 * @typedef {{rule: string, text: string, words: string, details?: string, isTaken: boolean}} Try
 */
/**
 * A search: its tries, and the kernels before and after the taken changes. `trials` belong to the first kernel.
 * `problem` is why it could not go on.
 * @typedef {{first: CompilationDocument, last: CompilationDocument, trials: Trials, tries: Try[], taken: Trial[],
 *   isOver: boolean, isStopped: boolean, problem: string}} Search
 */

/**
 * Search until no change is proven, or the signal ends it. `tell` is called whenever something is known.
 * @param {CompilationDocument} first @param {(search: Search) => void} tell @param {AbortSignal} signal
 */
export async function improve(first, tell, signal) {
  /** @type {Search} */
  let search = {
    ...{ first, last: first, trials: new Map(), tries: [], taken: [] },
    ...{ isOver: false, isStopped: false, problem: "" },
  };
  // What it writes is right.
  let original = first;
  let step = new AbortController();
  signal.addEventListener("abort", () => step.abort());
  tell(search);
  try {
    for (let isAtWork = true; isAtWork && !signal.aborted; ) {
      const { last, tries, taken } = search;
      step = new AbortController();
      const { findings } = await api.analysis(last.id, "findings");
      const proposals = proposalsOf(findings);
      if (!proposals.some(mayBeTaken)) break;
      let found = firstTaken(findings, proposals, new Map());
      const look = (/** @type {Trials} */ trials) => {
        found = firstTaken(findings, proposals, trials);
        if (found.trial) step.abort();
        search = { ...search, tries: [...tries, ...found.tries] };
        if (last === first) search.trials = trials;
        tell(search);
      };
      await tryAll(last, proposals, look, step.signal, original);
      const { trial } = found;
      isAtWork = trial !== null;
      if (trial?.cell?.id)
        search = { ...search, last: await api.compilation(trial.cell.id), taken: [...taken, trial] };
      if (trial?.change.is_correction) original = search.last;
    }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    search = { ...search, problem: error.problem.detail };
  } finally {
    step.abort();
    tell({ ...search, isOver: true, isStopped: signal.aborted });
  }
}

/**
 * The trials in the order of the findings, up to the first that is taken or not decided.
 * @param {Finding[]} findings @param {Proposal[]} proposals @param {Trials} trials
 * @returns {{tries: Try[], trial: Trial | null}}
 */
function firstTaken(findings, proposals, trials) {
  /** @type {Try[]} */
  const tries = [];
  for (const { index, change } of proposals.filter(mayBeTaken)) {
    const trial = trials.get(keyOf(change));
    const verdict = trial && verdictOf(trial, index);
    if (!verdict || verdict.kind === "waiting") break;
    // Where times are known, a change must make the kernel faster.
    const isTaken = verdict.kind === "proven" && trial.results?.isFaster !== null;
    tries.push({
      rule: /** @type {Finding} */ (findings[index]).rule,
      text: change.text,
      words: verdict.words,
      details: verdict.details,
      isTaken,
    });
    if (isTaken) return { tries, trial };
  }
  return { tries, trial: null };
}

/** Whether a search tries a change: nobody asks for results that are less exact. @param {Proposal} proposal */
const mayBeTaken = ({ change }) => change.may_be_faster && change.is_exact;

/** The lines of the source that the taken changes replace. @param {Pick<Search, "first" | "last">} search */
export function changedLines({ first, last }) {
  const old = first.request.source.split("\n");
  return last.request.source
    .split("\n")
    .flatMap((text, index) =>
      text === old[index] ? [] : [{ line: index + 1, before: old[index] ?? "", after: text }],
    );
}
