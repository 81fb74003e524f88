/**
 * A bar beside each line of machine code: how many registers are live there.
 *
 * @import { RegistersDocument } from "../../core/types.js"
 */
import { plural } from "../../core/format.js";

/** @typedef {{share: number, isMost: boolean, words: string}} Reading of a line; the share is of the most */

/** @param {RegistersDocument} document @returns {Map<number, Reading>} by line */
export function readingsOf({ instructions, most_general: most }) {
  if (!most) return new Map();
  return new Map(
    instructions.map(({ line, general, spill }) => {
      const isMost = general === most;
      const words = [plural(general, "live register"), isMost && "the most", spill && `spill ${spill}`];
      return [line, { share: general / most, isMost, words: words.filter(Boolean).join(", ") }];
    }),
  );
}

/** @param {HTMLElement} element @param {Reading | undefined} reading */
export function drawGauge(element, reading) {
  element.title = reading?.words ?? "";
  element.classList.toggle("is-most", reading?.isMost ?? false);
  element.style.setProperty("--share", `${Math.round((reading?.share ?? 0) * 100)}%`);
}
