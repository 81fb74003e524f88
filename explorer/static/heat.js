/**
 * Where the time of a run goes, drawn as heat beside the lines: which run's samples those are, and whether they are drawn.
 *
 * The run is the one that a pane shows; where none does, the best of those that are known. What is drawn is kept for the next visit.
 *
 * @import { RunRow } from "./run/documents.js"
 */
import { ApiError, api } from "./api.js";
import { register } from "./commands.js";
import { toast } from "./dom.js";
import { keep, kept } from "./storage.js";
import { store } from "./store.js";

const KEY = "heat";

/** the run whose heat is shown, or asked for */
let asked = "";

/** Watch for runs with samples. */
export function startHeat() {
  store.update({ withHeat: kept(KEY) !== "off" });
  register([{ name: "heat", title: "Show or hide: samples as heat", group: "Stage", run: toggleHeat }]);
  store.watch(["result", "runs", "shownRun", "withHeat"], () => void choose());
  // Who has asked for heat has it without a pane that shows runs.
  store.watch(["result"], () => {
    if (kept(KEY) === "on") void learnRuns();
  });
}

export function toggleHeat() {
  const withHeat = !store.state.withHeat;
  keep(KEY, withHeat ? "on" : "off");
  store.update({ withHeat });
  if (withHeat) void learnRuns().then(() => sampledRun() ?? toast("No samples were taken of this kernel: run it on a GPU with samples among the measures."));
}

/** Know what was run of the result, where nobody has asked yet. */
async function learnRuns() {
  const { result, runs } = store.state;
  if (!result?.finished || runs?.compilation === result.id) return;
  const { loadRuns } = await import("./run/runner.js");
  if (store.state.runs?.compilation !== result.id) await loadRuns(result.id);
}

/** The run that has samples of the result. @returns {RunRow | null} */
function sampledRun() {
  const { result, runs, shownRun } = store.state;
  if (!result || runs?.compilation !== result.id || !runs.document) return null;
  const known = [...runs.document.runs, ...runs.document.recordings].filter(({ status, measurements }) => status === "complete" && measurements.some(({ name }) => name === "samples"));
  return known.find(({ id }) => id === shownRun?.id) ?? known.find(({ binary }) => binary === "same") ?? known.find(({ match }) => match === "exact") ?? known[0] ?? null;
}

async function choose() {
  const run = store.state.withHeat ? sampledRun() : null;
  const compilation = store.state.result?.id ?? "";
  const wanted = run ? `${run.id} ${compilation}` : "";
  if (asked === wanted) return;
  asked = wanted;
  if (store.state.heat) store.update({ heat: null });
  if (!run) return;
  try {
    const document = await api.heat(run.id, compilation);
    if (asked === wanted && !document.reason) store.update({ heat: document });
  } catch (error) {
    // Without heat the lines are what they were; the pane of the run says why there is none.
    if (!(error instanceof ApiError)) throw error;
    if (asked === wanted) asked = "";
  }
}
