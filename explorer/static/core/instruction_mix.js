/**
 * The titles of the rows of an instruction mix.
 *
 * @import { MixRow } from "./types.js"
 */

/** The title of memory accesses: "load global, 128 bits". @param {MixRow} row */
export function accessTitle({ direction, space, bits }) {
  return `${direction} ${space}${bits ? `, ${bits} bits` : ""}`;
}
