/**
 * Sends dropped or chosen files to the server, which reads them, and opens the session of their kernels: a capture,
 * Triton's cache, a dump, a trace of tritonparse, a log of PyTorch's compiler, or a cubin.
 *
 * @import { ImportKind } from "./upload_parts.js"
 * @import { ImportDocument } from "../core/types.js"
 *
 * @typedef {FileSystemEntry | File} Dropped
 * @typedef {Map<string, () => Promise<File>>} Found files by their paths
 * @typedef {Map<string, File>} Files
 * @typedef {{name: string, file: string, count: number, read: () => Promise<Blob>}} Upload a request for `count`
 *   kernels or traces, the first of which is `name`; `file` is the name of what `read` returns
 */
import { unzipSync, zipSync } from "fflate";
import { ApiError, api } from "../core/api.js";
import { toast } from "../core/dom.js";
import { groupsOf, importKind, partsOf, withoutFolder } from "./upload_parts.js";

const MOST_FILES = 200_000;
const DEEPEST = 2;
const MOST_FILE_BYTES = 60 << 20;
const PART_BYTES = 4 << 20;
const PART_GROUPS = 50;
const MOST_KERNELS = 5000;
const MOST_PROBLEMS = 100;
const LONGEST_TEXT = 200;
const LONGEST_REASON = 1000;
const DIGEST = /"([0-9a-f]{64})"/g;

/**
 * Open the session of dropped or chosen files. Return false if they are not of a kind that can be imported.
 * @param {Dropped[]} entries @returns {Promise<boolean>}
 */
export async function openedImport(entries) {
  try {
    const [first] = entries;
    if (!first) return false;
    if (entries.length === 1 && /\.zip$/i.test(first.name)) return await openedArchive(await fileOf(first));
    const found = await listed(entries);
    const kind = importKind([...found.keys()]);
    if (!kind) return false;
    await open(nameOf(first), await uploadsOf(kind, found));
  } catch (error) {
    toast(reasonOf(error));
  }
  return true;
}

/** @param {File} archive */
async function openedArchive(archive) {
  if (archive.size > MOST_FILE_BYTES) return false;
  /** @type {string[]} */
  const paths = [];
  try {
    unzipSync(new Uint8Array(await archive.arrayBuffer()), {
      filter: ({ name }) => {
        if (!name.endsWith("/")) paths.push(name);
        return false;
      },
    });
  } catch {
    return false; // who takes scripts out of it says why
  }
  if (!importKind(paths) && !importKind(withoutFolder(paths))) return false;
  await open(archive.name, [
    { name: archive.name, file: "archive.zip", count: 1, read: async () => archive },
  ]);
  return true;
}

/**
 * Send the parts one after another, and open the session of their kernels.
 * @param {string} name @param {Upload[]} uploads
 */
async function open(name, uploads) {
  const total = uploads.reduce((sum, { count }) => sum + count, 0);
  /** @type {Map<string, ImportDocument["kernels"][number]>} */
  const kernels = new Map();
  /** @type {ImportDocument["problems"]} */
  const problems = [];
  let title = "";
  let sent = 0;
  for (const part of uploads) {
    toast(total > 1 ? `Reading ${sent + 1} to ${sent + part.count} of ${total} …` : `Reading ${name} …`);
    sent += part.count;
    try {
      const answer = await api.importFile(part.file, await part.read());
      title ||= answer.title;
      problems.push(...answer.problems);
      for (const kernel of answer.kernels) {
        const before = kernels.get(kernel.compilation);
        const launches =
          kernel.launches === null ? (before?.launches ?? null) : kernel.launches + (before?.launches ?? 0);
        kernels.set(kernel.compilation, { ...(before ?? kernel), launches });
      }
    } catch (error) {
      problems.push({
        name: part.name.slice(0, LONGEST_TEXT),
        reason: reasonOf(error).slice(0, LONGEST_REASON),
      });
    }
  }
  if (kernels.size === 0) {
    const [first] = problems;
    throw new Error(first ? `${first.name}: ${first.reason}` : `${name} has no kernels.`);
  }
  const body = { title: (title || name).slice(0, LONGEST_TEXT), kernels: [...kernels.values()] };
  const { url } = await api.createSession({ ...body, problems: problems.slice(0, MOST_PROBLEMS) });
  location.assign(url);
}

/**
 * The uploads for all files of an import.
 * @param {ImportKind} kind @param {Found} found @returns {Promise<Upload[]>}
 */
