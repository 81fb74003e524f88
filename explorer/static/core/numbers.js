/** Format the times, rates, counts and errors of runs. */

/** Write three significant digits. @param {number} value */
export function digits(value) {
  if (value === 0) return "0";
  const magnitude = Math.floor(Math.log10(Math.abs(value)));
  if (magnitude < -4 || magnitude > 14) return value.toExponential(2);
  return value.toLocaleString("en", { maximumFractionDigits: Math.max(0, 2 - magnitude), useGrouping: true });
}

/** @param {number} nanoseconds */
export function time(nanoseconds) {
  if (nanoseconds < 1e3) return `${digits(nanoseconds)} ns`;
  if (nanoseconds < 1e6) return `${digits(nanoseconds / 1e3)} µs`;
  if (nanoseconds < 1e9) return `${digits(nanoseconds / 1e6)} ms`;
  return `${digits(nanoseconds / 1e9)} s`;
}

/** Write a count exactly. @param {number} count */
export function exact(count) {
  return count.toLocaleString("en");
}

/** @param {number} value @param {string} unit */
export function large(value, unit) {
  const steps = /** @type {const} */ ([
    [1e15, "P"],
    [1e12, "T"],
    [1e9, "G"],
    [1e6, "M"],
    [1e3, "k"],
  ]);
  const [factor, prefix] = steps.find(([least]) => Math.abs(value) >= least) ?? [1, ""];
  return `${digits(value / factor)} ${prefix}${unit}`;
}

/** Write an error with its order of magnitude. @param {number} value */
export function error(value) {
  if (value === 0) return "0";
  return value < 0.001 ? value.toExponential(1) : digits(value);
}

/**
 * Write two numbers of tensors with enough digits to distinguish them. JSON has null for a number that is not finite.
 * @param {number | null} one
 * @param {number | null} other
 */
export function elements(one, other) {
  const words = (/** @type {number | null} */ value, /** @type {number} */ precision) =>
    value === null ? "NaN or infinite" : String(Number(value.toPrecision(precision)));
  let precision = 7;
  while (one !== other && precision < 17 && words(one, precision) === words(other, precision)) precision += 1;
  return /** @type {const} */ ([words(one, precision), words(other, precision)]);
}

/** @param {number[]} index */
export function place(index) {
  return `[${index.join(", ")}]`;
}

/** @param {number} share */
export function percent(share) {
  return `${digits(100 * share)} %`;
}

/** @param {readonly number[] | null} shape */
export function dimensions(shape) {
  return shape?.length ? shape.map(exact).join(" × ") : "";
}
