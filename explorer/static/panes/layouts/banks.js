/**
 * Shared memory by banks: a row for every 128 (or 256) bytes, a column for each bank of 4 bytes.
 *
 * @import { Grid, Picture } from "./grid.js"
 * @import { LinearLayout } from "./linear_layout.js"
 * @import { SharedAccess } from "../../core/types.js"
 * @import { Told } from "./pictures.js"
 */
import { plural } from "../../core/format.js";
import { cellColor } from "./colors.js";
import { inBrackets } from "./linear_layout.js";

const BANK_BYTES = 4;
/** Swizzles exchange pieces of this size. */
const PIECE_BYTES = 16;
/** As many fill the banks, and have a color each. */
const PIECES = 8;

/**
 * @param {LinearLayout} layout
 * @param {number} bits of an element
 * @param {number} banks
 * @param {SharedAccess | null} access
 * @param {Grid} grid @param {(told: Told | null) => void} tell
 * @returns {{picture: Picture, warned: number[]}}
 */
export function banksPicture(layout, bits, banks, access, grid, tell) {
  const elementBytes = Math.max(bits, 8) / 8;
  /** @type {Map<number, number[]>} elements by word */
  const words = new Map();
  layout.elements.forEach((element, place) => {
    if (layout.part(place, "block")) return;
    const byte = layout.padded(layout.part(place, "offset")) * elementBytes;
    for (let word = Math.floor(byte / BANK_BYTES); word * BANK_BYTES < byte + elementBytes; word += 1) {
      const held = words.get(word);
      if (held) held.push(element);
      else words.set(word, [element]);
    }
  });
  const rows = Math.max(1, Math.ceil((Math.max(0, ...words.keys()) + 1) / banks));
  // The dimension along which neighbors lie beside each other.
  const along = layout.coordinates(layout.elements[1] ?? 0).findIndex(Boolean);
  const piece = (/** @type {number} */ element) =>
    Math.floor(((layout.coordinates(element)[along] ?? 0) * elementBytes) / PIECE_BYTES);
  const groups = access ? wavefrontsOf(access, banks) : [];
  /** @type {Map<number, {lanes: number[], group: number}>} by word */
  const touched = new Map();
  /** @type {number[]} */
  const warned = [];
  groups.forEach(({ lanes, byBank }, group) => {
    for (const { lane, word } of lanes) {
      const known = touched.get(word);
      if (known) known.lanes.push(lane);
      else touched.set(word, { lanes: [lane], group });
    }
    for (const used of byBank.values()) if (used.size > 1) warned.push(...used);
  });
  /** @type {Picture} */
  const picture = {
    rows,
    columns: banks,
    rowTitle: `row of ${banks * BANK_BYTES} bytes`,
    columnTitle: access ? "bank" : `bank; one color is ${PIECE_BYTES} bytes of a row`,
    largest: 60,
    scrolls: true,
    label: `Shared memory by banks${access ? `, with the lanes of ${access.operation}` : ""}`,
    color: (row, column) => {
      const word = row * banks + column;
      const lane = touched.get(word);
      if (access)
        return lane
          ? cellColor(lane.group, Math.max(groups.length, 3), 0.9)
          : words.has(word)
            ? cellColor(0, 1, 0.05)
            : 0;
      const element = words.get(word)?.[0];
      return element === undefined ? 0 : cellColor(piece(element) % PIECES, PIECES, 0.8);
    },
    text: (row, column) => {
      const word = row * banks + column;
      if (access)
        return (
          touched
            .get(word)
            ?.lanes.map((lane) => `L${lane}`)
            .join(" ") ?? ""
        );
      const element = words.get(word)?.[0];
      return element === undefined ? "" : layout.coordinates(element).join(",");
    },
    point: (row, column) => {
      const word = row * banks + column;
      if (row < 0) {
        grid.light([], "");
        tell(null);
        return;
      }
      const held = words.get(word) ?? [];
      const lane = touched.get(word);
      const title = `Bank ${column}, byte ${(word * BANK_BYTES).toLocaleString("en")}: ${held.length ? held.map((element) => inBrackets(layout.coordinates(element))).join(" ") : "padding"}.`;
      const lines = lane
        ? [
            `Used by ${plural(lane.lanes.length, "lane")} (${lane.lanes.join(", ")}) in wavefront ${lane.group + 1} of ${groups.length}.`,
          ]
        : [];
      const same = lane ? [...(groups[lane.group]?.byBank.get(column) ?? [])] : [word];
      if (lane && same.length > 1)
        lines.push(
          `${plural(same.length, "word")} of this bank are wanted in the same wavefront: it takes ${same.length} times as long.`,
        );
      grid.light(same, `${title} ${lines.join(" ")}`);
      tell({ title, lines, list: [] });
    },
    choose: () => undefined,
  };
  return { picture, warned };
}

/**
 * The lanes of one instruction in the groups in which they are served, with the words of each bank.
 * @param {SharedAccess} access
 * @param {number} banks
 */
function wavefrontsOf(access, banks) {
  const { offsets_bytes: offsets, vector_bytes: vector, least_wavefronts: least } = access;
  const size = Math.max(1, offsets.length / (least || 1));
  return Array.from({ length: least || 0 }, (_, group) => {
    /** @type {{lane: number, word: number}[]} */
    const lanes = [];
    /** @type {Map<number, Set<number>>} */
    const byBank = new Map();
    for (let lane = group * size; lane < (group + 1) * size; lane += 1) {
      const offset = offsets[lane] ?? 0;
      for (
        let word = Math.floor(offset / BANK_BYTES);
        word * BANK_BYTES < offset + (vector ?? BANK_BYTES);
        word += 1
      ) {
        lanes.push({ lane, word });
        const bank = word % banks;
        byBank.set(bank, (byBank.get(bank) ?? new Set()).add(word));
      }
    }
    return { lanes, byBank };
  });
}
