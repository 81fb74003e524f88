/**
 * The samples of a run, drawn as heat beside the lines: which run is drawn, and whether heat is on.
 *
 * The run is the run that a pane shows, otherwise the best known run. The choice is kept for the next visit.
 *
 * @import { RunRow } from "../core/types.js"
 */
import { ApiError, api } from "../core/api.js";
import { register } from "../core/commands.js";
import { toast } from "../core/dom.js";
import { keep, kept } from "../core/storage.js";
import { store } from "../core/store.js";
import { heatWords } from "./stall_words.js";

const KEY = "heat";

/** the run whose heat is shown, or asked for */
let asked = "";

/** Watch for runs with samples. */
export function startHeat() {
  store.update({ withHeat: kept(KEY) !== "off", heatWords });
  register([{ name: "heat", title: "Show or hide: samples as heat", group: "Stage", run: toggleHeat }]);
  store.watch(["result", "runs", "shownRun", "withHeat"], () => void choose());
  // Heat does not depend on an open pane that shows runs.
  store.watch(["result"], () => {
    if (kept(KEY) === "on") void learnRuns();
  });
}

export function toggleHeat() {
  const withHeat = !store.state.withHeat;
  keep(KEY, withHeat ? "on" : "off");
  store.update({ withHeat });
  if (withHeat)
    void learnRuns().then(
      () =>
        sampledRun() ??
        toast("No samples were taken of this kernel: run it on a GPU with samples among the measures."),
    );
}

/** Load the runs of the result unless they are loaded. */
async function learnRuns() {
  const { result, runs } = store.state;
  if (!result?.finished || runs?.compilation === result.id) return;
  const { loadRuns } = await import("./runner.js");
  if (store.state.runs?.compilation !== result.id) await loadRuns(result.id);
}

/** The run that has samples of the result. @returns {RunRow | null} */
function sampledRun() {
  const { result, runs, shownRun } = store.state;
  if (!result || runs?.compilation !== result.id || !runs.document) return null;
  const { runs: own, imported, recordings } = runs.document;
  const chosen = imported.filter(({ id }) => id === shownRun?.id);
  const known = [...own, ...chosen, ...recordings].filter(
    ({ status, measurements }) =>
      status === "complete" && measurements.some(({ name }) => name === "samples"),
  );
  return (
    known.find(({ id }) => id === shownRun?.id) ??
    known.find(({ binary }) => binary === "same") ??
    known.find(({ match }) => match === "exact") ??
    known[0] ??
    null
  );
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
    // Without heat the lines are drawn as usual; the Run pane reports the reason.
    if (!(error instanceof ApiError)) throw error;
    if (asked === wanted) asked = "";
  }
}
