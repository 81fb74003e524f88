/** Explanations of the server, by vocabulary: passes, and the operations or instructions of a language. */
import { api } from "./api.js";

/** @type {Map<string, Promise<Map<string, string>>>} */
const vocabularies = new Map();

/**
 * The explanations of a vocabulary by word. They are fetched once; a failed request is repeated at the next call.
 * @param {string} name
 * @returns {Promise<Map<string, string>>}
 */
export function explanations(name) {
  const known = vocabularies.get(name);
  if (known) return known;
  const fetching = api.explanations(name).then((words) => new Map(Object.entries(words)));
  vocabularies.set(name, fetching);
  fetching.catch(() => vocabularies.delete(name));
  return fetching;
}
