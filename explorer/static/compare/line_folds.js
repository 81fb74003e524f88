/**
 * The parts of an operation of MLIR that are often longer than the rest of it: the types at its end, and the
 * attributes that passes attach to it.
 *
 * @typedef {{of: "types" | "attributes", from: number, to: number, instead: string}} Fold columns, and the replacement
 *   text
 */

/** Types with fewer characters are not folded. */
const LEAST_FOLDED = 24;
const LONGEST_SHORT_TYPE = 30;
const CLOSING = new Set([">", ")", "]", "}"]);
const OPENING = new Set(["<", "(", "[", "{"]);

/** Attributes that a pass attaches have a dialect in their names: `loop.stage = 2 : i32`. */
const ATTACHED =
  /(?<=[{,] ?)[a-z_]\w*\.[\w.]+ = [^,{}<>[\]"]+(?:, [a-z_]\w*\.[\w.]+ = [^,{}<>[\]"]+)*(?=[,}])/;

/**
 * The types of an operation and the attributes that passes have attached, where they are long. They do not overlap.
 * @param {string} text a line
 * @returns {Fold[]}
 */
export function foldsOf(text) {
  return [attributeFold(text), typeFold(text)].filter((fold) => fold !== null);
}

/** @param {string} text a line @returns {Fold | null} */
function attributeFold(text) {
  const found = isOperation(text) ? ATTACHED.exec(text) : null;
  if (!found || found[0].length < LEAST_FOLDED) return null;
  return { of: "attributes", from: found.index, to: found.index + found[0].length, instead: "…" };
}

/**
 * Return whether a line is an operation other than a function. Functions consist of types and attributes only.
 * @param {string} text
 */
function isOperation(text) {
  return /^\s*(?:%[^=]+= )?"?[a-z_]\w*\.\w/.test(text) && !/^\s*(?:tt|llvm|func)\.func\b/.test(text);
}

/**
 * Return the types behind the last colon of an operation, or the result types of a loop.
 * @param {string} text a line
 * @returns {Fold | null} null: the line has no types, or short types
 */
function typeFold(text) {
  if (!isOperation(text)) return null;
  const opening = / \{\s*$/.exec(text);
  const end = opening?.index ?? text.trimEnd().length;
  const from = opening ? text.indexOf(" -> (") : typesStart(text, end);
  if (from < 0 || from >= end || end - from < LEAST_FOLDED) return null;
  const instead = opening ? " -> (…)" : ` : ${shortType(text.slice(from + 3, end))}`;
  return { of: "types", from, to: end, instead };
}

/** The column of the " : " that the types of an operation begin with; -1: none. @param {string} text @param {number} end */
function typesStart(text, end) {
  let depth = 0;
  for (let at = end - 1; at > 1; at -= 1) {
    const character = /** @type {string} */ (text[at]);
    const isArrow = character === ">" && text[at - 1] === "-";
    if (CLOSING.has(character) && !isArrow) depth += 1;
    else if (OPENING.has(character)) depth -= 1;
    else if (character === ":" && depth === 0 && text[at - 1] === " " && text[at + 1] === " ") return at - 1;
    if (depth < 0) return -1;
  }
  return -1;
}

/** Return the type of the result without its layout if the type is short. @param {string} types */
function shortType(types) {
  const parts = types.split(/ (?:->|to) /);
  const last = (parts.at(-1) ?? "").replace(
    /tensor<((?:[^<>,]|<[^<>]*>)*)(?:, (?:[^<>]|<(?:[^<>]|<[^<>]*>)*>)*)?>/g,
    "$1",
  );
  if (last.length > LONGEST_SHORT_TYPE || /, /.test(last)) return "…";
  return parts.length > 1 ? `… → ${last}` : `${last} …`;
}
