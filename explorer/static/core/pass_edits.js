/**
 * The edits of passes in a request: passes that do not run, and values of their options.
 *
 * @import { Draft, PassRow, Scalar } from "./types.js"
 */

/** @typedef {NonNullable<Draft["edits"]>} Edits */

/** @type {Edits} */
const NONE = { stage: "", text: "", without_passes: [], pass_options: {} };

/** Passes that Triton's pass manager does not run: they have no options and cannot be left out. */
const NO_PASSES = new Set(["ast-to-ttir", "edited"]);

/**
 * The name that means one pass in a request: "canonicalize#2" is the second pass of that name.
 * @param {Pick<PassRow, "name" | "index">[]} passes @param {Pick<PassRow, "name" | "index">} pass
 */
export function ownName(passes, { name, index }) {
  if (NO_PASSES.has(name)) return "";
  return `${name}#${passes.filter((other) => other.name === name && other.index <= index).length}`;
}

/** Whether a pass is left out, by its own name. @param {Draft["edits"]} edits @param {string} own */
export function isLeftOut(edits, own) {
  const without = edits?.without_passes ?? [];
  return without.includes(own) || without.includes(own.replace(/#\d+$/, ""));
}

/**
 * Leave a pass out, or run it again.
 * @param {Draft["edits"]} edits @param {string} own @returns {Draft["edits"]} null: nothing is changed
 */
export function toggledPass(edits, own) {
  const before = edits ?? NONE;
  const names = [own, own.replace(/#\d+$/, "")];
  const without_passes = isLeftOut(edits, own)
    ? before.without_passes.filter((name) => !names.includes(name))
    : [...before.without_passes, own];
  return orNull({ ...before, without_passes });
}

/**
 * Set the value of an option of a pass.
 * @param {Draft["edits"]} edits @param {string} own @param {string} option @param {string} value "": the default
 * @returns {Draft["edits"]} null: nothing is changed
 */
export function withPassOption(edits, own, option, value) {
  const before = edits ?? NONE;
  const { [own]: options = {}, ...others } = before.pass_options;
  const { [option]: _before, ...rest } = options;
  /** @type {Record<string, Scalar>} */
  const now = value.trim() ? { ...rest, [option]: value.trim() } : rest;
  return orNull({ ...before, pass_options: Object.keys(now).length ? { ...others, [own]: now } : others });
}

/** @param {Edits} edits */
function orNull(edits) {
  const isNone = !edits.stage && !edits.without_passes.length && !Object.keys(edits.pass_options).length;
  return isNone ? null : edits;
}

/**
 * Describe the edits of a request in words, each with the edits that remain without it.
 * @param {Draft["edits"]} edits @param {(stage: string) => string} titleOf
 * @returns {{words: string, without: Draft["edits"]}[]}
 */
export function changesOf(edits, titleOf) {
  if (!edits) return [];
  return [
    ...(edits.stage
      ? [{ words: `${titleOf(edits.stage)} edited`, without: orNull({ ...edits, stage: "", text: "" }) }]
      : []),
    ...edits.without_passes.map((name) => ({
      words: `without ${name}`,
      without: orNull({ ...edits, without_passes: edits.without_passes.filter((other) => other !== name) }),
    })),
    ...Object.entries(edits.pass_options).flatMap(([name, options]) =>
      Object.entries(options).map(([option, value]) => ({
        words: `${name}: ${option}=${value}`,
        without: withPassOption(edits, name, option, ""),
      })),
    ),
  ];
}
