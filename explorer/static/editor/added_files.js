/** Files that are dropped or opened: how they are named, and whether the server accepts as many. */

/** @typedef {{files: number, bytes: number}} Limits how many files a script may have, and the size of all */

/**
 * Name files from below the folder that all of them are in: it is the root.
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

/** Why files exceed the limits of the server; "": they do not. @param {Record<string, string>} files @param {Limits} limits */
export function limitProblem(files, limits) {
  const count = Object.keys(files).length;
  const bytes = Object.values(files).reduce((sum, text) => sum + new TextEncoder().encode(text).length, 0);
  // The script itself is none of the files beside it.
  if (count > limits.files + 1)
    return `There are ${count.toLocaleString("en")} Python files; the limit is ${limits.files + 1}. Drop fewer files.`;
  if (bytes > limits.bytes)
    return `The Python files have ${bytes.toLocaleString("en")} bytes; the limit is ${limits.bytes.toLocaleString("en")}. Drop fewer files.`;
  return "";
}
