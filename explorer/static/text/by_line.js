/** Places in the lines of a text, by line. */

/**
 * @template {{line: number}} Place
 * @param {Place[]} places
 * @returns {Map<number, Place[]>}
 */
export function byLine(places) {
  /** @type {Map<number, Place[]>} */
  const found = new Map();
  for (const place of places) {
    const there = found.get(place.line);
    if (there) there.push(place);
    else found.set(place.line, [place]);
  }
  return found;
}
