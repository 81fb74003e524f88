/**
 * The node that a graph opens at: on the path from loads to stores, in the innermost loop.
 *
 * @import { GraphNode } from "../../core/types.js"
 */

/**
 * Of a data flow, the first load, computation or store of the innermost loops that have one. Of a control flow, the
 * longest block of the innermost loops. Nodes of pinned source lines take precedence.
 * @param {GraphNode[]} nodes
 * @param {number[]} [pinned]
 * @returns {GraphNode | null} null: there is no node
 */
export function focusOf(nodes, pinned = []) {
  const lit = nodes.filter(({ source_lines: lines }) => lines.some((line) => pinned.includes(line)));
  if (lit.length) return focusOf(lit);
  const [first] = deepest(nodes.filter(({ role }) => role));
  if (first) return first;
  const blocks = deepest(nodes.filter(({ kind }) => kind === "block"));
  const longest = blocks.sort((one, other) => other.operations - one.operations)[0];
  return longest ?? nodes[0] ?? null;
}

/** Those in the most loops, in their order. @param {GraphNode[]} nodes */
function deepest(nodes) {
  const depth = Math.max(...nodes.map(({ loop_depth }) => loop_depth));
  return nodes.filter(({ loop_depth }) => loop_depth === depth);
}
