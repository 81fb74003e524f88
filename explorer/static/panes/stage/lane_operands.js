/**
 * The operands of an instruction that name lanes of the warp: which lanes take part, and which lane a value is
 * from.
 */
import { plural } from "../../core/format.js";

const LANES = 32;
const ALL = 0xffffffff;
const NUMBER = /^-?(?:0x[0-9a-f]+|\d+)$/i;

/** @typedef {{word: string, text: string}} Operand */

/** Instructions of PTX whose last operand is the mask of the lanes that take part. */
const WITH_MASK = /^(?:shfl|vote|match(?:\.\w+)?|redux|elect|bar\.warp)\.sync\b/;
const INSTRUCTION_OF_PTX = /^\s*(?:\{\s*)?(?:@!?%\w+\s+)?(?<opcode>[a-z][\w.:]*)\s+(?<operands>[^;]*);/;
const INSTRUCTION_OF_SASS = /\*\/\s+(?:@!?U?P\w+\s+)?(?<opcode>[A-Z][\w.]*)\s+(?<operands>[^;]*?)\s*;/;
const EXEC_OF_AMDGCN =
  /^\s+s_(?:\w+_saveexec_b(?:32|64)\s+.*|\w+_b(?:32|64)\s+exec(?:_lo)?,.*)(?<=,\s*)(?<mask>-1)\s*(?:[;/].*)?$/;

/**
 * @param {string} line
 * @param {string} language
 * @returns {Operand[]} in the order of the line
 */
export function laneOperands(line, language) {
  if (language === "amdgcn") {
    return EXEC_OF_AMDGCN.test(line)
      ? [{ word: "-1", text: "The mask of lanes: all lanes of the wave." }]
      : [];
  }
  if (language === "ptx") return ofPtx(INSTRUCTION_OF_PTX.exec(line)?.groups ?? {});
  return language === "sass" ? ofSass(INSTRUCTION_OF_SASS.exec(line)?.groups ?? {}) : [];
}

/** @param {Record<string, string>} instruction @returns {Operand[]} */
function ofPtx({ opcode = "", operands: text = "" }) {
  if (!WITH_MASK.test(opcode)) return [];
  const operands = text.split(",").map((each) => each.trim());
  const mask = operands.at(-1) ?? "";
  const taking = { word: mask, text: maskWords(mask) };
  const mode = /^shfl\.sync\.(\w+)/.exec(opcode)?.[1];
  return mode && operands.length === 5
    ? [...shuffle(mode, operands[2] ?? "", operands[3] ?? ""), taking]
    : [taking];
}

/** @param {Record<string, string>} instruction @returns {Operand[]} */
function ofSass({ opcode = "", operands: text = "" }) {
  const operands = text.split(",").map((each) => each.trim());
  const mode = /^SHFL\.(\w+)/.exec(opcode)?.[1];
  if (mode && operands.length === 5) return shuffle(mode.toLowerCase(), operands[3] ?? "", operands[4] ?? "");
  const mask = opcode === "WARPSYNC" ? (operands.at(-1) ?? "") : "";
  return NUMBER.test(mask) ? [{ word: mask, text: maskWords(mask) }] : [];
}

/**
 * The lane that a shuffle reads from, and within which lanes.
 * @param {string} mode @param {string} lane @param {string} bounds
 * @returns {Operand[]}
 */
function shuffle(mode, lane, bounds) {
  const count = number(lane) ?? lane;
  const from = {
    bfly: `From the lane whose number differs from this one's in the bits of ${count}.`,
    up: `From the lane whose number is lower by ${count}.`,
    down: `From the lane whose number is higher by ${count}.`,
    idx: `From lane ${count}.`,
  }[mode];
  const segment = number(bounds);
  return [
    ...(from ? [{ word: lane, text: from }] : []),
    ...(segment === null ? [] : [{ word: bounds, text: segmentWords(segment) }]),
  ];
}

/** The lanes that exchange values with each other. @param {number} bounds */
function segmentWords(bounds) {
  const width = LANES - ((bounds >> 8) & (LANES - 1));
  return width === LANES
    ? "Lanes exchange with any lane of the warp."
    : `Lanes exchange within segments of ${plural(width, "lane")}.`;
}

/** The lanes that take part. @param {string} mask */
function maskWords(mask) {
  const bits = number(mask);
  if (bits === null) return "The mask of the lanes that take part: one bit for each.";
  const lanes = [...Array(LANES).keys()].filter((lane) => ((bits >>> lane) & 1) === 1);
  if (bits >>> 0 === ALL)
    return "The mask of the lanes that take part: all 32 bits are set, for the whole warp.";
  const [first = 0, last = 0] = [lanes[0], lanes.at(-1)];
  const named = last - first + 1 === lanes.length ? `${first} to ${last}` : lanes.join(", ");
  return `The mask of the lanes that take part: ${lanes.length === 1 ? `lane ${first}` : `lanes ${named}`}.`;
}

/** @param {string} text @returns {number | null} null: it is no constant */
function number(text) {
  return NUMBER.test(text) ? Number(text) | 0 : null;
}
