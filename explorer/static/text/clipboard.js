/** Lines of a text for the clipboard. */
import { toast } from "../core/dom.js";
import { plural } from "../core/format.js";

/** @param {string[]} lines @param {number} first the number of the first @returns {string[]} */
export function numbered(lines, first) {
  const width = String(first + lines.length - 1).length;
  return lines.map((line, index) => `${String(first + index).padStart(width)}  ${line}`);
}

/** @param {string[]} lines @param {number} first */
export async function copy(lines, first) {
  try {
    await navigator.clipboard.writeText(`${lines.join("\n")}\n`);
    toast(lines.length === 1 ? `Line ${first} copied.` : `${plural(lines.length, "line")} copied.`);
  } catch {
    toast("The browser does not let this page copy. Select lines and press Ctrl+C.");
  }
}
