/**
 * Attempts: runs with equal requests are told apart by a number.
 *
 * @import { Run, RunRow } from "../core/types.js"
 */
import { isOver } from "../core/status.js";

/** @typedef {Pick<RunRow, "run" | "status">} KnownRun */

/**
 * Return the first unused attempt, or the attempt that is queued or running.
 * @param {Run} run
 * @param {KnownRun[]} known the runs of the compilation; a run that has ended may also be listed with its earlier
 *   status
 */
export function nextAttempt(run, known) {
  const equal = known.filter((each) => settings(each.run) === settings(run));
  const last = Math.max(-1, ...equal.map((each) => each.run.attempt));
  const isUnderWay = equal.filter((each) => each.run.attempt === last).every((run) => !isOver(run));
  return last >= 0 && isUnderWay ? last : last + 1;
}

/** Serialize the request of a run without the attempt, with sorted keys. @param {Run} run */
function settings(run) {
  const entries = /** @type {[string, unknown][]} */ (
    Object.entries({ original: null, ...run, attempt: 0, measures: [...run.measures].sort() })
  );
  return JSON.stringify(entries.sort(([one], [other]) => one.localeCompare(other)));
}
