/** Reads Python files from dropped or chosen files, folders and zip archives. */
import { toast } from "../core/dom.js";
import { store } from "../core/store.js";
import { freshDraft } from "../core/fresh_draft.js";
import { changeFiles, choose } from "../launch/edit.js";
import { openedImport } from "../session/import.js";
import { limitProblem, withoutCommonFolder } from "./added_files.js";
import { chosenScript, withFiles } from "./script_choice.js";
import { unpack } from "./zip.js";

/** @typedef {Record<string, string>} Files texts by their paths */
/** Files that are a source only as the only file: the server finds the code in them. */
const SINGLE_SOURCE = /\.(?:ipynb|md|diff|patch)$/i;

/**
 * Replace the edited files by the dropped files. A capture, a cache or a trace opens its session.
 * @param {(FileSystemEntry | File)[]} entries
 */
export async function replaceByEntries(entries) {
  if (await openedImport(entries)) return;
  const found = await taken(async (files) => {
    for (const entry of entries) await readEntry(entry, files, entries.length === 1);
  });
  if (found) replace(found);
}

/**
 * Add files to the files of the script. In an empty editor, they are the only files. A capture, a cache or a trace
 * opens its session.
 * @param {File[]} files
 */
export async function addFiles(files) {
  if (await openedImport(files)) return;
  const { draft, sourceLimits } = store.state;
  const isEmpty = !draft.source.trim() && Object.keys(draft.files).length === 0;
  const found = await taken(async (all) => {
    for (const file of files)
      await readFile(file, file.webkitRelativePath || file.name, all, isEmpty && files.length === 1);
  });
  if (!found) return;
  if (isEmpty) {
    replace(found);
    return;
  }
  const all = withFiles(draft, found);
  const problem = limitProblem({ ...all.files, [all.path]: all.source }, sourceLimits);
  if (problem) toast(problem);
  else changeFiles(all, Object.keys(found).sort()[0] ?? "");
}

/** @param {Files} found */
function replace(found) {
  const script = chosenScript(found) ?? "";
  const { target, triton } = store.state.draft;
  const { [script]: source = "", ...files } = found;
  const path = Object.keys(files).length ? script : "";
  store.update({ openFile: "" });
  choose(freshDraft(source, target, { triton, path, files }));
}

/**
 * Return the Python files that `read` finds, named relative to their common folder. Show a problem and return null if
 * reading fails.
 * @param {(files: Files) => Promise<void>} read @returns {Promise<Files | null>}
 */
async function taken(read) {
  /** @type {Files} */
  const found = {};
  try {
    await read(found);
  } catch (error) {
    toast(error instanceof Error ? error.message : "The files cannot be read.");
    return null;
  }
  if (Object.keys(found).length === 0) {
    toast("There is no Python file among them.");
    return null;
  }
  return withoutCommonFolder(found);
}

/** @param {FileSystemEntry | File} entry @param {Files} found @param {boolean} [isOnly] whether there is no other */
async function readEntry(entry, found, isOnly = false) {
  // Chromium has no global names of these interfaces.
  if (entry instanceof File) return readFile(entry, entry.name, found, isOnly);
  if (entry.isDirectory) {
    const reader = /** @type {FileSystemDirectoryEntry} */ (entry).createReader();
    for (;;) {
      /** @type {FileSystemEntry[]} */
      const part = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
      if (part.length === 0) return;
      for (const each of part) if (!each.name.startsWith(".")) await readEntry(each, found);
    }
  }
  if (!isTaken(entry.name, isOnly)) return;
  /** @type {File} */
  const file = await new Promise((resolve, reject) =>
    /** @type {FileSystemFileEntry} */ (entry).file(resolve, reject),
  );
  return readFile(file, entry.fullPath.replace(/^\/+/, ""), found, isOnly);
}

/** @param {string} name @param {boolean} isOnly */
function isTaken(name, isOnly) {
  return /\.(?:py|zip)$/i.test(name) || (isOnly && SINGLE_SOURCE.test(name));
}

/** @param {File} file @param {string} path @param {Files} found @param {boolean} isOnly whether there is no other */
async function readFile(file, path, found, isOnly) {
  const limits = store.state.sourceLimits;
  if (!isTaken(path, isOnly) || path.split("/").some((part) => part.startsWith("."))) return;
  if (/\.zip$/i.test(path)) Object.assign(found, await unpack(file, limits));
  else {
    if (file.size > limits.bytes)
      throw new Error(
        `${path} has ${file.size.toLocaleString("en")} bytes; the limit is ${limits.bytes.toLocaleString("en")}.`,
      );
    found[path] = (await file.text()).replace(/\r\n?/g, "\n");
  }
  const problem = limitProblem(found, limits);
  if (problem) throw new Error(problem);
}
