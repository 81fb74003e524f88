/**
 * Places in the lines of a text, and the source lines that a line comes from.
 *
 * @import { FrameRow, Locations } from "../../core/types.js"
 */
import { plural } from "../../core/format.js";

/**
 * The column of a line's text under the mouse, as it is shown; -1: none.
 * @param {Element} code
 * @param {MouseEvent} event
 */
export function columnAt(code, event) {
  const range = document.createRange();
  range.selectNodeContents(code);
  const { left, width } = range.getBoundingClientRect();
  const length = code.textContent?.length ?? 0;
  if (length === 0 || width === 0) return -1;
  const column = Math.floor(((event.clientX - left) / width) * length);
  return column >= 0 && column < length ? column : -1;
}

/**
 * The places that a line comes from, each with the calls that led there; places that differ in their columns only
 * are one.
 * @param {Locations} locations
 * @param {number} line
 * @returns {FrameRow[][]}
 */
export function distinctChains({ lines, locations }, line) {
  /** @type {Map<string, FrameRow[]>} */
  const chains = new Map();
  for (const index of lines[line - 1] ?? []) {
    const frames = locations[index] ?? [];
    chains.set(frames.map(([file, at]) => `${file}:${at}`).join(), frames);
  }
  return [...chains.values()];
}

/**
 * Describe the first location of a line, and count the other locations.
 * @param {Locations | null} locations
 * @param {number} line
 */
export function placeWords(locations, line) {
  const [first, ...others] = locations?.lines[line - 1] ?? [];
  const frames = (first !== undefined && locations?.locations[first]) || [];
  const words = frames.map(([file, at, , name], depth) => {
    const path = locations?.files[file];
    const where = path ? `${path.split("/").at(-1)}:${at}` : `line ${at}`;
    return `${depth ? "inlined at " : ""}${where}${name ? ` in ${name}` : ""}`;
  });
  const more = others.length ? ` and ${plural(others.length, "other place")}` : "";
  return (words.join(", ") || "no source line") + more;
}
