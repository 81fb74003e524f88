/**
 * Read and check the cells of arguments that are entered by hand.
 *
 * Only types and values are checked. The compiler checks constraints of the kernel, such as a power of two.
 *
 * @import { Argument, Draft, Scalar } from "../core/types.js"
 */
import { store } from "../core/store.js";

/** @typedef {"type" | "value" | "specialization"} Field */

const INTEGER = /^[+-]?\d[\d_]*$/;
const FLOAT = /^[+-]?(\d+\.?\d*([eE][+-]?\d+)?|\.\d+([eE][+-]?\d+)?)$/;

/** Units that follow from a name. A name that could count several things has no unit. */
const UNITS = [
  { pattern: /(^|_)num_?warps$|^n_?warps$/i, unit: "warps" },
  { pattern: /(^|_)num_?stages$|(^|_)stages$/i, unit: "stages" },
  { pattern: /(^|_)num_?ctas$/i, unit: "CTAs" },
  { pattern: /(^|_)num_?sms?$/i, unit: "SMs" },
  { pattern: /(^|_)n?bytes$/i, unit: "bytes" },
  {
    pattern: /^(block|tile|chunk)(_?size)?(_?[a-z0-9]{1,3}){0,2}$|_(block|tile|chunk)(_?size)?$/i,
    unit: "elements",
  },
];

/**
 * Return the unit of a constant if it follows from the name and the value.
 * @param {{name: string, type: string, value: Scalar}} argument
 */
export function unitOf({ name, type, value }) {
  if (type !== "constexpr" || typeof value !== "number" || !Number.isInteger(value)) return "";
  return UNITS.find(({ pattern }) => pattern.test(name))?.unit ?? "";
}

/** The bits of an integer type, null for any other. @param {string} type */
export function integerBits(type) {
  const bits = /^[iu](\d+)$/.exec(type)?.[1];
  return bits ? Number(bits) : null;
}

/** @param {string} type */
export function isPointer(type) {
  return type.startsWith("*");
}

/** @param {string} text @returns {string} the problem of a type; "": none */
export function typeProblem(text) {
  const { argumentTypes, typePattern } = store.state;
  if (text === "constexpr" || new RegExp(typePattern, "s").test(text)) return "";
  if (!text) return "A type is missing: *fp16 for a pointer, i32 for an integer, constexpr for a constant.";
  const types = argumentTypes.join(", ");
  return `${text} is not a type of Triton. Element types are ${types}; a pointer has a * before.`;
}

/**
 * @param {string} text
 * @param {string} type
 * @returns {string} the problem of a value of this type; "": none
 */
export function valueProblem(text, type) {
  const trimmed = text.trim();
  if (INTEGER.test(trimmed) && !Number.isSafeInteger(numberOf(trimmed))) {
    return "An integer beyond ±2⁵³ cannot be sent exactly: write it into the source.";
  }
  if (type === "constexpr")
    return trimmed ? "" : "A constant needs a value: a number, True, False, None or a name of the source.";
  const bits = integerBits(type);
  if (!trimmed || bits === null) return "";
  const value = { True: 1, False: 0 }[trimmed] ?? (INTEGER.test(trimmed) ? numberOf(trimmed) : null);
  if (value === null) return `${type} takes a whole number, or none for any.`;
  const isUnsigned = type.startsWith("u") || bits === 1;
  const [least, most] = isUnsigned ? [0, 2 ** bits - 1] : [-(2 ** (bits - 1)), 2 ** (bits - 1) - 1];
  if (value >= least && value <= most) return "";
  return bits > 53
    ? `${type} has no negative values.`
    : `${type} goes from ${least} to ${most}.`.replace("-", "−");
}

/** @param {string} specialization @param {string} type @param {Scalar} value @returns {string} */
function specializationProblem(specialization, type, value) {
  if (typeof value !== "number" || integerBits(type) === null) return "";
  if (specialization === "equal to 1" && value !== 1) return `${value} is not equal to 1.`;
  if (specialization === "divisible by 16" && value % 16) return `${value} is not a multiple of 16.`;
  return "";
}

/**
 * Return the specialization that a launch gives a value: 1 is folded, and the compiler knows multiples of 16.
 * @param {string} type
 * @param {Scalar} value
 * @returns {Argument["specialization"]}
 */
export function assumedOf(type, value) {
  const bits = integerBits(type);
  if (typeof value !== "number" || bits === null || bits === 1) return "";
  if (value === 1) return "equal to 1";
  return value % 16 === 0 ? "divisible by 16" : "";
}

/** Return the possible specializations of a type. @param {string} type @returns {string[]} */
export function assumptionsOf(type) {
  if (isPointer(type)) return ["", "divisible by 16"];
  const bits = integerBits(type);
  return bits !== null && bits > 1 ? ["", "divisible by 16", "equal to 1"] : [""];
}

/** A value as Python would read it. @param {string} text @returns {Scalar} */
export function readValue(text) {
  const trimmed = text.trim();
  if (trimmed === "None" || trimmed === "") return null;
  if (trimmed === "True") return true;
  if (trimmed === "False") return false;
  if (INTEGER.test(trimmed)) return numberOf(trimmed);
  // JSON makes no difference between 2.0 and 2, the compiler does.
  if (FLOAT.test(trimmed)) return Number.isInteger(Number(trimmed)) ? trimmed : Number(trimmed);
  return trimmed.replace(/^(["'])(.*)\1$/, "$2");
}

/** @param {string} text an integer */
function numberOf(text) {
  return Number(text.replaceAll("_", ""));
}

/** Return the problem of one cell. @param {Draft} draft @param {Argument} argument @param {Field} field */
export function cellProblem(draft, argument, field) {
  const typed = draft.typed[`${argument.name}.${field}`];
  if (field === "type") return typed === undefined ? typeProblem(argument.type) : typeProblem(typed);
  if (field === "value") return typed === undefined ? "" : valueProblem(typed, argument.type);
  return specializationProblem(argument.specialization, argument.type, argument.value);
}

/** Return the problems that prevent a compilation of the draft. @param {Draft} draft @returns {string[]} */
export function draftProblems(draft) {
  const problems = Object.entries(draft.typed).flatMap(([name, text]) => {
    if (name.startsWith(OPTION_PREFIX))
      return [`${name.slice(OPTION_PREFIX.length)}: ${optionProblem(text)}`];
    return name.startsWith(ASSUMED_PREFIX)
      ? [`line ${name.slice(ASSUMED_PREFIX.length)}: ${assumedProblem(text)}`]
      : [];
  });
  if (draft.mode !== "form") return problems;
  const fields = /** @type {Field[]} */ (["type", "value", "specialization"]);
  for (const argument of draft.arguments) {
    for (const field of fields) {
      const problem = cellProblem(draft, argument, field);
      if (problem) problems.push(`${argument.name}: ${problem}`);
    }
  }
  return problems;
}

/** Before the names of options in `Draft.typed`; no parameter has a colon. */
export const OPTION_PREFIX = "option:";

/** Before the places of assumed numbers there. */
export const ASSUMED_PREFIX = "assumed:";

/** @param {string} text */
export function assumedProblem(text) {
  const isWhole = /^[+-]?\d{1,16}$/.test(text.trim()) && Number.isSafeInteger(Number(text));
  return isWhole ? "" : "A whole number, or nothing for the assumed one.";
}

/** @param {string} text */
export function optionProblem(text) {
  return /^[1-9]\d{0,5}$/.test(text.trim()) ? "" : "A whole number from 1 up, or nothing for the default.";
}
