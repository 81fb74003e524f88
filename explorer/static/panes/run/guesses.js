/**
 * Initial inputs for a run: the inputs of the script's launch if it is known, otherwise guesses from the names of the
 * arguments. The user corrects them.
 *
 * @import { Argument, CompilationDocument } from "../../core/types.js"
 * @import { TypedInput } from "../../runs/form_state.js"
 */
import { literal } from "../../core/format.js";

/** Not a multiple of a block, so that masks are tested; small enough for the interpreter. */
const ONE_SIZE = 10_000;
const SEVERAL_SIZES = [200, 168, 136];

/** @typedef {Map<string, number>} Sizes */

/** @param {CompilationDocument} compilation @returns {{inputs: TypedInput[], sizes: string, grid: string}} */
export function guessedForm(compilation) {
  const given = compilation.specialization?.arguments ?? [];
  const sizes = sizesOf(given);
  return {
    inputs: given.map((argument) => inputOf(argument, given, sizes)),
    sizes: [...sizes].map(([name, value]) => `${name} = ${value}`).join(", "),
    grid: gridOf(compilation, given, [...sizes.keys()]),
  };
}

/** @param {Argument} argument */
function isTensor({ type }) {
  return type.startsWith("*") || type.startsWith("tensordesc");
}

/** @param {Argument} argument */
function isConstant({ type, specialization }) {
  return type === "constexpr" && specialization !== "equal to 1";
}

/**
 * Return the scalars that are named like sizes (M, N, K), otherwise a single n.
 * @param {Argument[]} given
 * @returns {Sizes}
 */
function sizesOf(given) {
  const integers = given.filter(
    ({ type, specialization }) => /^i\d/.test(type) && specialization !== "equal to 1",
  );
  const named = integers.filter(({ name }) => /^[A-Z]$/.test(name));
  if (named.length)
    return new Map(
      named.map(({ name, value }, index) => [
        name,
        typeof value === "number" ? value : (SEVERAL_SIZES[index] ?? ONE_SIZE),
      ]),
    );
  const value = integers.find((each) => typeof each.value === "number" && !/stride/i.test(each.name))?.value;
  const elements = given.find(({ shape }) => shape?.length)?.shape?.reduce((one, other) => one * other, 1);
  return new Map([["n", typeof value === "number" && value > 0 ? value : (elements ?? ONE_SIZE)]]);
}

/** @param {Argument} argument @param {Argument[]} given @param {Sizes} sizes @returns {TypedInput} */
function inputOf(argument, given, sizes) {
  const { name, type, specialization, shape, value } = argument;
  if (isTensor(argument)) {
    const guess = shapeOf(argument, given, sizes);
    const isSame =
      !shape?.length ||
      (shape.length === guess.length &&
        shape.every((each, index) => each === worth(guess[index] ?? "", sizes)));
    return {
      name,
      type,
      shape: (isSame ? guess : shape).join(", "),
      value: "",
      distribution: /^\*k?[iu]\d/.test(type) ? "integers" : "normal",
    };
  }
  const base = {
    name,
    type: isConstant(argument) || type !== "constexpr" ? type : "i32",
    shape: null,
    distribution: /** @type {const} */ ("normal"),
  };
  if (isConstant(argument)) return { ...base, value: literal(value) };
  const guess = scalarOf(argument, given, sizes);
  const known = specialization === "equal to 1" ? 1 : value;
  return {
    ...base,
    value: typeof known === "number" && known !== worth(guess, sizes) ? String(known) : guess,
  };
}

/**
 * Evaluate an expression of this module: a product of sizes and numbers.
 * @param {string} text
 * @param {Sizes} sizes
 */
function worth(text, sizes) {
  return text.split(" * ").reduce((product, factor) => product * (sizes.get(factor) ?? Number(factor)), 1);
}

/** @param {Argument} argument @param {Argument[]} given @param {Sizes} sizes @returns {string} */
function scalarOf({ name, type, specialization }, given, sizes) {
  if (specialization === "equal to 1") return "1";
  if (sizes.has(name)) return name;
  if (type.startsWith("fp") || type.startsWith("bf")) return "1.0";
  return /stride/i.test(name) ? strideOf(name, given, sizes) : ([...sizes.keys()][0] ?? "1");
}

/**
 * Return the shape of a matrix of a product by its usual name (a, b, c), otherwise all sizes.
 * @param {Argument} argument
 * @param {Argument[]} given
 * @param {Sizes} sizes
 * @returns {string[]}
 */
function shapeOf({ name, shape }, given, sizes) {
  const names = [...sizes.keys()];
  const product = { a: ["M", "K"], b: ["K", "N"], c: ["M", "N"] }[name.charAt(0).toLowerCase()];
  if (product && ["M", "N", "K"].every((size) => sizes.has(size))) return product;
  const hasStrides = given.some((each) => /stride/i.test(each.name));
  return names.slice(0, shape?.length || (names.length > 1 && hasStrides ? 2 : 1));
}

/**
 * Guess a stride such as stride_am: the product of the sizes behind M in the shape of a.
 * @param {string} name
 * @param {Argument[]} given
 * @param {Sizes} sizes
 */
function strideOf(name, given, sizes) {
  const [, letter = "", size = ""] = /_([a-z])([a-z])$/i.exec(name) ?? [];
  const tensor = given.find(
    (each) => isTensor(each) && each.name.charAt(0).toLowerCase() === letter.toLowerCase(),
  );
  const dimensions = tensor ? shapeOf(tensor, given, sizes) : [];
  const at = dimensions.indexOf(size.toUpperCase());
  return at >= 0 ? dimensions.slice(at + 1).join(" * ") || "1" : ([...sizes.keys()].at(-1) ?? "1");
}

/** @param {CompilationDocument} compilation @param {Argument[]} given @param {string[]} sizes */
function gridOf({ request }, given, sizes) {
  const blocks = given
    .filter((argument) => isConstant(argument) && /^BLOCK/i.test(argument.name))
    .map(({ name }) => name);
  const parts = sizes.slice(0, 2).flatMap((size) => {
    const block =
      blocks.find((name) => name.endsWith(`_${size.toUpperCase()}`)) ??
      (sizes.length === 1 ? blocks[0] : undefined);
    return block ? [`cdiv(${size}, ${block})`] : [];
  });
  if (parts.length === 0) return sizes[0] ?? "1";
  const isFlat = !/program_id\(\s*(?:axis\s*=\s*)?[12]\s*\)/.test(request.source);
  return isFlat ? parts.join(" * ") : parts.join(", ");
}
