/**
 * The document about layouts, as the server finds it out; and what of it is one picture.
 *
 * @import { LayoutRow, LayoutsDocument } from "../../core/types.js"
 */
import { plural } from "../../core/format.js";

/**
 * @typedef {object} LayoutGroup rows whose picture is the same: they differ in the element only
 * @property {LayoutRow} row the first of them
 * @property {LayoutRow[]} rows
 */

/** The most expensive items come first. */
const ORDER = [
  "NVIDIA mma",
  "AMD",
  "dot operand",
  "blocked",
  "linear",
  "NVIDIA mma shared",
  "swizzled shared",
  "padded shared",
  "rotating shared",
  "linear shared",
  "tensor memory",
  "slice",
];

/** @param {LayoutsDocument} document @returns {LayoutGroup[]} */
export function groupsOf(document) {
  /** @type {Map<string, LayoutGroup>} */
  const groups = new Map();
  for (const row of document.layouts) {
    // Where memory is cut into banks and lines, the width of an element matters.
    const key = [row.encoding, row.shape.join("x"), row.memory === "registers" ? "" : row.element].join(" ");
    const group = groups.get(key);
    if (group) group.rows.push(row);
    else groups.set(key, { row, rows: [row] });
  }
  const rank = (/** @type {LayoutGroup} */ { row }) => {
    const at = ORDER.findIndex(
      (kind) => row.kind === kind || (row.memory === "registers" && row.kind.startsWith(kind)),
    );
    return at < 0 ? ORDER.length : at;
  };
  const size = (/** @type {LayoutGroup} */ { row }) => row.shape.reduce((product, each) => product * each, 1);
  return [...groups.values()].sort(
    (one, other) =>
      rank(one) - rank(other) ||
      one.row.label.localeCompare(other.row.label, "en", { numeric: true }) ||
      size(other) - size(one),
  );
}

/**
 * The group that a key of the address means: an index, an alias ("mma"), a value ("accumulator_46") or a name
 * of the source.
 * @param {LayoutGroup[]} groups @param {string} key
 */
export function findGroup(groups, key) {
  if (!key) return groups[0] ?? null;
  const has = (/** @type {(row: LayoutRow) => boolean} */ test) =>
    groups.find(({ rows }) => rows.some(test)) ?? null;
  const stem = (/** @type {string} */ name) => name.replace(/^%/, "").replace(/#\d+$/, "");
  return (
    (/^\d+$/.test(key) ? has((row) => row.index === Number(key)) : null) ??
    has((row) => row.label === `#${key}`) ??
    has((row) => row.values.some(([name]) => stem(name) === key)) ??
    has(
      (row) =>
        row.shape.length > 0 &&
        !row.element.startsWith("!") &&
        row.values.some(([name]) => stem(name).replace(/_\d+$/, "") === key),
    ) ??
    has((row) => row.label.includes(`#${key}`))
  );
}

/**
 * How many elements the layout has, if it is of one slot of a buffer or of the whole buffer that a part is of.
 * @param {number[]} shape of the buffer @param {number} count of the layout
 */
export function elementsText(shape, count) {
  const total = shape.reduce((product, size) => product * size, 1);
  if (total < count) return `${total.toLocaleString("en")} of ${plural(count, "element")}`;
  return plural(count, "element") + (total > count ? ` per slot, ${plural(total / count, "slot")}` : "");
}

/** @param {LayoutRow} row */
export function shapeText({ shape, element }) {
  return `${shape.join(" × ")} ${element.startsWith("!") ? "pointers" : element}`;
}
