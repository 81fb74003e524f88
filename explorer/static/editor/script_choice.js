/**
 * The files of a paste: choose the script, and add, rename and remove files.
 *
 * @import { Draft } from "../core/types.js"
 */

/** @typedef {Pick<Draft, "source" | "path" | "files">} Paste */
/** The path that a script gets when the first file is added. */
export const SCRIPT_NAME = "script.py";
const LONGEST_PATH = 300;
/** Paths that the server accepts: folders and a name, none of which begins with a dot. */
const PATH = /^(?:(?!\.)[\p{L}\p{N}_ .+-]+\/)*(?!\.)[\p{L}\p{N}_ .+-]+\.py$/u;

/**
 * The file that most likely launches a kernel: a main program, else one with a launch, else one with a kernel.
 * @param {Record<string, string>} files @returns {string | null} its path; null: there is none
 */
export function chosenScript(files) {
  const paths = Object.keys(files).sort();
  const first = (/** @type {RegExp} */ pattern) => paths.find((path) => pattern.test(files[path] ?? ""));
  return (
    first(/__name__ *== *["']__main__["']/) ??
    first(/^\w+\[[^\n]*\]\(/m) ??
    first(/\bjit\b/) ??
    paths.find((path) => !path.endsWith("__init__.py")) ??
    paths[0] ??
    null
  );
}

/** The paths of all files, the script's among them. @param {Paste} paste */
export function pathsOf({ path, files }) {
  return [path || SCRIPT_NAME, ...Object.keys(files)].sort();
}

/**
 * Make a different file the script. The previous script becomes a file beside it.
 * @param {Paste} paste @param {string} path @returns {Paste}
 */
export function movedScript(paste, path) {
  const { [path]: source, ...others } = paste.files;
  if (source === undefined) return paste;
  return { source, path, files: { ...others, [paste.path]: paste.source } };
}

/**
 * Add files, or replace files of the same paths.
 * @param {Paste} paste @param {Record<string, string>} added @returns {Paste}
 */
export function withFiles(paste, added) {
  const path = paste.path || SCRIPT_NAME;
  const { [path]: source = paste.source, ...others } = added;
  const files = { ...paste.files, ...others };
  return Object.keys(files).length ? { source, path, files } : { ...paste, source };
}

/** A path for a new file. @param {Paste} paste */
export function freePath(paste) {
  const taken = new Set(pathsOf(paste));
  for (let number = 1; ; number += 1) {
    const path = number === 1 ? "module.py" : `module_${number}.py`;
    if (!taken.has(path)) return path;
  }
}

/** @param {Paste} paste @param {string} from @param {string} to a path that `pathProblem` accepts @returns {Paste} */
export function renamedFile({ source, path, files }, from, to) {
  if (from === path) return { source, path: to, files };
  const renamed = Object.entries(files).map(([each, text]) => [each === from ? to : each, text]);
  return { source, path, files: Object.fromEntries(renamed) };
}

/**
 * Remove a file. If it is the script, a different file becomes the script. A script without further files has no path.
 * @param {Paste} paste @param {string} path @returns {Paste}
 */
export function withoutFile(paste, path) {
  const moved = path === paste.path ? movedScript(paste, chosenScript(paste.files) ?? "") : paste;
  const { [path]: _removed, ...files } = moved.files;
  return { source: moved.source, path: Object.keys(files).length ? moved.path : "", files };
}

/** Why a file cannot have this path; "": it can. @param {Paste} paste @param {string} from its path now @param {string} to */
export function pathProblem(paste, from, to) {
  if (!PATH.test(to) || to.length > LONGEST_PATH) return "Write a path such as kernels/softmax.py.";
  return to !== from && pathsOf(paste).includes(to) ? "Another file has this path." : "";
}

/**
 * Return the assumed numbers for lines of a file after an edit of the file. Lines before and behind the change keep
 * their numbers; changed lines keep their numbers if the change adds and removes no lines.
 * @param {Record<string, number>} assumed by places: "12", and "tools.py:3" for a file beside the script
 * @param {string} path of the file; "": the script @param {string} before @param {string} after
 * @returns {Record<string, number>}
 */
export function movedAssumed(assumed, path, before, after) {
  if (Object.keys(assumed).length === 0) return assumed;
  const [old, now] = [before.split("\n"), after.split("\n")];
  const shorter = Math.min(old.length, now.length);
  let same = 0;
  while (same < shorter && old[same] === now[same]) same += 1;
  let behind = 0;
  while (behind < shorter - same && old[old.length - 1 - behind] === now[now.length - 1 - behind])
    behind += 1;
  const moved = Object.entries(assumed).flatMap(([place, number]) => {
    const [, file = "", line = ""] = /^(?:(.+):)?(\d+)$/.exec(place) ?? [];
    const at = Number(line);
    if (file !== path || at <= same) return [[place, number]];
    if (at <= old.length - behind) return old.length === now.length ? [[place, number]] : [];
    const name = String(at + now.length - old.length);
    return [[file ? `${file}:${name}` : name, number]];
  });
  return Object.fromEntries(moved);
}
