/**
 * The figures of a compilation that differ from another compilation.
 *
 * @import { CompilationDocument } from "../core/types.js"
 */
import { size } from "../core/format.js";
import { metric } from "../core/metrics.js";

/** Values by the names of metrics. @typedef {Partial<Record<string, unknown>>} Figures */

/** A metric, its text, and its title in a line of text. @type {[string, (value: number) => string, string?][]} */
const FIGURES = [
  ["spills", (bytes) => (bytes ? size(bytes) : "0"), "spill stores and loads"],
  ["registers", String],
  ["shared_bytes", size],
  ["occupancy", (share) => `${Math.round(100 * share)} %`],
];

/** The figures of a compilation. @param {CompilationDocument} document @returns {Figures} */
export function figuresOf({ resources }) {
  const { spill_stores_bytes: stores, spill_loads_bytes: loads } = resources ?? {};
  return { ...resources, spills: typeof stores === "number" ? stores + Number(loads ?? 0) : null };
}

/** Return the figures that differ, as texts. @param {Figures} before @param {Figures} after */
export function differencesOf(before, after) {
  return FIGURES.flatMap(([name, textOf, title = metric(name).short]) => {
    const [old, now] = [before[name], after[name]];
    if (typeof old !== "number" || typeof now !== "number" || textOf(old) === textOf(now)) return [];
    return [{ title, before: textOf(old), after: textOf(now) }];
  });
}
