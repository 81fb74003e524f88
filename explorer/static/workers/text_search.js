/**
 * Searches texts off the page's own thread, so that an expression that backtracks for ever can be stopped.
 *
 * In: `{key, query, columns}`, with the lines of the text the first time. Out: null when the text is there, then its `Found`.
 */
import { findLines } from "../search/found_lines.js";

/** @type {Map<string, string[]>} */
const texts = new Map();

addEventListener("message", ({ data: { key, lines, query, columns } }) => {
  if (lines) texts.set(key, lines);
  postMessage(null);
  postMessage(findLines(texts.get(key) ?? [], query, columns));
});
