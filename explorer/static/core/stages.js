/**
 * The stages of a lowering, as the page speaks of them.
 *
 * @import { Result } from "./result.js"
 */
import { store } from "./store.js";

/** @param {string} name */
export function stageTitle(name) {
  return store.state.stageKinds.find((kind) => kind.name === name)?.title ?? name.toUpperCase();
}

/**
 * The stage to show where `wanted` is asked for: itself, or the machine code of this target for that of
 * another.
 * @param {string} wanted
 * @param {string[]} available in their order
 */
export function fallbackStage(wanted, available) {
  const isMachineCode = store.state.targets.some(({ stages }) => stages.at(-1) === wanted);
  return isMachineCode && !available.includes(wanted) ? (available.at(-1) ?? wanted) : wanted;
}

/**
 * The names of the stages that lead to the target of a result, or of the draft where there is none, in their
 * order.
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
  // What the result has beyond its target's list (a Gluon kernel's own first stage) is shown as asked.
  return result?.stage(wanted) ? wanted : fallbackStage(wanted, targetStages(result));
}

/** The class that gives an element the hue of a stage's language. @param {string} name */
export function hueClass(name) {
  const kind = store.state.stageKinds.find((each) => each.name === name);
  return `hue-${store.state.languages[kind?.language ?? ""]?.hue || "none"}`;
}
