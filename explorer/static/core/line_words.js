/** Write lines of the shown result's source in words. The line numbers count through all of its files. */
import { lineWords, placeOf } from "./source_files.js";
import { store } from "./store.js";

/** "line 12", or "line 3 of tools.py". @param {number} number */
export function lineText(number) {
  return lineWords(store.state.result?.document.request, number);
}

/** "12", or "tools.py:3". @param {number} number */
export function shortLine(number) {
  const request = store.state.result?.document.request;
  const { path, line } = request ? placeOf(request, number) : { path: "", line: number };
  return path ? `${path}:${line}` : String(line);
}
