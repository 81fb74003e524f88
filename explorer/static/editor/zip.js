/**
 * Unpacks the Python files of a zip archive, within limits, since archives are not trusted.
 *
 * @import { Limits } from "./added_files.js"
 */
import { unzipSync } from "fflate";

const MOST_ARCHIVE_BYTES = 64 * 1024 * 1024;
const MOST_ENTRIES = 20_000;

/** Why an archive is refused, in words for the user. */
class Refused extends Error {}

/** @param {File} archive @param {Limits} limits @returns {Promise<Record<string, string>>} texts by their paths */
export async function unpack(archive, limits) {
  if (archive.size > MOST_ARCHIVE_BYTES)
    throw new Refused(
      `${archive.name} has ${number(archive.size)} bytes; the limit of a zip archive is ${number(MOST_ARCHIVE_BYTES)}.`,
    );
  return pythonFiles(archive.name, new Uint8Array(await archive.arrayBuffer()), limits);
}

/**
 * @param {string} name of the archive @param {Uint8Array} data @param {Limits} limits
 * @returns {Record<string, string>}
 */
export function pythonFiles(name, data, limits) {
  let entries = 0;
  let unpacked = 0;
  let packed = 0;
  /** @type {Set<string>} */
  const taken = new Set();
  try {
    const files = unzipSync(data, {
      // Called before an entry is unpacked, which never exceeds the size that the archive claims for it.
      filter: ({ name: path, size, originalSize }) => {
        entries += 1;
        if (entries > MOST_ENTRIES)
          throw new Refused(
            `${name} has more than ${number(MOST_ENTRIES)} entries. Pack the Python files only.`,
          );
        if (!isPython(path)) return false;
        if (path.startsWith("/") || path.includes("\\") || path.split("/").includes(".."))
          throw new Refused(
            `${name} has a file outside of its folder: ${path.slice(0, 100)}. Pack the folder again.`,
          );
        if (taken.has(path))
          throw new Refused(
            `${name} has two files with the path ${path.slice(0, 100)}. Pack the folder again.`,
          );
        taken.add(path);
        unpacked += Math.max(size, originalSize);
        packed += size;
        if (taken.size > limits.files + 1)
          throw new Refused(`${name} has more than ${number(limits.files + 1)} Python files. Pack fewer.`);
        if (unpacked > limits.bytes)
          throw new Refused(
            `The Python files of ${name} have more than ${number(limits.bytes)} bytes, which is the limit. Pack fewer.`,
          );
        if (packed > data.length)
          throw new Refused(`${name} is damaged: its entries overlap. Pack the folder again.`);
        return true;
      },
    });
    const decoder = new TextDecoder();
    return Object.fromEntries(
      Object.entries(files).map(([path, bytes]) => [path, decoder.decode(bytes).replace(/\r\n?/g, "\n")]),
    );
  } catch (error) {
    if (error instanceof Refused) throw error;
    throw new Refused(
      `${name} cannot be unpacked: it is damaged, encrypted or no zip archive. Pack the folder again.`,
    );
  }
}

/** Whether a path is that of a Python file that is not hidden. @param {string} path */
function isPython(path) {
  return path.endsWith(".py") && !path.split("/").some((part) => /^\.(?!\.$)|^__MACOSX$/.test(part));
}

/** @param {number} value */
function number(value) {
  return value.toLocaleString("en");
}
