/**
 * The lines of a text that match a search.
 *
 * @import { Query } from "../text/text_search.js"
 */
import { findMatches } from "../text/text_search.js";

/** The lines of a text that can be listed. */
export const MOST_LINES = 500;
/** The characters of a line that are shown. */
const LONGEST_LINE = 240;
/** A line whose first match ends further to the right than the list is wide begins here before the match. */
const BEFORE_MATCH = 16;

/**
 * @typedef {object} FoundLine
 * @property {number} line from 1
 * @property {[text: string, isMatch: boolean][]} pieces
 *
 * @typedef {object} Found
 * @property {number} matches
 * @property {number} lines the number of lines that match
 * @property {FoundLine[]} listed the first of these lines
 * @property {string} problem why there are fewer matches, or none
 */

/** @param {string[]} lines @param {Query} query @param {number} columns the width of the list @returns {Found} */
export function findLines(lines, query, columns) {
  const { matches, problem } = findMatches(lines, query);
  /** @type {Map<number, {from: number, to: number}[]>} */
  const byLine = new Map();
  let count = 0;
  let last = 0;
  for (const { line, from, to } of matches) {
    if (line !== last) count += 1;
    last = line;
    if (count > MOST_LINES) continue;
    const there = byLine.get(line);
    if (there) there.push({ from, to });
    else byLine.set(line, [{ from, to }]);
  }
  const listed = [...byLine].map(([line, marks]) => ({
    line,
    pieces: piecesOf(lines[line - 1] ?? "", marks, columns),
  }));
  return { matches: matches.length, lines: count, listed, problem };
}

/**
 * Return the parts of a line without its indentation.
 * @param {string} line
 * @param {{from: number, to: number}[]} marks
 * @param {number} columns
 * @returns {FoundLine["pieces"]}
 */
function piecesOf(line, marks, columns) {
  const { from: first, to: behindFirst } = marks[0] ?? { from: 0, to: 0 };
  const indentation = Math.min(line.length - line.trimStart().length, first);
  const isFar = behindFirst > indentation + columns;
  const start = isFar ? Math.max(indentation, first - BEFORE_MATCH) : indentation;
  const length = Math.max(line.trimEnd().length, behindFirst);
  const end = Math.min(length, start + LONGEST_LINE);
  /** @type {FoundLine["pieces"]} */
  const pieces = [[start > indentation ? "…" : "", false]];
  let at = start;
  for (const { from, to } of marks) {
    if (from >= end) break;
    pieces.push([line.slice(at, from), false], [line.slice(from, Math.min(to, end)), true]);
    at = Math.min(to, end);
  }
  pieces.push([line.slice(at, end), false], [end < length ? "…" : "", false]);
  return pieces.filter(([text]) => text);
}
