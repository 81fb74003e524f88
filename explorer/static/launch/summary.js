/**
 * The launch in a line, for the folded panel: target, Triton version, grid, and changed values.
 *
 * @import { Draft, Kernel, Launch } from "../core/types.js"
 */
import { literal } from "../core/format.js";
import { sameSources } from "../core/source_files.js";
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
    ...gridWords(launch),
    ...changedValues(draft, kernel),
  ].join(" · ");
}

/**
 * The grid of a launch. With other constants or another configuration, only the compilation of the draft knows it.
 * @param {Launch | null} launch @param {boolean} [isChosen] the settings of the draft are for this launch
 * @returns {string[]} one text; none: the grid is not known
 */
export function gridWords(launch, isChosen = true) {
  const grid = isChosen ? chosenGrid(launch) : launch?.grid;
  return grid ? [`grid ${grid.join(" × ")}`] : [];
}

/** @param {Launch | null} launch */
function chosenGrid(launch) {
  const { draft, result } = store.state;
  const { request, specialization } = result?.document ?? {};
  const isOfDraft = request && sameSources(request, draft) && settings(request) === settings(draft);
  if (isOfDraft && launch && specialization?.launch === launch.index) return specialization.grid;
  const isChanged = draft.config !== null || Object.keys(draft.constants).length > 0;
  return isChanged ? null : launch?.grid;
}

/** The settings that the grid of a launch may follow. @param {Partial<Pick<Draft, "config" | "options" | "constants">>} of */
function settings({ config = null, options = {}, constants = {} }) {
  return JSON.stringify([config, ...[options, constants].map((each) => Object.entries(each).sort())]);
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
