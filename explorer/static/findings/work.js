/**
 * The work on the findings of a result: the trials of their changes, and the search for a faster kernel.
 *
 * @import { AnalysisAnswer } from "../core/types.js"
 * @import { Result } from "../core/result.js"
 * @import { Change, Trial, Trials } from "./trials.js"
 */
import { ApiError, api } from "../core/api.js";
import { toast } from "../core/dom.js";
import { canCompile } from "../core/host.js";
import { store } from "../core/store.js";
import { improve } from "./improve.js";
import { findTrials, keyOf, proposalsOf, tryAll, verdictOf } from "./trials.js";

/** The findings of the result `of`. @typedef {AnalysisAnswer<"findings"> & {of: Result}} Findings */

/** The time of a search. */
export const SECONDS = 60;

/** The result whose findings are shown. */
export function settled() {
  const { settled: found, result } = store.state;
  // Nothing is settled if that module could not be loaded.
  return found ?? (result?.finished ? result : null);
}

export class Work {
  /** The result of `trials`. @type {Result | null} */
  tried = null;
  /** By the keys of their changes. @type {Trials} */
  trials = new Map();
  /** The function that follows the trials; null: nothing is at work. @type {typeof tryAll | typeof findTrials | null} */
  following = null;
  trying = new AbortController();
  /** @type {import("./improve.js").Search | null} */
  search = null;
  searching = new AbortController();

  /** @param {() => void} changed is called whenever something is known */
  constructor(changed) {
    this.changed = changed;
  }

  /** Fetch the findings of a result, and then its earlier trials. @param {Result} of @returns {Promise<Findings>} */
  async load(of) {
    this.end();
    const answer = { ...(await api.analysis(of.id, "findings")), of };
    void this.tryWith(findTrials, answer);
    return answer;
  }

  end() {
    this.trying.abort();
    this.searching.abort();
  }

  /** Try all changes, or find earlier trials. @param {typeof tryAll | typeof findTrials} start @param {Findings} answer */
  async tryWith(start, { findings, of }) {
    const proposals = proposalsOf(findings);
    if (of !== settled() || !canCompile || !proposals.length) return;
    this.trying.abort();
    const trying = new AbortController();
    this.trying = trying;
    this.following = start;
    this.changed();
    const tell = (/** @type {Trials} */ trials) => {
      if (trying.signal.aborted || of !== settled()) return;
      this.tried = of;
      this.trials = trials;
      this.changed();
    };
    try {
      await start(of.document, proposals, tell, trying.signal);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (start === tryAll) toast(error.problem.detail);
    } finally {
      trying.abort();
      if (trying === this.trying) this.following = null;
      this.changed();
    }
  }

  /** Take one proven change after another. @param {Result} of */
  async improve(of) {
    this.searching.abort();
    const searching = new AbortController();
    this.searching = searching;
    const timer = setTimeout(() => searching.abort(), 1000 * SECONDS);
    const tell = (/** @type {import("./improve.js").Search} */ search) => {
      if (of !== settled()) searching.abort();
      if (searching === this.searching) this.search = search;
      this.changed();
    };
    try {
      await improve(of.document, tell, searching.signal);
    } finally {
      clearTimeout(timer);
    }
  }

  /** The search that began with a result. @param {Result} of */
  searchOf(of) {
    return this.search?.first.id === of.id ? this.search : null;
  }

  /** Whether changes of a result were tried, alone or by a search. @param {Result} of */
  isTried(of) {
    return this.tried === of || this.searchOf(of) !== null;
  }

  /**
   * The trial of a change, by itself or by a search, whichever knows more.
   * @param {Result} of @param {Change} change @returns {Partial<Trial>}
   */
  trial(of, change) {
    const key = keyOf(change);
    const known = [this.tried === of ? this.trials.get(key) : null, this.searchOf(of)?.trials.get(key)];
    const knows = (/** @type {(trial: Trial) => unknown} */ has) => known.find((each) => each && has(each));
    return (
      knows(({ results }) => results?.timing) ??
      knows(({ results }) => results) ??
      knows(({ verdicts }) => verdicts) ??
      knows(({ cell }) => cell) ??
      {}
    );
  }

  /** The verdict on a change so far. @param {Result} of @param {number} index of the finding @param {Change} change */
  verdict(of, index, change) {
    const trial = this.trial(of, change);
    const verdict = verdictOf(trial, index);
    if (verdict.kind !== "waiting" || this.following || this.search?.isOver === false) return verdict;
    return { ...verdict, words: trial.verdicts ? "results not compared" : "stopped" };
  }

  /** Whether all changes were tried. @param {Findings} answer */
  isComplete({ findings, of }) {
    return (
      this.isTried(of) &&
      proposalsOf(findings).every(
        ({ index, change }) =>
          this.trial(of, change).cell?.state !== "missing" &&
          this.verdict(of, index, change).kind !== "waiting",
      )
    );
  }
}
