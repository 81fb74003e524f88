/**
 * Which nodes of a graph have a text: in what is written in them, or in the lines of a block that are left out of it.
 *
 * @import { GraphNode } from "../types.js"
 */

/** @param {GraphNode[]} nodes @param {string[]} lines of the whole text @param {string} text in small letters */
export function nodesWith(nodes, lines, text) {
  const has = (/** @type {string} */ line) => line.toLowerCase().includes(text);
  return nodes.filter(({ kind, label, first_line, last_line }) =>
    has(label.join("\n")) || (kind === "block" && lines.slice(first_line - 1, last_line).some(has)));
}
