/** Source lines of operations and instructions; 0 stands for an operation without a source line. */

/** Source lines without 0 and duplicates, in order. @param {number[]} lines */
export function distinctLines(lines) {
  return [...new Set(lines.filter(Boolean))].sort((one, other) => one - other);
}

/**
 * Group neighboring operations with the same source line.
 * @param {number[]} lines for each operation its source line
 * @param {number} [first] the first operation
 * @param {number} [end] the operation behind the last one
 */
export function sequencesOf(lines, first = 0, end = lines.length) {
  /** @type {{from: number, to: number, line: number}[]} `to` is the operation behind the last one */
  const found = [];
  for (let from = first; from < end; ) {
    const line = lines[from] ?? 0;
    let to = from + 1;
    while (to < end && (lines[to] ?? 0) === line) to += 1;
    if (line) found.push({ from, to, line });
    from = to;
  }
  return found;
}
