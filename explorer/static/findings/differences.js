/**
 * The resources of a compilation that differ from another compilation.
 *
 * @import { CompilationDocument, Resources } from "../core/types.js"
 */
import { size } from "../core/format.js";
import { metric } from "../core/metrics.js";

/** A metric, its value, and its text. @type {[string, (resources: Resources) => number | null | undefined, (value: number) => string][]} */
const FIGURES = [
  ["spills", spillsOf, (bytes) => (bytes ? size(bytes) : "0")],
  ["registers", ({ registers }) => registers, String],
  ["shared_bytes", ({ shared_bytes: bytes }) => bytes, size],
  ["occupancy", ({ occupancy }) => occupancy, (share) => `${Math.round(100 * share)} %`],
];

/**
 * Return the figures that differ, as texts; none if one of the compilations has no binary.
 * @param {CompilationDocument} before @param {CompilationDocument} after
 */
export function differencesOf({ resources: before }, { resources: after }) {
  if (!before || !after) return [];
  return FIGURES.flatMap(([name, read, textOf]) => {
    const [old, now] = [read(before), read(after)];
    if (typeof old !== "number" || typeof now !== "number" || textOf(old) === textOf(now)) return [];
    return [{ title: metric(name).short, before: textOf(old), after: textOf(now) }];
  });
}

/** @param {Resources} resources */
function spillsOf({ spill_stores_bytes: stores, spill_loads_bytes: loads }) {
  return typeof stores === "number" ? stores + Number(loads ?? 0) : null;
}
