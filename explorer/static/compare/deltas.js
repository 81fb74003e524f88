/**
 * Two values side by side, and what became of the one: by sign and word, never by colour alone.
 *
 * @import { ComparedSide, ComparisonDocument } from "../types.js"
 */
import { make } from "../dom.js";
import { duration, plural } from "../format.js";

/** A number with its sign. @param {number} value @param {(value: number) => string} [show] */
export function signed(value, show = (each) => each.toLocaleString("en")) {
  return value === 0 ? "±0" : `${value > 0 ? "+" : "−"}${show(Math.abs(value))}`;
}

/** How much longer or shorter something takes. @param {number} milliseconds */
export function durationDelta(milliseconds) {
  return Math.abs(milliseconds) < 0.1 ? "±0 ms" : signed(milliseconds, duration);
}

/** The lines that only one side has. @param {number} removed @param {number} added @returns {(Node | string)[]} */
export function lineChanges(removed, added) {
  if (removed === 0 && added === 0) return ["same"];
  return [
    make("span", { class: "added", "aria-label": `${plural(added, "line")} added` }, `+${added.toLocaleString("en")}`),
    " ",
    make("span", { class: "removed", "aria-label": `${plural(removed, "line")} removed` }, `−${removed.toLocaleString("en")}`),
  ];
}

/** Whether nothing more comes from a side. @param {ComparedSide} side */
export function isOver({ status }) {
  return status === "complete" || status === "failed";
}

/**
 * Which side alone has something, and whether the other may still get it; nothing where both have it, or neither.
 * @param {unknown} before @param {unknown} after null: not there @param {ComparisonDocument} comparison
 */
export function onlyOn(before, after, comparison) {
  if ((before === null) === (after === null)) return "";
  return after === null ? (isOver(comparison.after) ? "only before" : "on its way") : isOver(comparison.before) ? "only after" : "on its way";
}

/** A cell of a number that may be missing. @param {string} text */
export function numberCell(text) {
  return make("td", { class: "number-cell" }, text);
}
