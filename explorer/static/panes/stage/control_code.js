/**
 * The control code of an instruction of SASS in words, field by field, and the instructions that scoreboards connect.
 *
 * @import { ScoreboardWait } from "../../core/types.js"
 */
import { plural } from "../../core/format.js";

const CODE =
  /^(?<waits>B[^\s:]*):(?<read>R[^\s:]*):(?<write>W[^\s:]*):(?<yields>[^\s:]*):(?<stall>S[^\s:]*)\s/;
const OPCODE = /\*\/\s+(?:@!?U?P\w+\s+)?([A-Z][\w.]*)/;
const REUSED = /\b[A-Z]+\d+(?=(?:\.\w+)*\.reuse\b)/g;
const UNKNOWN = "Unknown value.";
const MOST_NAMED = 6;

/** @typedef {{name: string, text: string}} Field */

/**
 * @typedef {object} Rail the lines of one scoreboard at a line
 * @property {string} scoreboard
 * @property {{from: number, to: number, isNearest: boolean}[]} ends from the setting to the waiting line
 * @property {boolean} isWait whether the line waits; otherwise it sets the scoreboard
 */

/** The instructions that wait for scoreboards and the instructions that set them, by line. */
export class Board {
  /** @param {ScoreboardWait[]} waits */
  constructor(waits) {
    /** @type {Map<number, ScoreboardWait[]>} by the line that waits */
    this.waits = new Map();
    /** @type {Map<number, ScoreboardWait[]>} by the line that sets */
    this.waiters = new Map();
    for (const wait of waits) {
      add(this.waits, wait.line, wait);
      for (const { line } of wait.setters) add(this.waiters, line, wait);
    }
  }

  /** The lines that wait for a scoreboard of a line. @param {number} line @param {string} scoreboard */
  linesThatWaitFor(line, scoreboard) {
    const waits = (this.waiters.get(line) ?? []).filter((wait) => wait.scoreboard === scoreboard);
    return [...new Set(waits.map((wait) => wait.line))];
  }

  /** @param {number} line @returns {Rail[]} */
  rails(line) {
    const waiting = (this.waits.get(line) ?? []).map(({ scoreboard, setters }) => ({
      scoreboard,
      ends: setters.map(({ line: from, is_nearest: isNearest }) => ({ from, to: line, isNearest })),
      isWait: true,
    }));
    /** @type {Map<string, Rail>} */
    const setting = new Map();
    for (const { line: to, scoreboard, setters } of this.waiters.get(line) ?? []) {
      const rail = setting.get(scoreboard) ?? { scoreboard, ends: [], isWait: false };
      const isNearest = setters.some((setter) => setter.line === line && setter.is_nearest);
      rail.ends.push({ from: line, to, isNearest });
      setting.set(scoreboard, rail);
    }
    return [...waiting, ...setting.values()].filter(({ ends }) => ends.length > 0);
  }
}

/** @param {Map<number, ScoreboardWait[]>} map @param {number} line @param {ScoreboardWait} wait */
function add(map, line, wait) {
  const known = map.get(line);
  if (!known) map.set(line, [wait]);
  else if (!known.includes(wait)) known.push(wait);
}

/**
 * The fields of the control code of a line.
 * @param {string[]} lines the whole text
 * @param {number} line
 * @param {Board | null} board null: the waits are not known
 * @returns {Field[]} none: the line has no control code
 */
export function controlFields(lines, line, board) {
  const text = lines[line - 1] ?? "";
  const code = CODE.exec(text)?.groups;
  if (!code) return [];
  const { waits = "", read = "", write = "", yields = "", stall = "" } = code;
  const reused = [...new Set(text.match(REUSED) ?? [])];
  return [
    { name: waits, text: waitWords(waits, lines, line, board) },
    ...operandWaits(waits, lines, line, board),
    ...(read === "R-" && write === "W-"
      ? [{ name: `${read}:${write}`, text: "Sets no scoreboard, for its operands or its result." }]
      : [
          { name: read, text: setWords(read, "operands", line, board) },
          { name: write, text: setWords(write, "result", line, board) },
        ]),
    { name: yields, text: yieldWords(yields) },
    { name: stall, text: stallWords(stall) },
    ...(reused.length
      ? [
          {
            name: ".reuse",
            text: `${list(reused)}: kept for the next instruction, which reads it from a cache.`,
          },
        ]
      : []),
  ];
}

