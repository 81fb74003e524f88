/**
 * The resources that a binary needs: their titles and the format of their values.
 *
 * @import { Resources } from "./types.js"
 */
import { literal, plural, size } from "./format.js";
import { metric } from "./metrics.js";

/**
 * The rows in their order. A fact is omitted if the tools do not report it, and a rare fact also if it is 0.
 * `title` is the title of a fact that is no metric.
 * @type {{name: keyof Resources, title?: string, show: (value: number) => string,
 *   warn?: (value: number) => boolean, rare?: boolean}[]}
 */
export const FACTS = [
  { name: "registers", show: String },
  { name: "scalar_registers", show: String },
  { name: "spill_stores_bytes", show: size, warn: (value) => value > 0 },
  { name: "spill_loads_bytes", show: size, warn: (value) => value > 0 },
  { name: "stack_bytes", show: size, rare: true },
  { name: "shared_bytes", show: size },
  { name: "static_shared_bytes", title: "Static shared memory per block", show: size },
  { name: "shared_limit_bytes", title: "Shared memory, the most a block may have", show: size },
  {
    name: "tensor_memory_columns",
    show: (value) => plural(value, "column"),
    rare: true,
  },
  { name: "global_scratch_bytes", show: size, rare: true },
  { name: "constant_bytes", show: size },
  { name: "barriers", show: String },
  { name: "warps", title: "Warps per block", show: String },
  { name: "threads", title: "Threads per block", show: String },
];

/** @param {{name: string, title?: string}} fact */
export function titleOfFact({ name, title }) {
  return title ?? metric(name).title;
}

/** The rows of a comparison: the resources, and the facts that follow from them. */
const COMPARED = [
  {
    name: "occupancy",
    show: (/** @type {number} */ value) => `${Math.round(value * 100)} %`,
    rare: false,
  },
  { name: "limited_by", title: "Occupancy is limited by", show: String, rare: false },
  { name: "resident_blocks", title: "Blocks that fit on a multiprocessor", show: String, rare: false },
  ...FACTS,
];

/**
 * @param {{name: string, before: unknown, after: unknown}} pair
 * @returns {{title: string, show: (value: unknown) => string} | null} null: the fact has no row
 */
export function comparedFact({ name, before, after }) {
  // One of the resources in `limited_by`.
  if (name === "limiter") return null;
  const fact = COMPARED.find((each) => each.name === name);
  if (!fact) return { title: name.replaceAll("_", " "), show: literal };
  if (fact.rare && !before && !after) return null;
  // A limit of the target is omitted if both sides have the same limit.
  if (name === "shared_limit_bytes" && before === after) return null;
  return {
    title: titleOfFact(fact),
    show: (value) => (typeof value === "number" ? fact.show(value) : value === null ? "–" : String(value)),
  };
}

/** Return the position of a fact in the order of the rows. @param {string} name */
export function placeOfFact(name) {
  const place = COMPARED.findIndex((each) => each.name === name);
  return place < 0 ? COMPARED.length : place;
}
