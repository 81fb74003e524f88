/**
 * The difference of two values: by sign and word, never by color alone.
 *
 * @import { ComparedSide, ComparisonDocument, PassSide } from "../core/types.js"
 */
import { duration, literal } from "../core/format.js";
import { isOver } from "../core/status.js";
import { html } from "../core/template.js";

/**
 * How much the times of two compilations of the same kernel differ by chance, as a share of the longer one: 95
 * of 100 pairs differ by less. Measured with 19 compilations each of the gallery's matmul, softmax and
 * vector_add for cuda:90 by Triton 3.9.0, one at a time, on a machine of two cores that other work shared: of
 * the whole compilation 0.54, 0.37 and 0.38; of a stage 0.34 to 0.73; of a pass of more than 1 ms 0.78 to 0.97.
 */
const NOISE = { compilation: 0.54, stage: 0.73, pass: 0.97 };

/** How the page states the noise. */
export const NOISE_WORDS =
  "Each time was measured once. Of repeated compilations of one kernel, 95 % of pairs differ by less than " +
  `${Math.round(100 * NOISE.compilation)} % of the whole time, ${Math.round(100 * NOISE.stage)} % of a stage's and ` +
  `${Math.round(100 * NOISE.pass)} % of a pass's. Differences below that are gray.`;

/** A number with its sign. @param {number} value @param {(value: number) => string} [show] */
export function signed(value, show = (each) => each.toLocaleString("en")) {
  return value === 0 ? "±0" : `${value > 0 ? "+" : "−"}${show(Math.abs(value))}`;
}

/**
 * Show the difference of two compile times; gray if the difference is within the noise.
 * @param {number} before ms @param {number} after ms @param {keyof typeof NOISE} what
 */
export function durationDelta(before, after, what) {
  const delta = after - before;
  const words = Math.abs(delta) < 0.1 ? "±0 ms" : signed(delta, duration);
  return isNoise(before, after, what)
    ? html`<span class="noise" title="Within the noise of a compile time">${words}</span>`
    : html`<b class=${delta < 0 ? "is-better" : "is-worse"}>${words}</b>`;
}

/** @param {number} before @param {number} after @param {keyof typeof NOISE} what */
function isNoise(before, after, what) {
  return Math.abs(after - before) <= Math.max(NOISE[what] * Math.max(before, after), 1);
}

/**
 * The options of a pass that differ, each with both values.
 * @param {PassSide["options"]} before such as "num-stages=3" @param {PassSide["options"]} after
 */
export function otherOptions(before, after) {
  const [old, now] = [before, after].map(
    (options) => new Map(options.map((each) => splitOption(literal(each)))),
  );
  return [...new Set([...(old?.keys() ?? []), ...(now?.keys() ?? [])])]
    .filter((name) => old?.get(name) !== now?.get(name))
    .map((name) => `${name} ${old?.get(name) ?? "none"} → ${now?.get(name) ?? "none"}`);
}

/** @param {string} option @returns {[string, string]} */
function splitOption(option) {
  const [name = "", ...value] = option.split("=");
  return [name, value.join("=")];
}

/**
 * Say which side lacks a value, and whether that side may still get it. Return nothing if both sides or neither have
 * it.
 * @param {unknown} before @param {unknown} after null: not there @param {ComparisonDocument} comparison
 */
export function onlyOn(before, after, comparison) {
  if ((before === null) === (after === null)) return "";
  const [words, missing] =
    after === null ? ["only before", comparison.after] : ["only after", comparison.before];
  return isOver(missing) ? words : "pending";
}

/**
 * The differences of two requests, except where a side may still get its value, such as its kernel.
 * @param {ComparisonDocument["differences"]} differences @param {ComparedSide} before @param {ComparedSide} after
 */
export function knownDifferences(differences, before, after) {
  return differences.filter(
    (each) => !(each.before === null && !isOver(before)) && !(each.after === null && !isOver(after)),
  );
}