async function uploadsOf(kind, found) {
  const paths = groupsOf(kind, [...found.keys()]);
  if (paths.length > MOST_KERNELS)
    throw new Error(
      `There are more than ${MOST_KERNELS.toLocaleString("en")} kernels, the limit. Choose fewer.`,
    );
  const groups = await Promise.all(paths.map((group) => filesOf(group, found)));
  if (kind === "traces") return groups.map(traceUpload);
  const common = kind === "capture" ? await filesOf(commonPaths(found), found) : new Map();
  if (kind === "capture") await Promise.all(groups.map((group) => addStages(group, found)));
  return partsOf(groups, bytesOf, PART_BYTES, PART_GROUPS).map((part) => {
    const name = [...(part[0] ?? new Map()).keys()][0] ?? "";
    return { name, file: "part.zip", count: part.length, read: () => zipOf([common, ...part]) };
  });
}

/** @param {Files} group one file @returns {Upload} */
function traceUpload(group) {
  const [name, file] = /** @type {[string, File]} */ ([...group][0]);
  if (/\.(?:gz|cubin)$/.test(name)) return { name, file: name, count: 1, read: async () => file };
  const packed = () => new Response(file.stream().pipeThrough(new CompressionStream("gzip"))).blob();
  return { name, file: `${name.replace(/\.txt$/, ".log")}.gz`, count: 1, read: packed };
}

/** @param {Found} found */
function commonPaths(found) {
  return [...found.keys()].filter((path) => path === "capture.json" || /^processes\/[^/]+\.json$/.test(path));
}

/** Add the stages of a captured kernel, which its file names by their digests. @param {Files} group @param {Found} found */
async function addStages(group, found) {
  for (const file of [...group.values()]) {
    for (const [, digest] of (await file.text()).matchAll(DIGEST)) {
      const path = `blobs/${digest}`;
      const stage = found.get(path);
      if (stage) group.set(path, await stage());
    }
  }
}

/** @param {string[]} paths @param {Found} found @returns {Promise<Files>} */
async function filesOf(paths, found) {
  /** @type {Files} */
  const files = new Map();
  for (const path of paths) {
    const file = await found.get(path)?.();
    if (file) files.set(path, file);
  }
  return files;
}

/** @param {Files} group */
function bytesOf(group) {
  return [...group.values()].reduce((sum, { size }) => sum + size, 0);
}

/** @param {Files[]} groups */
async function zipOf(groups) {
  /** @type {Record<string, Uint8Array>} */
  const content = {};
  for (const group of groups)
    for (const [path, file] of group) {
      if (file.size > MOST_FILE_BYTES)
        throw new Error(
          `${path} has more than ${MOST_FILE_BYTES.toLocaleString("en")} bytes. Send it with triton-explorer push.`,
        );
      content[path] = new Uint8Array(await file.arrayBuffer());
    }
  return new Blob([/** @type {Uint8Array<ArrayBuffer>} */ (zipSync(content))]);
}

/**
 * Return the dropped or chosen files: the files of the only folder, else all files by their names.
 * @param {Dropped[]} entries @returns {Promise<Found>}
 */
async function listed(entries) {
  /** @type {Found} */
  const found = new Map();
  for (const entry of entries) {
    if (entry instanceof File) found.set(entry.webkitRelativePath || entry.name, async () => entry);
    else await list(entry, "", found, 0);
  }
  const paths = [...found.keys()];
  const below = withoutFolder(paths);
  return new Map(
    below.map((path, index) => [path, /** @type {() => Promise<File>} */ (found.get(paths[index] ?? ""))]),
  );
}

/** @param {FileSystemEntry} entry @param {string} folder @param {Found} found @param {number} depth */
async function list(entry, folder, found, depth) {
  const path = folder + entry.name;
  if (!entry.isDirectory) {
    found.set(path, () => fileOf(entry));
    return;
  }
  if (depth > DEEPEST) return;
  const reader = /** @type {FileSystemDirectoryEntry} */ (entry).createReader();
  for (;;) {
    /** @type {FileSystemEntry[]} */
    const part = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (part.length === 0) return;
    for (const each of part) await list(each, `${path}/`, found, depth + 1);
    if (found.size > MOST_FILES)
      throw new Error(
        `${entry.name} has more than ${MOST_FILES.toLocaleString("en")} files. Choose a folder in it.`,
      );
  }
}

/** @param {Dropped} entry @returns {Promise<File>} */
function fileOf(entry) {
  if (entry instanceof File) return Promise.resolve(entry);
  return new Promise((resolve, reject) => /** @type {FileSystemFileEntry} */ (entry).file(resolve, reject));
}

/** Return the name of a chosen file or of its folder. @param {Dropped} entry */
function nameOf(entry) {
  const path = entry instanceof File ? entry.webkitRelativePath : "";
  return path.split("/")[0] || entry.name;
}

/** @param {unknown} error */
function reasonOf(error) {
  if (error instanceof ApiError) return error.problem.detail;
  return error instanceof Error ? error.message : "The files cannot be read.";
}
