/**
 * Searches texts off the page's own thread, so that an expression that backtracks for ever can be stopped.
 *
 * In: `{key, query, columns}`, with the lines of the text the first time. Out: the `Found` of the text.
 */
import { findLines } from "../search/found_lines.js";

/** @type {Map<string, string[]>} */
const texts = new Map();

addEventListener("message", ({ data: { key, lines, query, columns } }) => {
  if (lines) texts.set(key, lines);
  postMessage(findLines(texts.get(key) ?? [], query, columns));
});
