/**
 * Match the lines of a text with the lines of the previous text, after a small change.
 *
 * Lines are numbered from 1. The lines that both texts have at their ends are matched, and between them as many
 * as possible in their order.
 */
import { longestCommon } from "./longest_common.js";

/** More comparisons would take longer than a frame: lines are matched by their numbers then, and none is new. */
const MOST_COMPARISONS = 1_000_000;

/**
 * @param {string[]} before
 * @param {string[]} after
 * @param {(line: string) => string} [key] of lines that count as the same
 * @returns {{lineOf: (line: number) => number, nearest: (line: number) => number, changed: Set<number>}} `lineOf`:
 *   a line of `before` in `after`, 0 where it is gone; `nearest`: of a line that is gone, the place where it was;
 *   `changed`: the lines of `after` that are new
 */
export function matchLines(before, after, key = (line) => line) {
  const pairs = longestCommon(before.map(key), after.map(key), MOST_COMPARISONS);
  if (!pairs) {
    const within = (/** @type {number} */ line) => Math.min(line, after.length);
    return { lineOf: within, nearest: within, changed: new Set() };
  }
  const changed = new Set(after.map((_line, index) => index + 1));
  for (const index of pairs.values()) changed.delete(index + 1);
  const lineOf = (/** @type {number} */ line) => (pairs.get(line - 1) ?? -1) + 1;
  const nearest = (/** @type {number} */ line) => {
    for (let above = line; above > 0; above -= 1) {
      const found = lineOf(above);
      if (found) return Math.min(found + line - above, after.length);
    }
    return Math.min(line, after.length);
  };
  return { lineOf, nearest, changed };
}
