/** The fields of a document of any type as short texts. */

const MOST_CHARACTERS = 400;

/** @param {unknown} document @returns {[string, string][]} the name and the value of each field */
export function fieldsOf(document) {
  if (typeof document !== "object" || document === null) return [["value", textOf(document)]];
  return Object.entries(document).map(([name, value]) => [name.replaceAll("_", " "), textOf(value)]);
}

/** @param {unknown} value */
function textOf(value) {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
  return text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)} …` : text;
}
