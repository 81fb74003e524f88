/** The state of a stage pane in the address: `ttgir;hide=attributes;show=locations.layouts;fold=6.61;lineage=57`. */
import { sameSources } from "../../core/source_files.js";

/**
 * @typedef {object} PaneState
 * @property {string} stage
 * @property {Set<string>} hide the filters that hide parts shown by default
 * @property {Set<string>} show the filters that show parts hidden by default
 * @property {string} fold the folds, as `Folding` writes them; "": the initial folds
 * @property {number} lineage the line of the operation whose lineage is shown; 0: none
 */

/** @param {string} state @returns {PaneState} */
export function parsePaneState(state) {
  const [stage = "", ...parts] = state.split(";");
  const value = (/** @type {string} */ key) =>
    parts.find((part) => part.startsWith(`${key}=`))?.slice(key.length + 1) ?? "";
  const names = (/** @type {string} */ key) => new Set(value(key).split(".").filter(Boolean));
  return {
    stage,
    hide: names("hide"),
    show: names("show"),
    fold: value("fold"),
    lineage: Number(value("lineage")) || 0,
  };
}

/** @param {PaneState} state */
export function formatPaneState({ stage, hide, show, fold, lineage }) {
  const part = (/** @type {string} */ key, /** @type {Set<string>} */ names) =>
    names.size ? `;${key}=${[...names].sort().join(".")}` : "";
  return (
    stage +
    part("hide", hide) +
    part("show", show) +
    (fold ? `;fold=${fold}` : "") +
    (lineage ? `;lineage=${lineage}` : "")
  );
}

/** @typedef {Pick<import("../../core/types.js").CompilationDocument, "kernel" | "request">} Compiled */

/**
 * Whether a lineage stays open when the text of one result follows that of another: it is of the same kernel, whose
 * source is the same or is typed.
 * @param {Compiled} before @param {Compiled} after @param {boolean} [isTyped]
 */
export function keepsLineage(before, after, isTyped) {
  return before.kernel === after.kernel && (isTyped || sameSources(before.request, after.request));
}
