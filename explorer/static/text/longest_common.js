/** The longest common subsequence of two lists of texts: the common elements, in their order. */

/**
 * @param {string[]} old @param {string[]} now
 * @param {number} mostComparisons between what both have at their beginnings and ends
 * @returns {Map<number, number> | null} indices of `now` by indices of `old`; null: the limit of comparisons was
 *   reached
 */
export function longestCommon(old, now, mostComparisons) {
  let head = 0;
  while (head < old.length && head < now.length && old[head] === now[head]) head += 1;
  let tail = 0;
  while (
    tail < old.length - head &&
    tail < now.length - head &&
    old[old.length - 1 - tail] === now[now.length - 1 - tail]
  )
    tail += 1;
  const rows = old.length - head - tail;
  const columns = now.length - head - tail;
  if (rows * columns > mostComparisons) return null;
  /** @type {Map<number, number>} */
  const pairs = new Map();
  for (let i = 0; i < head; i += 1) pairs.set(i, i);
  for (let i = 1; i <= tail; i += 1) pairs.set(old.length - i, now.length - i);
  // The length of the longest common subsequence from each place on.
  const width = columns + 1;
  const lengths = new Uint16Array((rows + 1) * width);
  const at = (/** @type {number} */ i, /** @type {number} */ j) =>
    /** @type {number} */ (lengths[i * width + j]);
  for (let i = rows - 1; i >= 0; i -= 1) {
    for (let j = columns - 1; j >= 0; j -= 1) {
      lengths[i * width + j] =
        old[head + i] === now[head + j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  for (let i = 0, j = 0; i < rows && j < columns; ) {
    if (old[head + i] === now[head + j]) pairs.set(head + i++, head + j++);
    else if (at(i + 1, j) >= at(i, j + 1)) i += 1;
    else j += 1;
  }
  return pairs;
}
