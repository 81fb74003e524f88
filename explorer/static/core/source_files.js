/**
 * The files of a script, and their line numbers. The lines of the script come first, then the lines of the other files
 * in the order of their paths. Each line has one number, as in the documents of the API.
 */

/**
 * @typedef {{source: string, path?: string, files?: Record<string, string>}} Sources a request or a draft
 * @typedef {{path: string, first: number, texts: string[]}} SourceFile `path` is "" for the script; `first` is
 *   the number of its first line
 * @typedef {{path: string, line: number}} Place
 */

/** @type {WeakMap<Sources, SourceFile[]>} */
const known = new WeakMap();

/** The script, then the files beside it. @param {Sources} sources @returns {SourceFile[]} */
export function sourceFiles(sources) {
  let found = known.get(sources);
  if (!found) {
    const { source, files = {} } = sources;
    let first = 1;
    found = [
      ["", source],
      ...Object.keys(files)
        .sort()
        .map((path) => [path, files[path] ?? ""]),
    ].map(([path = "", text = ""]) => {
      const file = { path, first, texts: text.split(/\r\n?|\n/) };
      first += file.texts.length;
      return file;
    });
    known.set(sources, found);
  }
  return found;
}

/** The text of each line, in the order of their numbers. @param {Sources} sources */
export function sourceTexts(sources) {
  return sourceFiles(sources).flatMap(({ texts }) => texts);
}

/**
 * Return the file that contains the line with this number, and the line number in the file.
 * @param {Sources} sources
 * @param {number} number
 * @returns {Place}
 */
export function placeOf(sources, number) {
  if (Object.keys(sources.files ?? {}).length === 0) return { path: "", line: number };
  const file = sourceFiles(sources).findLast(({ first }) => first <= number);
  return file ? { path: file.path, line: number - file.first + 1 } : { path: "", line: number };
}

/** A line in words. @param {Sources | null | undefined} sources @param {number} number */
export function lineWords(sources, number) {
  const { path, line } = sources ? placeOf(sources, number) : { path: "", line: number };
  return path ? `line ${line} of ${path}` : `line ${line}`;
}

/** Whether two requests or drafts have the same script and files. @param {Sources} one @param {Sources} other */
export function sameSources(one, other) {
  if (one.source !== other.source) return false;
  const [mine, others] = [one.files ?? {}, other.files ?? {}];
  const paths = Object.keys(mine);
  return (
    paths.length === Object.keys(others).length &&
    paths.every((path) => mine[path] === others[path]) &&
    (paths.length === 0 || (one.path ?? "") === (other.path ?? ""))
  );
}
