/**
 * The results that were compiled in this browser, the newest first: a list of bounded length that never
 * leaves it. Favourites are kept beyond that length.
 *
 * @import { CompilationDocument, Status } from "../core/types.js"
 */
import { kernelFacts, targetTitle } from "../core/format.js";
import { keep, kept } from "../core/storage.js";
import { received } from "./expected_results.js";

export const STORAGE_KEY = "history";
const MOST_ENTRIES = 100;
const LONGEST_TITLE = 100;

/**
 * @typedef {object} Entry
 * @property {string} id
 * @property {string} kernel
 * @property {string} target
 * @property {string} triton
 * @property {string} facts warps and stages
 * @property {Status} status
 * @property {string} title a line of the source that distinguishes it
 * @property {number} at when it was compiled, in milliseconds since 1970
 * @property {boolean} [isFavourite]
 * @property {boolean} [live] it was compiled while its source was typed; the next such result replaces it
 */

/** @returns {Entry[]} */
export function ownResults() {
  try {
    const entries = JSON.parse(kept(STORAGE_KEY) ?? "[]");
    return Array.isArray(entries) ? entries.filter(isEntry) : [];
  } catch {
    return [];
  }
}

/** Own results of the same kernel, for a comparison with them. @param {CompilationDocument} document */
export function earlierVersions({ id, kernel }) {
  return ownResults().filter((entry) => entry.id !== id && entry.kernel === (kernel ?? ""));
}

/** Own results, the favourites first. */
export function shownResults() {
  const entries = ownResults();
  return [
    ...entries.filter(({ isFavourite }) => isFavourite),
    ...entries.filter(({ isFavourite }) => !isFavourite),
  ];
}

/** Keep a result at the top, or no longer. @param {string} id @param {boolean} isFavourite */
export function setFavourite(id, isFavourite) {
  keepEntries(ownResults().map((entry) => (entry.id === id ? { ...entry, isFavourite } : entry)));
}

/** @param {Entry[]} entries */
function keepEntries(entries) {
  let others = 0;
  const within = entries.filter(({ isFavourite }) => isFavourite || ++others <= MOST_ENTRIES);
  keep(STORAGE_KEY, JSON.stringify(within));
}

/** Remove all results but the favourites. */
export function clearHistory() {
  keepEntries(ownResults().filter(({ isFavourite }) => isFavourite));
}

/** Put a finished result into the list. @param {CompilationDocument} document @param {boolean} [live] */
export function record(document, live = false) {
  received(document.id);
  // Another tab may have added to the list.
  const own = ownResults();
  const others = own.filter(({ id }) => id !== document.id);
  const [before] = others;
  if (live && before?.live && !before.isFavourite && before.kernel === document.kernel) others.shift();
  const isFavourite = own.find(({ id }) => id === document.id)?.isFavourite;
  keepEntries([
    { ...entryOf(document), ...(live ? { live } : {}), ...(isFavourite ? { isFavourite } : {}) },
    ...others,
  ]);
}

/** @param {CompilationDocument} document @returns {Entry} */
function entryOf(document) {
  const { id, kernel, target, triton, specialization, request } = document;
  return {
    id,
    kernel: kernel ?? "",
    target: targetTitle(target),
    triton,
    facts: kernelFacts(specialization?.options ?? {}),
    status: document.status,
    title: titleOf(request.source),
    at: Date.now(),
  };
}

/** The first line of the source's own words; where it has none, of its code. @param {string} source */
export function titleOf(source) {
  const words =
    /^(?:\s|#[^\n]*\n)*[rR]?(?:"""|''')\s*([^\n]*?)\s*(?:"""|'''|\n)/.exec(source)?.[1] ??
    /^#(?![!])[ \t]*(\S[^\n]*)/m.exec(source)?.[1];
  const line = words || /^\s*def [^\n]*/m.exec(source)?.[0] || source;
  return line.trim().split("\n", 1)[0]?.slice(0, LONGEST_TITLE) ?? "";
}

/** @param {unknown} value @returns {value is Entry} */
function isEntry(value) {
  if (typeof value !== "object" || value === null) return false;
  const entry = /** @type {Record<string, unknown>} */ (value);
  const texts = ["id", "kernel", "target", "triton", "facts", "status", "title"];
  return texts.every((name) => typeof entry[name] === "string") && typeof entry.at === "number";
}
