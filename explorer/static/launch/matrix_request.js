/**
 * Several drafts of one kernel as the request of a matrix.
 *
 * @import { Draft, MatrixConfiguration, MatrixRequest, Scalar } from "../core/types.js"
 */
import { requestOf } from "./draft.js";

/**
 * The matrix of drafts that differ in their configuration, target or Triton version only. It has every
 * combination of these.
 * @param {Draft[]} drafts at least one
 * @returns {MatrixRequest}
 */
export function matrixOf(drafts) {
  const [first] = drafts;
  if (!first) throw new Error("There is no draft.");
  const base = { ...first, config: null, options: {}, constants: {} };
  /** @type {Map<string, MatrixConfiguration>} */
  const configurations = new Map();
  for (const draft of drafts) {
    const configuration = configurationOf(draft, base);
    configurations.set(JSON.stringify(configuration), configuration);
  }
  return {
    compilation: requestOf(base),
    configurations: [...configurations.values()],
    targets: [...new Set(drafts.map(({ target }) => target))],
    tritons: [...new Set(drafts.flatMap(({ triton }) => triton ?? []))],
  };
}

/** @param {Draft} draft @param {Draft} base @returns {MatrixConfiguration} */
function configurationOf({ config, options, constants: set, mode, arguments: given }, base) {
  /** @type {Record<string, Scalar>} */
  const constants = mode === "launch" ? { ...set } : {};
  for (const [index, { name, value }] of given.entries())
    if (mode === "form" && value !== base.arguments[index]?.value) constants[name] = value ?? null;
  return { config, options, constants };
}
