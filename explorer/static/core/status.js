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

/** What was found in a program whose kernels `torch.compile` writes. @param {number} count 0: it is not known */
export function foundWords(count) {
  return count ? `${plural(count, "kernel")} found` : "kernels found";
}
