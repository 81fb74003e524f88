/**
 * The timings of a result, from its runs and its recorded profiles.
 *
 * @import { RunRow, Timing, Timings } from "../core/types.js"
 *
 * @typedef {{title: string, timing: Timing}} RunTiming
 */
import { api } from "../core/api.js";

/** Runs of a kernel whose timings are fetched: the latest. */
const MOST_RUNS = 4;

/** The timings of the runs and profiles of a result, the latest first. @param {string} id @returns {Promise<RunTiming[]>} */
export async function loadTimings(id) {
  const { runs, recordings } = await api.runs(id);
  const timed = [...runs, ...recordings]
    // A profile of another configuration says nothing of this binary.
    .filter(({ recorded, binary }) => !recorded || binary === "same")
    .filter(({ measurements }) => measurements.some(({ name }) => name === "timings"))
    .slice(0, MOST_RUNS);
  const found = await Promise.all(
    timed.map(async (row) => ({
      row,
      document: /** @type {Timings} */ (await api.measurement(row.id, "timings")),
    })),
  );
  return found.flatMap(({ row, document }) =>
    document.timings.map((timing) => ({ title: timingTitle(row, timing), timing })),
  );
}

/** @param {RunRow} row @param {Timing} timing */
function timingTitle({ run, gpu, recorded }, { method, cache }) {
  const device = recorded?.gpu || gpu || (run.device === "gpu" ? "GPU" : "Interpreter");
  const sizes = Object.entries(run.sizes ?? {}).map(([name, value]) => `${name} = ${value}`);
  return [device, ...sizes, `${cache} cache`, method].join(", ");
}
