/**
 * What the operation or opcode of a line does, in a sentence or two.
 *
 * The words come from the server, one vocabulary a kind of language. The longest word that an opcode begins with
 * explains it; what follows is explained part by part, by words that begin with the part's dot or underscore.
 */
import { api } from "../api.js";

/** @type {Record<string, string>} */
const VOCABULARIES = { ttir: "mlir", ttgir: "mlir", glir: "mlir", ptx: "ptx", sass: "sass", amdgcn: "amdgcn" };
/** @type {Record<string, RegExp>} the opcode, in the first group */
const OPCODES = {
  mlir: /^\s*(?:%[^=]+=\s*)?"?([a-z_]\w*\.[\w.]+)/,
  ptx: /^\s*(?:@!?[%\w]+\s+)?([a-z][\w.:]*)(?=[\s;])/,
  sass: /\/\*[0-9a-f]+\*\/\s+(?:@!?U?P\w+\s+)?([A-Z][\w.]*)/,
  amdgcn: /^\s+([a-z]\w*)/,
};
/** @type {Map<string, Map<string, string>>} */
const known = new Map();
/** @type {Set<string>} */
const asked = new Set();

/** @typedef {{word: string, text: string}} Explanation */

/**
 * @param {string} line the text of a line
 * @param {string} language
 * @returns {Explanation[]} the first of the operation, the others of its modifiers; none where there is nothing to explain
 */
export function explanationsOf(line, language) {
  const vocabulary = VOCABULARIES[language] ?? "";
  const words = known.get(vocabulary);
  const opcode = OPCODES[vocabulary]?.exec(line)?.[1];
  return words && opcode ? explain(opcode, words) : [];
}

/** Fetch the words for a language, once. @param {string} language @returns {Promise<boolean>} whether they have come just now */
export async function learn(language) {
  const vocabulary = VOCABULARIES[language];
  if (!vocabulary || asked.has(vocabulary)) return false;
  asked.add(vocabulary);
  try {
    known.set(vocabulary, new Map(Object.entries(await api.explanations(vocabulary))));
    return true;
  } catch {
    asked.delete(vocabulary);
    return false;
  }
}

/** @param {string} opcode @param {Map<string, string>} words @returns {Explanation[]} */
function explain(opcode, words) {
  // "::" is part of a modifier's name.
  const parts = opcode.split(/(?=(?<!:)[._])/);
  for (let count = parts.length; count > 0; count -= 1) {
    const word = parts.slice(0, count).join("");
    const text = words.get(word);
    if (!text || /^[._]/.test(word)) continue;
    const modifiers = [...new Set(parts.slice(count))].flatMap((part) => {
      const more = words.get(part);
      return more ? [{ word: part, text: more }] : [];
    });
    return [{ word, text }, ...modifiers];
  }
  return [];
}
