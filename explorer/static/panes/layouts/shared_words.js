/**
 * An access to shared memory in words.
 *
 * @import { Emitted, SharedAccess } from "../../core/types.js"
 */

/** @param {SharedAccess} access */
export function sharedWords({ conflicts, source, vector_bytes: bytes, operation, emitted: made }) {
  const isLoad = operation === "ttg.local_load";
  const each = `Each lane ${isLoad ? "reads" : "writes"} ${bytes ?? "?"} bytes at once`;
  if (conflicts === null) return `${each}.`;
  const instead = insteadWords(made, isLoad);
  return conflicts === 0
    ? `${each}; no two lanes of a wavefront want different words of one bank.${instead}`
    : `${each}; words of one bank are wanted together: every wavefront takes ${conflicts + 1} times as long (${source === "compiler" ? "the compiler counts it" : "modelled"}).${instead}`;
}

/** Instructions that move a tile for the whole warp, and what they do. @type {[RegExp, boolean, string][]} */
const WARP_ACCESSES = [
  [/^ldmatrix/, true, "loads rows of 16 bytes for the whole warp"],
  [/^stmatrix/, false, "stores rows of 16 bytes for the whole warp"],
  [/^ds_(?:read|load)_(?:\w+_)?tr\d*_/, true, "loads a tile for the whole wave and transposes it"],
];

/** Return the special instructions of an access. @param {Emitted[]} made @param {boolean} isLoad */
function insteadWords(made, isLoad) {
  for (const { name } of made) {
    const found = WARP_ACCESSES.find(([pattern, loads]) => loads === isLoad && pattern.test(name));
    if (found) return ` That is for plain accesses; this one uses ${name.split(".")[0]}, which ${found[2]}.`;
  }
  return "";
}
