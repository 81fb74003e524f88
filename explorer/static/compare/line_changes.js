/**
 * The differences between two lines that correspond to each other.
 *
 * @typedef {{from: number, to: number}} Span columns
 */
import { longestCommon } from "../text/longest_common.js";

const WORD = /B[\d-]{6}:R[\d-]:W[\d-]:[Y-]:S\d\d|\/\*[0-9a-f]{4,}\*\/|[%#!@$]?[\w.$-]+|\s+|[\s\S]/gu;
/** The address and the control code of an instruction: both depend on the instructions around it. */
const SCHEDULE = /^(?:\/\*[0-9a-f]{4,}\*\/|B[\d-]{6}:\S+)$/;
/** A number that only distinguishes values of one kind: %12, %name_12, !12, %r12, R12, ^bb3. */
const NUMBER_OF_VALUE = /^(?:[%!#^][\w.$-]*?|[RPBUvs]{1,2})\d+$/;
const ALIAS = /[#!][A-Za-z_]\w*(?![\w.])/g;
const LONGEST_LINE = 4000;
const MOST_COMPARISONS = 250_000;
/** Lines with a smaller common share are not compared: nearly every word would be marked. */
const LEAST_COMMON = 0.4;

/**
 * @param {string} before
 * @param {string} after
 * @returns {{before: Span[], after: Span[]}} empty if the lines have little in common
 */
export function changedSpans(before, after) {
  const nothing = { before: [], after: [] };
  if (before === after) {
    // The text has not changed, but its aliases have a different meaning.
    const aliases = [...before.matchAll(ALIAS)].map(({ index, 0: alias }) => ({
      from: index,
      to: index + alias.length,
    }));
    return { before: aliases, after: aliases };
  }
  if (Math.max(before.length, after.length) > LONGEST_LINE) return nothing;
  const old = before.match(WORD) ?? [];
  const now = after.match(WORD) ?? [];
  // A renumbered value is not a change. If nothing else differs, the different value is the change.
  const loose = alignWords(old, now, unnumbered);
  const kept =
    loose && loose.size === old.length && loose.size === now.length
      ? alignWords(old, now, (word) => word)
      : loose;
  if (!kept) return nothing;
  const common = [...kept.keys()].reduce((sum, index) => sum + (old[index] ?? "").trim().length, 0);
  const longest = Math.max(before.replace(/\s/g, "").length, after.replace(/\s/g, "").length, 1);
  if (common / longest < LEAST_COMMON) return nothing;
  const stayed = new Set(kept.values());
  return {
    before: spansOf(old, (index) => kept.has(index)),
    after: spansOf(now, (index) => stayed.has(index)),
  };
}

/**
 * Remove the parts of a line that depend on its context: numbers of values, addresses, control codes.
 * @param {string} line
 */
export function lineWithoutNumbers(line) {
  // The first value with a name has no number: %x, then %x_1.
  const key = (/** @type {string} */ word) => unnumbered(word).replace(/^(%.+)_$/, "$1");
  return line.length > LONGEST_LINE ? line : line.replace(WORD, key);
}

/** @param {string} word */
function unnumbered(word) {
  if (SCHEDULE.test(word)) return "/**/";
  return NUMBER_OF_VALUE.test(word) ? word.replace(/\d+$/, "") : word;
}

/**
 * Pair the words of two lines, as many as can be, in their order.
 * @param {string[]} before @param {string[]} after @param {(word: string) => string} key
 * @returns {Map<number, number> | null} null: too long to try
 */
function alignWords(before, after, key) {
  return longestCommon(before.map(key), after.map(key), MOST_COMPARISONS);
}

/**
 * Merge neighboring changed words into one span, also across white space.
 * @param {string[]} words
 * @param {(index: number) => boolean} isKept
 * @returns {Span[]}
 */
function spansOf(words, isKept) {
  /** @type {Span[]} */
  const spans = [];
  let column = 0;
  let isNear = false;
  words.forEach((word, index) => {
    const to = column + word.length;
    const last = spans.at(-1);
    if (isKept(index)) {
      isNear &&= !word.trim();
    } else {
      if (last && isNear) last.to = to;
      else spans.push({ from: column, to });
      isNear = true;
    }
    column = to;
  });
  return spans;
}
