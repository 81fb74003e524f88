/** Check typed numbers and expressions over sizes. The server evaluates them. */

const NAME = /^[A-Za-z_]\w*$/;
/**
 * The names that every expression may use: the server's names, and Python's functions of numbers.
 */
const COMMON = [
  "cdiv",
  "next_power_of_2",
  "math",
  "torch",
  "triton",
  "tl",
  "min",
  "max",
  "abs",
  "int",
  "float",
  "round",
  "True",
  "False",
  "if",
  "else",
  "and",
  "or",
  "not",
];

/** Split at commas outside of brackets. @param {string} text @returns {string[]} none of them empty */
export function splitExpressions(text) {
  const parts = [""];
  let depth = 0;
  for (const character of text) {
    if (character === "(") depth += 1;
    if (character === ")") depth -= 1;
    if (character === "," && depth <= 0) parts.push("");
    else parts[parts.length - 1] += character;
  }
  return parts.map((part) => part.trim()).filter(Boolean);
}

/** A whole number: "1000", "1_000", "2**20", "2 * 1024". @param {string} text @returns {number | null} */
export function readWhole(text) {
  const factors = text
    .trim()
    .split(/(?<!\*)\*(?!\*)/)
    .map((factor) => {
      const [, base = "", power = "1"] = /^\s*(\d[\d_]*)\s*(?:\*\*\s*(\d{1,3}))?\s*$/.exec(factor) ?? [];
      return base ? Number(base.replaceAll("_", "")) ** Number(power) : NaN;
    });
  const value = factors.reduce((one, other) => one * other, 1);
  return Number.isSafeInteger(value) ? value : null;
}

/** "n = 1000, m = 2**6" @param {string} text @returns {{sizes: Record<string, number>, problem: string}} */
export function readSizes(text) {
  /** @type {Record<string, number>} */
  const sizes = {};
  for (const part of splitExpressions(text)) {
    const [, name = "", number = ""] = /^(\w+)\s*[=:]\s*(.*)$/s.exec(part) ?? [];
    const value = readWhole(number);
    if (!NAME.test(name) || value === null)
      return { sizes, problem: `“${part}” is not a size: write name = whole number, such as n = 1000.` };
    if (name in sizes) return { sizes, problem: `The size ${name} is given twice.` };
    sizes[name] = value;
  }
  return { sizes, problem: "" };
}

/**
 * Return the problem of an expression that can be found without evaluating it.
 * @param {string} text
 * @param {Iterable<string>} names that it may use
 * @param {string} source the script, whose names it may use, too
 * @returns {string} "": nothing
 */
export function expressionProblem(text, names, source) {
  let depth = 0;
  for (const character of text) {
    depth += Number("([".includes(character)) - Number(")]".includes(character));
    if (depth < 0) break;
  }
  if (depth !== 0) return `A bracket of “${text.trim()}” is missing.`;
  const known = new Set([...names, ...COMMON]);
  for (const [, before = "", name = ""] of text.matchAll(/(^|[^\w.])([A-Za-z_]\w*)/g)) {
    if (/["']/.test(before) || known.has(name) || new RegExp(`\\b${name}\\b`).test(source)) continue;
    return `${name} is not known: there ${[...names].length ? `is ${[...names].join(", ")}` : "is no size yet"}; cdiv and next_power_of_2 help.`;
  }
  return "";
}
