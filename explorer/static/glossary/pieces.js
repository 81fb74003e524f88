/**
 * The terms of the glossary, and their places in texts.
 *
 * @import { GlossaryTerm } from "../core/types.js"
 */

/** @type {GlossaryTerm[]} */
let terms = [];
/** The terms by their words, in lower case. @type {Map<string, GlossaryTerm>} */
let byWord = new Map();
/** @type {Map<string, GlossaryTerm>} */
let byLabel = new Map();
/** Matches a word of any term, as in `explorer.glossary`; null: the terms are not loaded. @type {RegExp | null} */
let pattern = null;
/** @param {GlossaryTerm[]} found */
export function useTerms(found) {
  terms = found;
  byWord = new Map(found.flatMap((term) => term.words.map((word) => [word, term])));
  byLabel = new Map(found.flatMap((term) => term.labels.map((label) => [label, term])));
  const words = [...byWord.keys()].sort((one, other) => other.length - one.length);
  const escaped = words.map((word) => word.replace(/[.*+?^${}()|[\]\\#]/g, "\\$&"));
  pattern = new RegExp(`(?<![\\w.])(${escaped.join("|")})s?(?!\\w|\\.\\w)`, "gi");
}

/** All terms; empty until they are loaded. */
export const allTerms = () => terms;

/**
 * Split a text at the first occurrence of each term.
 * @param {string} text
 * @param {Set<string>} [seen] the names of terms that are marked already
 * @param {boolean} [isWhole] it is no part of a sentence, so that it may be a label
 * @returns {(string | {text: string, term: GlossaryTerm})[]}
 */
export function pieces(text, seen = new Set(), isWhole = true) {
  const label = isWhole && byLabel.get(text.trim().toLowerCase());
  if (label && !seen.has(label.name)) {
    seen.add(label.name);
    return [{ text, term: label }];
  }
  /** @type {(string | {text: string, term: GlossaryTerm})[]} */
  const found = [];
  let from = 0;
  for (const match of pattern ? text.matchAll(pattern) : []) {
    const term = byWord.get(match[1]?.toLowerCase() ?? "");
    if (!term || seen.has(term.name)) continue;
    seen.add(term.name);
    found.push(text.slice(from, match.index), { text: match[0], term });
    from = match.index + match[0].length;
  }
  return [...found, text.slice(from)].filter(Boolean);
}
