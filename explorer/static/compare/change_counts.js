/**
 * The size of a change, such as "+3 −2 ⇅1": by sign and word, not by color alone.
 *
 * @typedef {object} Change
 * @property {number | null} lines_added
 * @property {number | null} lines_removed
 * @property {number | null} operations_added
 * @property {number | null} operations_removed
 * @property {number | null} operations_moved
 */
import { plural } from "../core/format.js";
import { html } from "../core/template.js";

/** Return the counts of added and removed lines. @param {number} removed @param {number} added */
export function lineCounts(removed, added) {
  if (removed === 0 && added === 0) return "same";
  return html`${count("added", added, "line")} ${count("removed", removed, "line")}`;
}

/**
 * Return the counts of added, removed and moved operations or instructions. If no operation changed, return the
 * counts of lines.
 * @param {Change} change
 */
export function changeCounts(change) {
  const { added, removed, moved, lines } = numbersOf(change);
  if (!added && !removed && !moved) return lineCounts(lines.removed, lines.added);
  const all = `${plural(lines.added, "line")} added, ${lines.removed} removed`;
  const counts = [
    (added || removed) && count("added", added, "operation"),
    (added || removed) && count("removed", removed, "operation"),
    moved && count("moved", moved, "operation"),
  ].filter(Boolean);
  return html`<span class="counts" title=${all}>${counts.map((each, at) => html`${at ? " " : ""}${each}`)}</span>`;
}

/** Return the counts of a pass that changed its module. @param {Change} change */
export function passCounts(change) {
  const { added, removed, moved, lines } = numbersOf(change);
  if (added || removed || moved) return changeCounts(change);
  return html`<span class="idle">${lines.added || lines.removed ? "attributes only" : "names only"}</span>`;
}

/** @param {Change} change */
function numbersOf(change) {
  return {
    added: change.operations_added ?? 0,
    removed: change.operations_removed ?? 0,
    moved: change.operations_moved ?? 0,
    lines: { added: change.lines_added ?? 0, removed: change.lines_removed ?? 0 },
  };
}

const SIGNS = { added: "+", removed: "−", moved: "⇅" };

/** @param {"added" | "removed" | "moved"} kind @param {number} value @param {string} noun */
function count(kind, value, noun) {
  const words = `${plural(value, noun)} ${kind}`;
  return html`<span class=${kind} role="img" aria-label=${words} title=${words}
    >${SIGNS[kind]}${value.toLocaleString("en")}</span>`;
}
