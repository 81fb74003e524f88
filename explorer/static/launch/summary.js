/**
 * The launch in a line, for the folded panel: target, Triton version, grid, and changed values.
 *
 * @import { Draft, Kernel, Launch } from "../core/types.js"
 */
import { literal } from "../core/format.js";
import { store } from "../core/store.js";

/**
 * @param {Kernel | null} kernel @param {Launch | null} launch
 * @param {string} title of the unfolded panel, which is repeated unless the launch was found
 */
export function launchSummary(kernel, launch, title) {
  const { draft, inspection, targets, tritons } = store.state;
  const target = targets.find(({ name }) => name === draft.target);
  if (!target) return ""; // The page is being loaded.
  return [
    ...(launch ? [] : title.split(" · ").slice(1)),
    ...(kernel && (inspection?.kernels.length ?? 0) > 1 ? [kernel.name] : []),
    target.architecture,
    `Triton ${draft.triton ?? tritons.default}`,
    ...(launch?.grid ? [`grid ${launch.grid.join(" × ")}`] : []),
    ...changedValues(draft, kernel),
  ].join(" · ");
}

/** @param {Draft} draft @param {Kernel | null} kernel */
function changedValues(draft, kernel) {
  return [
    ...(draft.config === null ? [] : [`configuration ${draft.config}`]),
    ...Object.entries({ ...draft.constants, ...draft.options }).map(assignment),
    ...changedArguments(draft, kernel),
    ...Object.entries(draft.assumed).map(([place, number]) => `assumed ${place}: ${number}`),
    ...(draft.scriptArguments ? [draft.scriptArguments] : []),
    ...(draft.edits ? ["edited stages or passes"] : []),
  ];
}

/** The arguments by hand that differ from the arguments of the source. @param {Draft} draft @param {Kernel | null} kernel */
function changedArguments(draft, kernel) {
  if (draft.mode !== "form" || !kernel) return [];
  const launch = store.state.inspection?.launches.find((each) => each.kernel === kernel.name);
  const found = launch?.arguments ?? kernel.parameters.map(({ guess }) => guess);
  return draft.arguments.flatMap(({ name, type, value }) => {
    const before = found.find((each) => each.name === name);
    if (value !== before?.value) return [assignment([name, value])];
    const isFolded = before.specialization === "equal to 1";
    return type === before.type || isFolded ? [] : [`${name}: ${type}`];
  });
}

/** @param {[string, Draft["constants"][string]]} entry */
function assignment([name, value]) {
  return `${name}=${literal(value)}`;
}
