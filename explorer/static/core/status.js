/**
 * The status of a job.
 *
 * @import { Status } from "./types.js"
 */
import { plural } from "./format.js";

/** Whether a job has ended. @param {{status: Status}} job */
export function isOver({ status }) {
  return status !== "queued" && status !== "running";
}

/**
 * The number of kernels that `torch.compile` generates for a program, in words.
 * @param {number} count 0: unknown
 */
export function foundWords(count) {
  return count ? `${plural(count, "kernel")} found` : "kernels found";
}
