/**
 * The lanes of one instruction of a warp in steps: which sectors of global memory, or banks of shared memory, each
 * lane needs, and the bytes that are moved and used up to each step.
 *
 * The hardware serves the lanes of a wavefront at once. The steps are for the reader.
 */

const SECTOR_BYTES = 32;
const BANK_BYTES = 4;

/**
 * @typedef {object} Step one lane
 * @property {number} lane
 * @property {number} range of sectors: the contiguous range of addresses that it is in, from 0
 * @property {number} base where its range begins in `from` and `to`
 * @property {number} from its first byte
 * @property {number} to the byte after its last
 * @property {number[]} cells the sectors or banks that it needs
 * @property {number} wavefront from 0
 * @property {number} moved bytes that were moved up to here
 * @property {number} used bytes that lanes asked for up to here, each counted once
 * @property {number} depth of banks: the most words that one bank serves in this wavefront up to here
 *
 * @typedef {object} Motion
 * @property {"sector" | "bank"} unit
 * @property {number} cells how many there are
 * @property {number[]} starts the cells that follow a gap
 * @property {boolean} isKnown whether the gaps are known: no lane needs the cells in them
 * @property {number} cellBytes
 * @property {number} wavefronts
 * @property {Step[]} steps
 */

/**
 * Global memory: a sector is moved as a whole when the first lane needs it.
 * @param {readonly number[]} offsets the first byte of each lane, in the sectors of all ranges
 * @param {readonly number[]} ranges the contiguous range of addresses of each lane
 * @param {number} bytes of a lane
 * @param {boolean} isKnown whether the launch determines the distances between the ranges
 * @returns {Motion}
 */
export function sectorMotion(offsets, ranges, bytes, isKnown) {
  /** @type {number[]} the first sector of each range */
  const first = [];
  offsets.forEach((from, lane) => {
    const range = ranges[lane] ?? 0;
    first[range] = Math.min(first[range] ?? Number.POSITIVE_INFINITY, Math.floor(from / SECTOR_BYTES));
  });
  /** @type {Set<number>} */
  const sectors = new Set();
  /** @type {Set<number>} */
  const used = new Set();
  const steps = offsets.map((from, lane) => {
    const cells = cellsOf(from, bytes, SECTOR_BYTES);
    for (const cell of cells) sectors.add(cell);
    for (let byte = from; byte < from + bytes; byte += 1) used.add(byte);
    const moved = sectors.size * SECTOR_BYTES;
    const range = ranges[lane] ?? 0;
    const base = (first[range] ?? 0) * SECTOR_BYTES;
    return {
      lane,
      range,
      base,
      from,
      to: from + bytes,
      cells,
      wavefront: 0,
      moved,
      used: used.size,
      depth: 1,
    };
  });
  return {
    unit: "sector",
    cells: Math.max(0, ...sectors) + 1,
    starts: first.slice(1),
    isKnown,
    cellBytes: SECTOR_BYTES,
    wavefronts: 1,
    steps,
  };
}

/**
 * Shared memory: in a wavefront, a bank serves one word after the other; lanes that need the same word share it.
 * @param {{offsets_bytes: readonly number[], vector_bytes: number | null, least_wavefronts: number | null,
 *   banks: number | null}} access
 * @returns {Motion | null} null: nothing is known of the lanes
 */
export function bankMotion({ offsets_bytes: offsets, vector_bytes: vector, least_wavefronts: least, banks }) {
  if (!offsets.length || !vector || !least || !banks) return null;
  const size = Math.max(1, offsets.length / least);
  /** @type {Set<number>} */
  let words = new Set();
  /** @type {Set<number>} */
  const used = new Set();
  let before = 0;
  const steps = offsets.map((from, lane) => {
    const wavefront = Math.floor(lane / size);
    if (lane > 0 && lane % size === 0) {
      before += words.size * BANK_BYTES;
      words = new Set();
    }
    const own = cellsOf(from, vector, BANK_BYTES);
    for (const word of own) words.add(word);
    for (let byte = from; byte < from + vector; byte += 1) used.add(byte);
    /** @type {Map<number, number>} */
    const depths = new Map();
    for (const word of words) depths.set(word % banks, (depths.get(word % banks) ?? 0) + 1);
    return {
      lane,
      range: 0,
      base: 0,
      from,
      to: from + vector,
      cells: [...new Set(own.map((word) => word % banks))],
      wavefront,
      moved: before + words.size * BANK_BYTES,
      used: used.size,
      depth: Math.max(...depths.values()),
    };
  });
  return {
    unit: "bank",
    cells: banks,
    starts: [],
    isKnown: true,
    cellBytes: BANK_BYTES,
    wavefronts: least,
    steps,
  };
}

/** Describe a step. @param {Motion} motion @param {number} index */
export function stepWords({ unit, starts, steps, wavefronts }, index) {
  const step = steps[index];
  if (!step) return "";
  const { lane, range, base, cells, wavefront, moved, used, depth } = step;
  const [from, to] = [step.from - base, step.to - base];
  const [first, last] = [cells[0], cells.at(-1)];
  const where = first === last ? `${unit} ${first}` : `${unit}s ${first} to ${last}`;
  const bytes = to - from === 1 ? `byte ${from}` : `bytes ${from} to ${to - 1}`;
  if (unit === "sector")
    return `Lane ${lane}: ${bytes}${starts.length ? ` of range ${range + 1}` : ""}, ${where}. Moved ${moved} B, used ${used} B (${Math.round((100 * used) / moved)} %).`;
  const time = depth > 1 ? ` A bank serves ${depth} words: it takes ${depth} times as long.` : "";
  return `Lane ${lane}: ${bytes}, ${where}. Wavefront ${wavefront + 1} of ${wavefronts}.${time}`;
}

/** @param {number} from @param {number} bytes @param {number} size */
function cellsOf(from, bytes, size) {
  const first = Math.floor(from / size);
  const last = Math.floor((from + bytes - 1) / size);
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}
