/**
 * What differs inside two lines that stand for each other.
 *
 * @typedef {{from: number, to: number}} Span columns
 */

const WORD = /\/\*[0-9a-f]{4,}\*\/|[%#!@$]?[\w.$-]+|\s+|[^]/gu;
/** Where machine code is: it moves with everything before it. */
const ADDRESS = /^\/\*[0-9a-f]{4,}\*\/$/;
/** A number that only tells values of one kind apart: %12, %name_12, !12, %r12, R12, ^bb3. */
const NUMBER_OF_VALUE = /^(?:[%!#^][\w.$-]*?|[RPBUvs]{1,2})\d+$/;
const ALIAS = /[#!][A-Za-z_]\w*(?![\w.])/g;
const LONGEST_LINE = 4000;
const MOST_COMPARISONS = 250_000;
/** Lines that have less than this in common are another line each: marks would be all over them. */
const LEAST_COMMON = 0.4;

/** @param {string} before @param {string} after @returns {{before: Span[], after: Span[]}} nothing where they have little in common */
export function changedSpans(before, after) {
  const nothing = { before: [], after: [] };
  if (before === after) {
    // The aliases in it stand for something else by now.
    const aliases = [...before.matchAll(ALIAS)].map(({ index, 0: alias }) => ({ from: index, to: index + alias.length }));
    return { before: aliases, after: aliases };
  }
  if (Math.max(before.length, after.length) > LONGEST_LINE) return nothing;
  const old = before.match(WORD) ?? [];
  const now = after.match(WORD) ?? [];
  // Values that were only renumbered are no change; where nothing else differs, another value is the change.
  const loose = alignWords(old, now, unnumbered);
  const kept = loose && loose.size === old.length && loose.size === now.length ? alignWords(old, now, (word) => word) : loose;
  if (!kept) return nothing;
  const common = [...kept.keys()].reduce((sum, index) => sum + (old[index] ?? "").trim().length, 0);
  const longest = Math.max(before.replace(/\s/g, "").length, after.replace(/\s/g, "").length, 1);
  if (common / longest < LEAST_COMMON) return nothing;
  const stayed = new Set(kept.values());
  return { before: spansOf(old, (index) => kept.has(index)), after: spansOf(now, (index) => stayed.has(index)) };
}

/** @param {string} word */
function unnumbered(word) {
  if (ADDRESS.test(word)) return "/**/";
  return NUMBER_OF_VALUE.test(word) ? word.replace(/\d+$/, "") : word;
}

/**
 * Pair the words of two lines, as many as can be, in their order.
 * @param {string[]} before @param {string[]} after @param {(word: string) => string} key
 * @returns {Map<number, number> | null} null: too long to try
 */
function alignWords(before, after, key) {
  const old = before.map(key);
  const now = after.map(key);
  let head = 0;
  while (head < old.length && head < now.length && old[head] === now[head]) head += 1;
  let tail = 0;
  while (tail < old.length - head && tail < now.length - head && old[old.length - 1 - tail] === now[now.length - 1 - tail]) tail += 1;
  const rows = old.length - head - tail;
  const columns = now.length - head - tail;
  if (rows * columns > MOST_COMPARISONS) return null;
  /** @type {Map<number, number>} */
  const pairs = new Map();
  for (let i = 0; i < head; i += 1) pairs.set(i, i);
  for (let i = 1; i <= tail; i += 1) pairs.set(old.length - i, now.length - i);
  // The length of the longest common subsequence from each place on.
  const width = columns + 1;
  const lengths = new Uint16Array((rows + 1) * width);
  const at = (/** @type {number} */ i, /** @type {number} */ j) => /** @type {number} */ (lengths[i * width + j]);
  for (let i = rows - 1; i >= 0; i -= 1) {
    for (let j = columns - 1; j >= 0; j -= 1) {
      lengths[i * width + j] = old[head + i] === now[head + j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  for (let i = 0, j = 0; i < rows && j < columns; ) {
    if (old[head + i] === now[head + j]) pairs.set(head + i++, head + j++);
    else if (at(i + 1, j) >= at(i, j + 1)) i += 1;
    else j += 1;
  }
  return pairs;
}

/** Neighbouring changed words as one span, also across white space. @param {string[]} words @param {(index: number) => boolean} isKept @returns {Span[]} */
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
