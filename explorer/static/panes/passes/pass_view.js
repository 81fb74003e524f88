/**
 * The view of the Passes pane: its state in the address, the listed passes, and the selected pass.
 *
 * @import { PassRow } from "../../core/types.js"
 */

/** Stands for the name of a stage where LLVM's own passes are shown. */
export const LLVM = "llvm";

/**
 * @typedef {object} PassView
 * @property {string} stage
 * @property {number | null} index of the selected pass; null: none is named
 * @property {"unified" | "split" | ""} form one column or two; "": two where both have room
 * @property {boolean} whole whether equal lines are shown
 * @property {boolean} wide whether the change has the whole width of the page
 * @property {boolean} types whether long types are shown in full
 * @property {number} line of the operation that is followed, in the module after the pass; 0: none
 * @property {string} kind of operation whose changes are shown; "": all
 * @property {string} search the searched text, in the modules after all passes; "": none
 */

/**
 * @param {string} state "STAGE.INDEX", then ".u" or ".s", ".t", ".w", ".y" and ".l12" in any order, then
 *   ";kind=NAME" and ";search=TEXT"
 * @returns {PassView}
 */
export function parsePassView(state) {
  const [place = "", ...parts] = state.split(";");
  const [stage = "", index = "", ...flags] = place.split(".");
  const line = flags.find((flag) => /^l\d+$/.test(flag));
  const value = (/** @type {string} */ key) =>
    parts.find((part) => part.startsWith(`${key}=`))?.slice(key.length + 1) ?? "";
  return {
    stage,
    index: index === "" ? null : Number(index),
    form: flags.includes("u") ? "unified" : flags.includes("s") ? "split" : "",
    whole: flags.includes("t"),
    wide: flags.includes("w"),
    types: flags.includes("y"),
    line: line ? Number(line.slice(1)) : 0,
    kind: decodeText(value("kind")),
    search: decodeText(value("search")),
  };
}

/** @param {PassView} view */
export function formatPassView({ stage, index, form, whole, wide, types, line, kind, search }) {
  const flags = [form.slice(0, 1), whole && "t", wide && "w", types && "y", line > 0 && `l${line}`];
  return (
    [stage, index ?? "", ...flags.filter(Boolean)].join(".") +
    (kind ? `;kind=${encodeText(kind)}` : "") +
    (search ? `;search=${encodeText(search)}` : "")
  );
}

/** A text in the characters that a pane's state may have: as in a URL, with "-" for "%". @param {string} text */
function encodeText(text) {
  const rest = (/** @type {string} */ character) => `%${character.charCodeAt(0).toString(16)}`;
  return encodeURIComponent(text)
    .replace(/[-!'()*~]/g, rest)
    .replaceAll("%", "-");
}

/** @param {string} text @returns {string} "" if it is not as `encodeText` writes it */
function decodeText(text) {
  try {
    return decodeURIComponent(text.replaceAll("-", "%"));
  } catch {
    return "";
  }
}

/**
 * Return the listed passes. Failed passes, passes whose module is not known, and the pass of the address are always
 * listed. A search limits the list to passes with matches.
 * @param {PassRow[]} passes
 * @param {PassView} view
 * @param {boolean} onlyChanged
 * @param {Map<number, unknown> | null} [found] by index; null: there is no search
 */
export function listedPasses(passes, { index }, onlyChanged, found = null) {
  if (found) return passes.filter((pass) => found.has(pass.index));
  const isListed = (/** @type {PassRow} */ pass) =>
    pass.changed || pass.omitted || pass.failed || pass.index === index;
  return onlyChanged ? passes.filter(isListed) : passes;
}

/**
 * How many passes changed the module, and which others are listed beside them.
 * @param {PassRow[]} passes
 */
export function countWords(passes) {
  const count = (/** @type {(pass: PassRow) => unknown} */ isOf) => passes.filter(isOf).length;
  const unknown = count(({ omitted, failed }) => omitted && !failed);
  const failed = count((pass) => pass.failed && !pass.changed);
  const changed = `${count((pass) => pass.changed)} of ${passes.length}`;
  return [changed, unknown && `${unknown} not known`, failed && `${failed} failed`]
    .filter(Boolean)
    .join(", ");
}

/**
 * The selected pass: the pass of the address, else the first pass to its stage, or to TTGIR.
 * @param {PassRow[]} listed
 * @param {PassView} view
 * @returns {PassRow | null}
 */
export function selectedPass(listed, { stage, index }) {
  return (
    listed.find((pass) => pass.index === index) ??
    listed.find((pass) => pass.stage === stage) ??
    listed.find((pass) => pass.stage === "ttgir") ??
    listed[0] ??
    null
  );
}

/**
 * The pass whose module has the text before a change: the last earlier pass with a change.
 * @param {PassRow[]} passes
 * @param {PassRow} pass
 */
export function previousChange(passes, pass) {
  return passes.findLast(({ changed, index }) => changed && index < pass.index) ?? null;
}