/** @param {string} field @param {string[]} lines @param {number} line @param {Board | null} board */
function waitWords(field, lines, line, board) {
  if (!/^B(?:0|-)(?:1|-)(?:2|-)(?:3|-)(?:4|-)(?:5|-)$/.test(field)) return UNKNOWN;
  const scoreboards = field.match(/\d/g) ?? [];
  if (scoreboards.length === 0) return "Waits for no scoreboard.";
  return scoreboards
    .map((scoreboard) => {
      const found = board?.waits.get(line)?.find((wait) => wait.scoreboard === scoreboard);
      return `Waits for scoreboard ${scoreboard}${found ? `: ${setterWords(found, lines)}` : ""}.`;
    })
    .join(" ");
}

/**
 * The scoreboards that an instruction such as DEPBAR waits for by its operands.
 * @param {string} field @param {string[]} lines @param {number} line @param {Board | null} board
 * @returns {Field[]}
 */
function operandWaits(field, lines, line, board) {
  return (board?.waits.get(line) ?? [])
    .filter(({ scoreboard }) => !field.includes(scoreboard))
    .map((wait) => ({
      name: /^\d$/.test(wait.scoreboard) ? `SB${wait.scoreboard}` : wait.scoreboard,
      text: `Waits until at most ${plural(wait.at_most, "operation")} of the scoreboard ${
        wait.at_most === 1 ? "is" : "are"
      } in flight: ${setterWords(wait, lines)}.`,
    }));
}

/**
 * Name the instructions that set the scoreboard, the nearest first.
 * @param {ScoreboardWait} wait
 * @param {string[]} lines
 */
function setterWords({ line, setters }, lines) {
  if (setters.length === 0) return "no instruction has set it since the previous wait";
  const isBack = (/** @type {{line: number}} */ each) => each.line >= line;
  const ordered = [...setters].sort(
    (one, other) =>
      Number(other.is_nearest) - Number(one.is_nearest) ||
      Number(isBack(one)) - Number(isBack(other)) ||
      other.line - one.line,
  );
  /** @type {Map<string, string[]>} */
  const groups = new Map();
  for (const setter of ordered.slice(0, MOST_NAMED)) {
    const opcode = OPCODE.exec(lines[setter.line - 1] ?? "")?.[1] ?? "an instruction";
    const what = setter.use === "result" ? `the result of ${opcode}` : `${opcode} to read its operands`;
    const place = isBack(setter) ? `${setter.line} (in an earlier iteration)` : String(setter.line);
    groups.set(what, [...(groups.get(what) ?? []), place]);
  }
  const named = [...groups].map(
    ([what, places]) => `${what} in SASS ${places.length === 1 ? "line" : "lines"} ${list(places)}`,
  );
  const more = ordered.length - MOST_NAMED;
  return list(more > 0 ? [...named, plural(more, "other instruction")] : named);
}

/** @param {string} field @param {"operands" | "result"} use @param {number} line @param {Board | null} board */
function setWords(field, use, line, board) {
  const scoreboard = field.slice(1);
  if (scoreboard === "-") return `Sets no scoreboard for its ${use}.`;
  if (!/^[0-5]$/.test(scoreboard)) return UNKNOWN;
  const until = use === "result" ? "its result is written" : "its operands are read";
  const waiting = board?.linesThatWaitFor(line, scoreboard) ?? [];
  const named = waiting.slice(0, MOST_NAMED).map(String);
  const more = waiting.length - named.length;
  const who = list(more > 0 ? [...named, `${more} more`] : named);
  const waiters = waiting.length
    ? ` ${waiting.length === 1 ? `SASS line ${who} waits` : `SASS lines ${who} wait`} for it.`
    : "";
  return `Sets scoreboard ${scoreboard} until ${until}.${waiters}`;
}

/** @param {string} field */
function yieldWords(field) {
  if (field === "-") return "Does not yield: the scheduler continues with this warp if it can.";
  return field === "Y" ? "Yields: the scheduler prefers another warp for the next instruction." : UNKNOWN;
}

/** @param {string} field */
function stallWords(field) {
  const cycles = Number(/^S(\d\d)$/.exec(field)?.[1] ?? Number.NaN);
  if (!(cycles <= 15)) return UNKNOWN;
  if (cycles === 0) return "Gives no number of cycles until the next instruction.";
  return `The warp issues its next instruction after ${plural(cycles, "cycle")} at the earliest.`;
}

/** @param {string[]} words */
function list(words) {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}
