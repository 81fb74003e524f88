/**
 * What the compiler takes an argument for, and why, in sentences.
 *
 * @import { Argument } from "../core/types.js"
 */
import { integerBits, isPointer, unitOf } from "./argument_checks.js";
import { literal, plural } from "../core/format.js";

/** @typedef {"launch" | "guess" | "form"} Origin */

/** @param {Argument} argument @param {Origin} origin @returns {string[]} */
export function argumentSentences(argument, origin) {
  return [typeSentence(argument), shapeSentence(argument), assumptionSentence(argument, origin)].filter(
    Boolean,
  );
}

/** @param {Argument} argument */
function typeSentence(argument) {
  const { type, value } = argument;
  const bytes = elementBytes(type);
  if (isPointer(type)) {
    const element = type.replace(/^\*k?/, "");
    return `A pointer to ${element}${bytes ? `, ${plural(bytes, "byte")} per element` : ""}.`;
  }
  if (type === "constexpr") {
    const unit = unitOf(argument);
    const counted = unit ? `, ${literal(value)} ${unit}` : "";
    return `A constant of the code${counted}. Another value needs another compilation.`;
  }
  if (type === "i32") return "A 32-bit integer: Python's integers become i32 if they fit, else i64.";
  if (type === "i1") return "A Boolean value.";
  if (integerBits(type))
    return `An integer of ${integerBits(type)} bits${type.startsWith("u") ? " without a sign" : ""}.`;
  if (/^(fp|bf)/.test(type)) return `A floating-point number, passed as ${type}.`;
  if (type.startsWith("tensordesc"))
    return "A tensor descriptor: address, shape and strides in one, for copies of whole tiles.";
  return type ? `Passed as ${type}.` : "";
}

/** @param {Argument} argument */
function shapeSentence({ shape, strides }) {
  if (!shape) return "";
  if (!shape.length) return "A tensor of one element.";
  const stepped = strides?.length ? `, strides ${strides.join(", ")} in elements` : "";
  const order = strides && isContiguous(shape, strides) ? ": contiguous" : "";
  return `A tensor of ${shape.join(" × ")}${stepped}${order}. The compiler knows only its address.`;
}

/** @param {Argument} argument @param {Origin} origin */
function assumptionSentence({ type, value, specialization }, origin) {
  const bytes = elementBytes(type);
  if (specialization === "divisible by 16" && isPointer(type)) {
    const reason = {
      launch: "The tensor's address is a multiple of 16 bytes",
      guess: "Guessed: PyTorch allocates tensors at multiples of 16 bytes",
      form: "The address is assumed to be a multiple of 16 bytes",
    }[origin];
    const elements = bytes ? `, ${16 / bytes} elements` : "";
    return `${reason}, so one access may load or store up to 16 bytes${elements}.`;
  }
  if (specialization === "divisible by 16") {
    const reason =
      typeof value === "number"
        ? `${value} is 16 × ${value / 16}`
        : origin === "guess"
          ? "Guessed: sizes and strides mostly are multiples of 16"
          : "The value is assumed to be a multiple of 16";
    return (
      `${reason}. The compiler knows this: ` +
      "rows at this stride are aligned, so that accesses to them can be wide."
    );
  }
  if (specialization === "equal to 1")
    return (
      "The value is 1, which is folded into the code. " +
      "With a stride of 1, neighbors in a tensor are neighbors in memory."
    );
  if (specialization === "constexpr" || type === "constexpr") return "";
  if (isPointer(type))
    return "The address is aligned to one element only, so an access is no wider than an element.";
  const bits = integerBits(type);
  if (bits === null || bits === 1) return "Its value is never specialized.";
  if (typeof value !== "number") return "Nothing is assumed of its value.";
  if (origin === "launch" && (value === 1 || value % 16 === 0))
    return `Nothing is assumed, although the value is ${value}: the kernel demands it (do_not_specialize).`;
  return `${value} is neither 1 nor a multiple of 16, so nothing is assumed of it.`;
}

/** @param {string} type @returns {number | null} the bytes of what a pointer points to */
function elementBytes(type) {
  const bits = /^\*k?(?:fp|bf|[iu])(\d+)/.exec(type)?.[1];
  return bits ? Math.max(1, Number(bits) / 8) : null;
}

/** @param {number[]} shape @param {number[]} strides */
function isContiguous(shape, strides) {
  let expected = 1;
  for (let axis = shape.length - 1; axis >= 0; axis--) {
    if (shape[axis] !== 1 && strides[axis] !== expected) return false;
    expected *= shape[axis] ?? 1;
  }
  return true;
}
