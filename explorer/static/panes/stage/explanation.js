/**
 * Explanations of the operation or opcode of a line, in a sentence or two.
 *
 * The longest word that an opcode begins with explains it. The rest is explained part by part, by words that
 * begin with the part's dot or underscore.
 */

/** @typedef {{word: string, text: string}} Explanation */

/**
 * @param {string} opcode
 * @param {Map<string, string>} words
 * @returns {Explanation[]} the first of the operation, the others of its modifiers; none of an unknown one
 */
export function explain(opcode, words) {
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
