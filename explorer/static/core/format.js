/**
 * Format numbers and names for readers.
 *
 * @import { Target } from "./types.js"
 */

/** @param {number | null | undefined} milliseconds */
export function duration(milliseconds) {
  if (milliseconds === null || milliseconds === undefined) return "";
  if (milliseconds < 0.1) return "<0.1 ms";
  if (milliseconds < 9.95) return `${milliseconds.toFixed(1)} ms`;
  if (milliseconds < 999.5) return `${Math.round(milliseconds)} ms`;
  return `${(milliseconds / 1000).toFixed(2)} s`;
}

/** @param {number} count */
export function short(count) {
  if (count < 1000) return String(count);
  if (count < 99_950) return `${(count / 1000).toFixed(1)}k`;
  return `${Math.round(count / 1000)}k`;
}

/**
 * Write a number with a comma for each thousand. The first call of `toLocaleString` takes 5 ms or more and would delay
 * the first result.
 * @param {number} count a whole number
 */
export function grouped(count) {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ",");
}

/**
 * @param {number} count
 * @param {string} noun
 */
export function plural(count, noun) {
  if (count === 1) return `1 ${noun}`;
  return `${grouped(count)} ${/(s|x|ch|sh)$/.test(noun) ? `${noun}es` : `${noun}s`}`;
}

/** @param {number} bytes */
export function size(bytes) {
  if (bytes < 1024) return `${bytes} B`;
  if (bytes < 1024 * 1024) return `${trim(bytes / 1024)} KiB`;
  return `${trim(bytes / 1024 / 1024)} MiB`;
}

/** @param {number} value */
function trim(value) {
  return value.toFixed(1).replace(/\.0$/, "");
}

/** Warps and stages, in words. @param {Record<string, unknown>} options */
export function kernelFacts({ num_warps, num_stages }) {
  const counted = (/** @type {unknown} */ count, /** @type {string} */ noun) =>
    count && plural(Number(count), noun);
  return [counted(num_warps, "warp"), counted(num_stages, "stage")].filter(Boolean).join(", ");
}

/** Write the time since an event. @param {number} milliseconds */
export function ago(milliseconds) {
  const minutes = Math.round(milliseconds / 60_000);
  if (minutes < 1) return "just now";
  if (minutes < 60) return `${plural(minutes, "minute")} ago`;
  if (minutes < 48 * 60) return `${plural(Math.round(minutes / 60), "hour")} ago`;
  return `${plural(Math.round(minutes / 60 / 24), "day")} ago`;
}

/** @param {{title: string, architecture: string}} target */
export function targetTitle(target) {
  return target.title ? `${target.title}, ${target.architecture}` : target.architecture;
}

/**
 * Return what the compiler assumes of an argument in addition to its type, in the words of the launch table.
 * @param {{type: string, specialization: string}} argument
 */
export function specializationTitle(argument) {
  if (argument.specialization === "divisible by 16") {
    return argument.type.startsWith("*") ? "16-byte aligned" : "multiple of 16";
  }
  if (argument.specialization === "equal to 1") return "equal to 1, folded";
  return argument.specialization === "constexpr" ? "" : argument.specialization;
}

/**
 * Write a value in Python's syntax.
 * @param {unknown} value
 */
export function literal(value) {
  if (value === null || value === undefined) return "None";
  if (value === true) return "True";
  if (value === false) return "False";
  return String(value);
}

/** The number of stripe colors in tokens.css. */
const STRIPES = 8;

/** @param {number} line a source line, from 1 @returns {string} the colour of its stripe, for CSS */
export function stripeOfLine(line) {
  return `var(--stripe-${line % STRIPES})`;
}

/** The position of a job in its queue. @param {number} position from 1 on */
export function positionWords(position) {
  return position === 1 ? "next in the queue" : `number ${position} in the queue`;
}

/** @param {Target[]} targets @returns {Map<string, Target[]>} */
export function groupedByVendor(targets) {
  /** @type {Map<string, Target[]>} */
  const groups = new Map();
  for (const target of targets) groups.set(target.vendor, [...(groups.get(target.vendor) ?? []), target]);
  return groups;
}
