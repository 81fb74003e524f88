/**
 * Bytes and sectors in words.
 *
 * @import { Counts, OperationCount } from "../core/types.js"
 */
import { digits, exact, percent } from "../core/numbers.js";

export const SECTOR_BYTES = 32;

/**
 * The requested share of the bytes of the sectors; more than 1 if several lanes request the same bytes.
 * @param {Pick<OperationCount, "requested_bytes" | "sectors">} count
 */
export function usedShare({ requested_bytes: bytes, sectors }) {
  return sectors ? bytes / (sectors * SECTOR_BYTES) : 0;
}

/** @param {number} bytes */
export function bytesWords(bytes) {
  return `${exact(bytes)} bytes`;
}

/** @param {number} sectors @param {number} bytes */
export function sectorsWords(sectors, bytes) {
  if (!sectors) return "";
  const share = usedShare({ requested_bytes: bytes, sectors });
  const used = share > 1 ? `each byte requested ${digits(share)} times` : `${percent(share)} used`;
  return `in ${exact(sectors)} sectors, ${used}`;
}

/** @param {number} count @param {number} bytes */
export function perByte(count, bytes) {
  return bytes ? `${digits(count / bytes)} for each requested byte` : "";
}

/**
 * A count of some programs, extrapolated to the grid; "" if all programs were counted.
 * @param {number} count @param {Pick<Counts, "programs" | "grid_programs">} counts @param {string} unit
 */
export function wholeWords(count, { programs, grid_programs: all }, unit) {
  if (programs >= all || !programs) return "";
  return `extrapolated: ${digits((count * all) / programs)}${unit} in all ${exact(all)} programs`;
}
