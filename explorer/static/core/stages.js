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
 * Return the stage to show for `wanted`: the stage itself, or the machine code of this target in place of the machine
 * code of a different target.
 * @param {string} wanted
 * @param {string[]} available in their order
 */
export function fallbackStage(wanted, available) {
  const isMachineCode = store.state.targets.some(({ stages }) => stages.at(-1) === wanted);
  return isMachineCode && !available.includes(wanted) ? (available.at(-1) ?? wanted) : wanted;
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
 * @param {string} state
 */
export function shownStage(state) {
  const [wanted = ""] = state.split(";");
  const { result } = store.state;
  // A stage that the result has and its target does not list (Gluon IR) is shown unchanged.
  return result?.stage(wanted) ? wanted : fallbackStage(wanted, targetStages(result));
}

/** Return the class that sets the hue of a stage's language. @param {string} name */
export function hueClass(name) {
  const kind = store.state.stageKinds.find((each) => each.name === name);
  return `hue-${store.state.languages[kind?.language ?? ""]?.hue || "none"}`;
}
