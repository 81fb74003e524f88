/**
 * Run the kernel in the editor. Compile it first if it was edited.
 *
 * @import { RunForm, Preset } from "./form_state.js"
 */
import { compileNow } from "../launch/edit.js";
import { whyNotRun } from "../launch/state.js";
import { store } from "../core/store.js";
import { PRESETS, deviceOf, formProblems, measuresOf, runOf } from "./form_state.js";
import { cancelRun, loadRuns, startRun } from "./runner.js";

/** @param {Partial<RunForm>} changes */
export function changeForm(changes) {
  store.update({ runForm: { ...store.state.runForm, ...changes }, runProblem: null });
}

/** @param {Preset | null} preset null: the selected measures */
export async function runNow(preset) {
  if (store.state.startingRun) return;
  if (store.state.edited || store.state.run || store.state.sending) await compileNow();
  await isCompiled();
  const { result, failure, edited } = store.state;
  if (result?.document.status !== "complete" || failure || edited) {
    refuse(
      "There is nothing to run",
      "The kernel does not compile. See the errors above the panes and in the log.",
    );
    return;
  }
  const reason = whyNotRun(result.document);
  if (reason) {
    refuse("The kernel cannot be run", reason);
    return;
  }
  if (store.state.runs?.compilation !== result.id || !store.state.runs.document) await loadRuns(result.id);
  const { runs } = store.state;
  if (!runs?.document) {
    if (runs?.problem) store.update({ runProblem: runs.problem });
    return;
  }
  const { devices } = runs.document;
  const { measures: kinds } = store.state;
  const device = deviceOf(store.state.runForm, devices);
  const measures = preset ? PRESETS[preset].measures[device] : measuresOf(store.state.runForm, device, kinds);
  if (measures.length === 0) {
    const { title } = PRESETS[preset ?? "run"];
    refuse(
      `${title} needs a GPU`,
      devices.gpu.available
        ? "Choose the GPU: an interpreter's times do not describe a GPU."
        : devices.gpu.reason,
    );
    return;
  }
  changeForm({ measures: preset === "run" ? null : measures });
  const form = store.state.runForm;
  const [problem] = formProblems(result.document, form, device, kinds);
  if (problem) {
    refuse("The settings of the run are invalid", problem.words);
    return;
  }
  await startRun(result.id, runOf(result.document, form, device, kinds));
}

/** Wait for the compilation under way, which may have begun before: its source was pasted. @returns {Promise<void>} */
function isCompiled() {
  return new Promise((resolve) => {
    const stop = store.watch(["run", "sending"], () => {
      if (store.state.run || store.state.sending) return;
      queueMicrotask(() => stop());
      resolve();
    });
  });
}

/** Stop the run that was started last. */
export function cancelNow() {
  const { runUnderWay } = store.state;
  if (runUnderWay) void cancelRun(runUnderWay);
}

/** @param {string} title @param {string} detail */
function refuse(title, detail) {
  store.update({ runProblem: { title, kind: "run", detail } });
}
