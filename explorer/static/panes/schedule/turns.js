/**
 * The turns of a pipelined loop: which stage of which iteration each of them executes.
 *
 * @import { ScheduledLoop, ScheduledOperation } from "../../core/types.js"
 */

/** The maximum number of iterations that are drawn behind the iterations that fill the pipeline. */
const MOST_MORE = 8;
/** Iterations that are drawn behind these if their number is known at run time only. */
const EXAMPLE_MORE = 3;
/** Operations that compute addresses, masks and numbers of buffers. */
const PLAIN =
  /^(?:arith\.|math\.|tt\.(?:splat|broadcast|expand_dims|addptr|make_range|reshape)$|ttg\.memdesc_(?:index|trans)$)/;

/**
 * @typedef {object} Turn
 * @property {number} number of the loop's turns from 0 on; before the loop it is negative
 * @property {"prologue" | "full" | "epilogue"} part "full": all stages are at work
 */

/** Whether all iterations of a loop are drawn. @param {ScheduledLoop} loop */
export function isComplete({ iterations, last_stage: last }) {
  return iterations !== null && iterations > 0 && iterations <= last + MOST_MORE;
}

/** The number of iterations that are drawn. @param {ScheduledLoop} loop @returns {number} */
export function drawnIterations(loop) {
  return isComplete(loop) ? (loop.iterations ?? 0) : loop.last_stage + EXAMPLE_MORE;
}

/** The turns of the drawn iterations, in order. @param {ScheduledLoop} loop @returns {Turn[]} */
export function turnsOf(loop) {
  const last = loop.last_stage;
  const count = drawnIterations(loop);
  return Array.from({ length: count + last }, (_, place) => ({
    number: place - last,
    part: place < last ? "prologue" : place < count ? "full" : "epilogue",
  }));
}

/**
 * The stage of an iteration in a turn; null: none.
 * @param {ScheduledLoop} loop @param {number} iteration @param {number} turn number of it
 */
export function stageIn({ last_stage: last }, iteration, turn) {
  const stage = turn + last - iteration;
  return stage >= 0 && stage <= last ? stage : null;
}

/** The operations in the order of a turn. @param {ScheduledLoop} loop */
export function inOrder({ operations }) {
  return [...operations].sort((one, other) => one.cluster - other.cluster || one.line - other.line);
}

/** Whether an operation only computes addresses, masks and the like. @param {ScheduledOperation} operation */
export const isPlain = ({ operation }) => PLAIN.test(operation);

/**
 * Describe the work of a stage, such as "load ×2": the operations that move or multiply data, or else all.
 * @param {ScheduledLoop} loop @param {number} stage
 * @returns {string[]}
 */
export function workOf(loop, stage) {
  const own = loop.operations.filter((each) => each.stage === stage);
  const telling = own.filter((each) => !isPlain(each)).sort((one, other) => rank(one) - rank(other));
  const waits = loop.operations.filter((each) => each.waited_in === stage);
  const names = [
    ...(telling.length || waits.length ? telling : own).map(({ operation }) => shortName(operation)),
    ...waits.map(({ operation }) => `wait for ${shortName(operation)}`),
  ];
  const counts = new Map();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].map(([name, count]) => (count > 1 ? `${name} ×${count}` : name));
}

/** Products and copies come first. @param {ScheduledOperation} operation */
const rank = ({ operation }) => (/dot|mma/.test(operation) ? 0 : /load|store|copy/.test(operation) ? 1 : 2);

/** @param {string} name "tt.load" is "load" */
const shortName = (name) => name.slice(name.indexOf(".") + 1);
