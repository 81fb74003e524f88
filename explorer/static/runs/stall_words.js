/**
 * Samples and stall reasons in words. `heat.js`, which is loaded after the first result, passes them to the other
 * modules.
 *
 * @import { LineHeat } from "../core/types.js"
 */
import { plural } from "../core/format.js";
import { sampleShare } from "./samples.js";

const MOST_REASONS = 4;

/**
 * Nsight Compute's stall reasons: a name and an explanation.
 * @type {Record<string, [string, string]>}
 */
const REASONS = {
  long_sb: ["long scoreboard", "waits for data from global, local or texture memory"],
  short_sb: ["short scoreboard", "waits for shared memory, or for the unit of special functions"],
  barrier: ["barrier", "waits for other warps of its block"],
  mio: ["MIO throttle", "the queue to shared memory and special functions is full"],
  lg: ["LG throttle", "the queue to global memory is full"],
  tex: ["TEX throttle", "the queue to the texture unit is full"],
  math: ["math throttle", "the arithmetic pipe is busy"],
  no_inst: ["no instruction", "the next instruction is not there yet, as after a jump"],
  imc: ["constant cache", "waits for a constant that was not in the cache"],
  membar: ["memory barrier", "waits for its own memory accesses to be seen"],
  gmma: ["warp group MMA", "waits for a matrix instruction of the warp group"],
  drain: ["drain", "waits for its stores before it ends"],
  branch_resolving: ["branch", "waits to know where a jump goes"],
  sleeping: ["sleeping", "has put itself to sleep"],
  dispatch: ["dispatch", "the dispatcher holds it back"],
  wait: ["wait", "waits for the fixed time that the last instruction takes"],
  not_selected: ["not selected", "could continue, but another warp was chosen"],
  selected: ["issuing", "issues an instruction: no stall"],
  misc: ["other", "some other reason"],
};
const LONG = /** @type {Record<string, string>} */ ({
  long_scoreboard: "long_sb",
  short_scoreboard: "short_sb",
  mio_throttle: "mio",
  lg_throttle: "lg",
  tex_throttle: "tex",
  math_pipe_throttle: "math",
  no_instructions: "no_inst",
  imc_miss: "imc",
  dispatch_stall: "dispatch",
  branch_resolve: "branch_resolving",
  warpgroup_arrive: "gmma",
});

/** @param {string} reason as the profiler calls it */
export function stallTitle(reason) {
  return known(reason)?.[0] ?? reason.replaceAll("_", " ");
}

/** Return the event that a stall reason waits for. @param {string} reason @returns {string | null} */
export function stallMeaning(reason) {
  return known(reason)?.[1] ?? null;
}

/** @param {string} reason */
function known(reason) {
  const name = reason.replace(/^stall_/, "");
  return REASONS[LONG[name] ?? name];
}

/** List the stall reasons at a line, the most frequent first. @param {LineHeat} heat */
export function stallWords({ samples, stalls }) {
  return Object.entries(stalls)
    .sort(([, one], [, other]) => other - one)
    .slice(0, MOST_REASONS)
    .map(([reason, count]) => `${stallTitle(reason)} ${sampleShare(count / samples)}`)
    .join(", ");
}

/** @param {LineHeat & {sharing?: number}} heat */
export function heatWords(heat) {
  const shared =
    heat.sharing && heat.sharing > 1
      ? ` of its source line, shared by ${plural(heat.sharing, "operation")}`
      : "";
  return `${sampleShare(heat.share)} of the samples${shared}: ${stallWords(heat)}`;
}
