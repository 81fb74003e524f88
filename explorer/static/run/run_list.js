/**
 * What was run before of this compilation, and what was recorded of its kernel elsewhere.
 *
 * @import { RunRow, RunsDocument } from "./documents.js"
 */
import { make } from "../dom.js";
import { store } from "../store.js";
import { outcomeOf, runFacts, runMoment, runTitle } from "./words.js";

/**
 * @param {RunsDocument} runs @param {string} shown the id of the run on screen
 * @param {(id: string) => void} open
 * @returns {HTMLElement | null} null: there are none
 */
export function runList({ runs, recordings }, shown, open) {
  if (runs.length + recordings.length === 0) return null;
  return make("nav", { class: "run-list", "aria-label": "Runs of this kernel" },
    ...part("Runs", runs, shown, open),
    ...part("Recorded", recordings, shown, open));
}

/** @param {string} title @param {RunRow[]} rows @param {string} shown @param {(id: string) => void} open */
function part(title, rows, shown, open) {
  if (rows.length === 0) return [];
  const entries = rows.map((known) => {
    // Of one that is followed the page knows more than the list did.
    const row = store.state.runResults.get(known.id)?.document ?? known;
    const { isWrong, words } = outcomeOf(row);
    const state = isWrong ? "failed" : row.status === "complete" ? "complete" : "compiling";
    return make("li", {}, make("button", {
      type: "button", class: `run-entry is-${state}`, "aria-current": row.id === shown ? "true" : null, onclick: () => open(row.id), "data-run": row.id,
    }, make("span", { class: "mark", "aria-hidden": "true" }), make("b", {}, runTitle(row)), make("span", { class: "run-entry-facts" }, runFacts(row)),
    make("span", { class: "run-entry-moment" }, runMoment(row)),
    words ? make("span", { class: "run-entry-state", title: words }, words) : make("span", { class: "visually-hidden" }, row.matches ? ", matches the reference" : ", complete")));
  });
  return [make("h3", {}, title), make("ul", {}, ...entries)];
}
