/**
 * The content of a lineage: its lines in each stage, its passes, and the words for a step.
 *
 * @import { Lineage, LineageStep, PassRow } from "../core/types.js"
 */
import { plural } from "../core/format.js";

/**
 * The lines of each stage that belong to the operation.
 * @param {Lineage} lineage
 * @param {PassRow[]} passes of the compilation
 * @returns {Map<string, Set<number>>} by the name of the stage
 */
export function linesByStage({ steps, removed_by: removedBy, instructions }, passes) {
  /** @type {Map<string, Set<number>>} */
  const found = new Map();
  for (const stage of new Set(passes.map((pass) => pass.stage))) {
    const last = passes.findLast((pass) => pass.stage === stage)?.index ?? 0;
    const step = steps.findLast(({ index }) => index <= last);
    // LLVM IR is no module of a pass: it is optimized after the last one.
    if (!step || stage === "llir" || (removedBy !== null && removedBy <= last)) continue;
    found.set(stage, new Set(step.lines.map(({ line }) => line)));
  }
  for (const { stage, lines } of instructions) found.set(stage, new Set(lines));
  return found;
}

/** The indices of the passes that made, changed or removed the operation. @param {Lineage} lineage */
export function touchedPasses({ steps, removed_by: removedBy }) {
  const touched = new Set(steps.filter((step) => step.is_touched).map(({ index }) => index));
  if (removedBy !== null) touched.add(removedBy);
  return touched;
}

/**
 * The shown steps: the steps of the passes that touched the operation, and the first step.
 * @param {Lineage} lineage
 */
export function shownSteps({ steps }) {
  return steps.filter((step, at) => at === 0 || step.is_touched);
}

/** The shown step from which the operation is as in the requested step. @param {Lineage} lineage */
export function currentStep({ steps, asked }) {
  return steps.findLast((step, at) => at <= asked && (at === 0 || step.is_touched));
}

/**
 * The operations of a step by name: "ttg.async_wait, tt.load ×2".
 * @param {LineageStep} step
 */
export function operationNames({ lines, count, is_known: isKnown }) {
  if (!isKnown) return "unknown";
  if (count > lines.length) return plural(count, "operation");
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const { operation } of lines) counts.set(operation, (counts.get(operation) ?? 0) + 1);
  const names = [...counts].map(([name, times]) => (times > 1 ? `${name} ×${times}` : name));
  return names.length > MOST_NAMES
    ? `${plural(count, "operation")} of ${names.length} kinds`
    : names.join(", ");
}
const MOST_NAMES = 3;

/**
 * The step of the next pass that touched the operation, or of the one before.
 * @param {Lineage} lineage
 * @param {1 | -1} direction
 * @returns {LineageStep | undefined}
 */
export function neighborStep({ steps, asked }, direction) {
  if (direction > 0) return steps.find((each, at) => at > asked && each.is_touched);
  // Going back leads to the module that the requested step's change was made from.
  return asked > 0 ? steps[asked - 1] : undefined;
}
