/**
 * Which of the dropped files are sent to the server as captures, caches, dumps, traces, logs or cubins, and which of
 * them together. Paths are those below the folder that was dropped.
 *
 * @typedef {"capture" | "kernels" | "traces"} ImportKind a folder of `triton-explorer capture`, a folder with
 *   folders of kernels, or files that are read one by one
 */

const TRACE = /^[^/]+\.(?:(?:ndjson|log)(?:\.gz)?|cubin)$/;
const KERNEL = /^(?:[^/]+\/)?(?:__grp__[^/]+\.json|[^/]+\.ttgir)$/;
/** Triton's cache has libraries, too, which nobody reads. */
const NOT_SENT = /\.(?:so|o|py|pyc)$/;

/** Return the kind of the files; null: they cannot be imported. @param {string[]} paths @returns {ImportKind | null} */
export function importKind(paths) {
  const isScript = (/** @type {string} */ path) => path.endsWith(".py");
  if (paths.includes("capture.json")) return "capture";
  if (paths.some((path) => isScript(path) && !path.includes("/"))) return null;
  if (paths.some((path) => KERNEL.test(path))) return "kernels";
  if (paths.some(isScript)) return null;
  const isText = paths.length === 1 && /^[^/]+\.txt$/.test(paths[0] ?? "");
  return isText || paths.some((path) => TRACE.test(path)) ? "traces" : null;
}

/**
 * Group files by kernel, or by trace. The files of a capture are grouped with the texts of their stages.
 * @param {ImportKind} kind @param {string[]} paths @returns {string[][]}
 */
export function groupsOf(kind, paths) {
  const sorted = [...paths].sort();
  if (kind === "traces")
    return sorted.filter((path) => paths.length === 1 || TRACE.test(path)).map((path) => [path]);
  if (kind === "capture")
    return sorted.filter((path) => /^kernels\/[^/]+\.json$/.test(path)).map((path) => [path]);
  const folders = new Set(sorted.filter((path) => KERNEL.test(path)).map(folderOf));
  return [...folders].map((folder) =>
    sorted.filter((path) => folderOf(path) === folder && !NOT_SENT.test(path)),
  );
}

/**
 * Groups in their order, as many at once as have a number of bytes together.
 * @template Group
 * @param {Group[]} groups @param {(group: Group) => number} bytesOf @param {number} mostBytes @param {number} most
 * @returns {Group[][]}
 */
export function partsOf(groups, bytesOf, mostBytes, most) {
  /** @type {Group[][]} */
  const parts = [];
  let bytes = 0;
  for (const group of groups) {
    const last = parts.at(-1);
    bytes += bytesOf(group);
    if (last && last.length < most && bytes <= mostBytes) last.push(group);
    else {
      parts.push([group]);
      bytes = bytesOf(group);
    }
  }
  return parts;
}

/** The paths below the folder that all of them are in. @param {string[]} paths */
export function withoutFolder(paths) {
  const folder = /^[^/]+\//.exec(paths[0] ?? "")?.[0] ?? "";
  return folder && paths.every((path) => path.startsWith(folder))
    ? paths.map((path) => path.slice(folder.length))
    : paths;
}

/** @param {string} path */
function folderOf(path) {
  return path.slice(0, path.lastIndexOf("/") + 1);
}
