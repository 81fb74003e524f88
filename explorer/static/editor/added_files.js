/** Files that are dropped or opened: their paths, and whether they are within the server's limits. */

/** @typedef {{files: number, bytes: number}} Limits the number of files of a script, and their total size */

/**
 * Name files relative to their common folder, which becomes the root.
 * @param {Record<string, string>} files @returns {Record<string, string>}
 */
export function withoutCommonFolder(files) {
  const paths = Object.keys(files);
  const folder = /^[^/]+\//.exec(paths[0] ?? "")?.[0] ?? "";
  const isCommon = folder !== "" && paths.every((path) => path.startsWith(folder));
  // A folder that is itself a package is kept: its files import each other by its name.
  if (!isCommon || `${folder}__init__.py` in files) return files;
  return Object.fromEntries(paths.map((path) => [path.slice(folder.length), files[path] ?? ""]));
}

/**
 * Return how files exceed the limits of the server; "": they do not.
 * @param {Record<string, string>} files
 * @param {Limits} limits
 */
export function limitProblem(files, limits) {
  const count = Object.keys(files).length;
  const bytes = Object.values(files).reduce((sum, text) => sum + new TextEncoder().encode(text).length, 0);
  // The script itself does not count as a file beside it.
  if (count > limits.files + 1)
    return `There are ${count.toLocaleString("en")} Python files; the limit is ${limits.files + 1}. Drop fewer files.`;
  if (bytes > limits.bytes)
    return `The Python files have ${bytes.toLocaleString("en")} bytes; the limit is ${limits.bytes.toLocaleString("en")}. Drop fewer files.`;
  return "";
}
