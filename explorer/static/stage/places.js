/** Places in the lines of a text. */

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

/** The column of a line's text under the mouse, as it is shown; -1: none. @param {Element} code @param {MouseEvent} event */
export function columnAt(code, event) {
  const range = document.createRange();
  range.selectNodeContents(code);
  const { left, width } = range.getBoundingClientRect();
  const length = code.textContent?.length ?? 0;
  if (length === 0 || width === 0) return -1;
  const column = Math.floor(((event.clientX - left) / width) * length);
  return column >= 0 && column < length ? column : -1;
}
