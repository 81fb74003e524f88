/**
 * The stages of a lowering, as the page names them.
 *
 * @import { Result } from "./result.js"
 */
import { store } from "./store.js";

/** @param {string} name */
export function stageTitle(name) {
  return store.state.stageKinds.find((kind) => kind.name === name)?.title ?? name.toUpperCase();
}

/**
 * The names of the stages for the target of a result, or without a result for the target of the draft, in their order.
 * @param {Result | null} result
 */
export function targetStages(result) {
  const { targets, draft } = store.state;
  return result
    ? result.document.target.stages
    : (targets.find(({ name }) => name === draft.target)?.stages ?? []);
}

/**
 * The stage that a stage pane shows when its state is `state`: a name, and behind ";" more about the view.
 *
 * The machine code of the target stands for the machine code of another target. The first stage of a result stands for
 * the stages before it: a pasted PTX has no TTGIR.
 * @param {string} state
 * @param {Result | null} [result]
 */
export function shownStage(state, result = store.state.result) {
  const [wanted = ""] = state.split(";");
  // A stage that the result has and its target does not list (Gluon IR) is shown unchanged.
  if (result?.stage(wanted)) return wanted;
  const stages = targetStages(result);
  const isMachineCode = store.state.targets.some((target) => target.stages.at(-1) === wanted);
  const stage = isMachineCode && !stages.includes(wanted) ? (stages.at(-1) ?? wanted) : wanted;
  const first = result?.document.stages[0]?.name ?? "";
  return stages.includes(stage) && stages.indexOf(stage) < stages.indexOf(first) ? first : stage;
}

/** Return the class that sets the hue of a stage's language. @param {string} name */
export function hueClass(name) {
  const kind = store.state.stageKinds.find((each) => each.name === name);
  return `hue-${store.state.languages[kind?.language ?? ""]?.hue || "none"}`;
}
