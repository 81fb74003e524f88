/**
 * What is asked about the passes, as the API answers it: `/changes` and `/lineage`. Only types.
 *
 * @typedef {{index: number, lines_added: number, lines_removed: number}} PassChanges
 * @typedef {{index: number, line: number, text: string, how: "same" | "moved" | "rewritten" | null}} LineageStep
 * @typedef {{steps: LineageStep[], asked: number, made_by: number, removed_by: number | null}} Lineage
 */
import { api } from "../api.js";

/** Count the lines that each pass has added and removed. @param {string} id @returns {Promise<PassChanges[]>} */
export async function passChanges(id) {
  return /** @type {PassChanges[]} */ (await api.analysis(id, "changes"));
}

/** Follow the operation in a line of the module after a pass. @param {string} id @param {number} pass @param {number} line @returns {Promise<Lineage>} */
export async function operationLineage(id, pass, line) {
  return /** @type {Lineage} */ (await api.analysis(id, "lineage", { pass, line }));
}
