/** Find in the lines of a text. */

const MOST_MATCHES = 100_000;
const LONGEST_MS = 2000;

/**
 * @typedef {{line: number, from: number, to: number}} Match line from 1, columns from 0
 * @typedef {{text: string, isPattern: boolean, isExact: boolean}} Query
 */

/**
 * @param {string[]} lines
 * @param {Query} query
 * @returns {{matches: Match[], problem: string}} `problem` says why there are fewer, or none
 */
export function findMatches(lines, { text, isPattern, isExact }) {
  /** @type {Match[]} */
  const matches = [];
  if (!text) return { matches, problem: "" };
  let pattern;
  try {
    const source = isPattern ? text : text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
    pattern = new RegExp(source, isExact ? "g" : "gi");
  } catch (error) {
    return { matches, problem: String(/** @type {Error} */ (error).message).replace(/^.*: /, "") };
  }
  const start = performance.now();
  for (let index = 0; index < lines.length; index += 1) {
    if ((index & 1023) === 0 && performance.now() - start > LONGEST_MS)
      return { matches, problem: "took too long" };
    const line = /** @type {string} */ (lines[index]);
    pattern.lastIndex = 0;
    for (let match = pattern.exec(line); match; match = pattern.exec(line)) {
      if (match[0] === "") {
        pattern.lastIndex += 1;
        continue;
      }
      matches.push({ line: index + 1, from: match.index, to: match.index + match[0].length });
      if (matches.length >= MOST_MATCHES) return { matches, problem: "and more" };
    }
  }
  return { matches, problem: "" };
}
