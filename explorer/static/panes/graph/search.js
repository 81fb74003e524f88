/**
 * The nodes of a graph that have a text, also in the lines of a block, and in the folded operations, that its node leaves out.
 *
 * @import { GraphNode } from "../../core/types.js"
 */

/**
 * @param {GraphNode[]} nodes
 * @param {string[]} lines of the whole text
 * @param {string} text in small letters
 */
export function nodesWith(nodes, lines, text) {
  const has = (/** @type {string} */ line) => line.toLowerCase().includes(text);
  return nodes.filter(
    ({ kind, label, parts, first_line, last_line }) =>
      has([...label, ...parts].join("\n")) ||
      (kind === "block" && lines.slice(first_line - 1, last_line).some(has)),
  );
}
