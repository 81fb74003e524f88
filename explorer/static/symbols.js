/**
 * The names in a stage's text: values, registers, blocks, functions; where each is written and used.
 *
 * In: the lines of the whole text, their outline, a name under the cursor. Out: all its occurrences.
 * SSA names are told apart by the region they belong to; registers are not SSA, so that each write counts.
 *
 * @import { Outline } from "./outline.js"
 */
import { familyOf } from "./outline.js";

/**
 * @typedef {object} Name a name in a line
 * @property {number} from column, from 0
 * @property {number} to
 * @property {string} key the same for all that may mean the same
 * @property {string} label as people say it
 * @property {number} low first register of a range; 0 of other names
 * @property {number} high
 *
 * @typedef {Name & {line: number, isDefinition: boolean}} Occurrence
 */

const NAMES = {
  mlir: /(?<value>%[\w$.-]+)(?:#\d+|:\d+(?=\s*[=,]))?|\^[\w$.-]+|@(?:[\w$.-]+|"[^"]*")|#[A-Za-z_][\w$]*(?![\w$.])/g,
  llir: /^(?<label>[\w$.-]+|"[^"]*")(?=:)|[%@](?:[\w$.-]+|"[^"]*")|![\d]+\b|#\d+\b/g,
  ptx: /%(?:r[dsh]?|f[d]?|p|rq|b|h)\d+\b|\$L[\w$]+|\b[A-Za-z_]\w*_param_\d+\b/g,
  sass: /(?<![\w.$])(?<family>U?[RP]|S?B)(?<low>\d+)\b|\.L[\w$]+(?!\.)/g,
  amdgcn: /\b(?<family>[sva])(?:(?<low>\d+)|\[(?<first>\d+):(?<last>\d+)\])(?![\w:])|\b(?:vcc|exec|scc|m0|vcc_lo|vcc_hi|exec_lo|exec_hi)\b|\.L[\w$]+/g,
};
/** Instructions that write nothing: their first operand is read. */
const WRITES_NOTHING = {
  ptx: /^\s*(?:@!?%p\d+\s+)?(?:st|bra|bar|barrier|ret|red|cp|wgmma\.(?:fence|commit|wait)|mbarrier\.(?:init|inval)|fence|membar|nanosleep|prefetch|stmatrix|trap|tcgen05\.(?:st|cp|mma|commit)|griddepcontrol|setmaxnreg)\b/,
  sass: /^(?:ST|BRA|BAR|EXIT|RET|NOP|RED|MEMBAR|DEPBAR|WARPSYNC|BSYNC|ERRBAR|CCTL|UTMA|SYNCS|LDGSTS|LDGDEPBAR|FENCE|CALL|NANOSLEEP|BPT)/,
  amdgcn: /^\s*(?:(?:global|buffer|flat|scratch)_(?:store|atomic)|ds_(?:write|store)|s_(?:branch|cbranch|barrier|waitcnt|endpgm|nop|cmp|bitcmp|setprio|sleep|sched))/,
};

/** The names of a line. @param {string} text @param {string} language @returns {Name[]} */
export function namesOf(text, language) {
  const family = familyOf(language);
  if (family === null) return [];
  const names = [];
  // What stands in a comment of machine code only mentions.
  const end = family === "mlir" || family === "llir" ? text.length : endOfCode(text, family);
  for (const match of text.matchAll(NAMES[family])) {
    const { groups = {} } = match;
    const from = match.index;
    if (from >= end) break;
    const word = match[0];
    if (groups.family) {
      const low = Number(groups.low ?? groups.first);
      names.push({ from, to: from + word.length, key: groups.family, label: word, low, high: Number(groups.low ?? groups.last) });
    } else {
      const label = groups.label ? `%${groups.label}` : (groups.value ?? word);
      names.push({ from, to: from + word.length, key: label, label, low: 0, high: 0 });
    }
  }
  return names;
}

/** @param {string} text @param {string} family */
function endOfCode(text, family) {
  const at = text.indexOf(family === "amdgcn" ? ";" : "//");
  return at < 0 ? text.length : at;
}

/**
 * Which names of a line are written there. "inside": what the region that begins here sees.
 * @param {string} text @param {Name[]} names @param {string} language
 * @returns {("here" | "inside" | "")[]}
 */
function writesOf(text, names, language) {
  const family = familyOf(language);
  if (family === "mlir") {
    const results = /^\s*%[\w$.:,\s%-]*=(?!=)/.exec(text)?.[0].length ?? 0;
    const hasArguments = /^\s*\^|\{\s*$/.test(text);
    return names.map(({ from, to, key }) => {
      if (to <= results) return "here";
      if (key.startsWith("^") || key.startsWith("#")) return text.slice(0, from).trim() === "" ? "here" : "";
      if (key.startsWith("@")) return /\bfunc\b[^%(]*$/.test(text.slice(0, from)) ? "here" : "";
      const isArgument = hasArguments && (/^\s*:\s/.test(text.slice(to)) || (/^\s*=\s/.test(text.slice(to)) && from > results));
      return !isArgument ? "" : /^\s*\^/.test(text) ? "here" : "inside";
    });
  }
  if (family === "llir") {
    const isHeader = /^(?:define|declare)\b/.test(text);
    return names.map(({ from, to, key }) => {
      const isFirst = text.slice(0, from).trim() === "";
      if (isHeader) return key.startsWith("%") ? "inside" : key.startsWith("@") ? "here" : "";
      if (key.startsWith("#")) return /^attributes $/.test(text.slice(0, from)) ? "here" : "";
      return isFirst && /^(?:\s*=|:)/.test(text.slice(to)) ? "here" : "";
    });
  }
  return registerWrites(text, names, /** @type {"ptx" | "sass" | "amdgcn"} */ (family));
}

/** @param {string} text @param {Name[]} names @param {"ptx" | "sass" | "amdgcn"} family @returns {("here" | "")[]} */
function registerWrites(text, names, family) {
  const isLabel = (/** @type {Name} */ name) => /^[.$]/.test(name.key);
  const start = text.length - (family === "sass" ? text.replace(/^.*?\*\/\s*/, "") : text.trimStart()).length;
  const body = text.slice(start);
  // The opcode, behind the predicate that guards it.
  const opcode = /^(?:@!?%?U?P?p?\d*T?\s+)?([\w.:$]+)\s+/.exec(body);
  const writes = opcode !== null && !WRITES_NOTHING[family].test(family === "sass" ? (opcode[1] ?? "") : text);
  const operands = start + (opcode?.[0].length ?? 0);
  const end = text[operands] === "{" ? text.indexOf("}", operands) : text.indexOf(",", operands);
  // Comparisons of SASS write two predicates; a PTX comparison may write them as p|q, before the first comma.
  const second = family === "sass" && /^(?:[A-Z]*SETP|PLOP3|[UV]?VOTE|MATCH)/.test(opcode?.[1] ?? "");
  const limit = second ? text.indexOf(",", end + 1) : end;
  return names.map((name) => {
    if (isLabel(name)) return text.slice(0, name.from).trim() === "" && text[name.to] === ":" ? "here" : "";
    return writes && name.from >= operands && (limit < 0 || name.from < limit) && !text.slice(operands, name.from).includes("[") ? "here" : "";
  });
}

/** Whether names are values that are written once. @param {string} language */
function isSsa(language) {
  const family = familyOf(language);
  return family === "mlir" || family === "llir";
}

/**
 * Every occurrence of what a name means, in the order of the text.
 * @param {string[]} lines @param {Outline} outline @param {string} language
 * @param {number} line @param {Name} name
 * @returns {Occurrence[]}
 */
export function occurrencesOf(lines, outline, language, line, name) {
  const isEverywhere = /^[@#!]/.test(name.key);
  const around = isEverywhere ? null : outline.functionOf(line);
  const first = around?.first ?? 1;
  const last = around?.last ?? lines.length;
  const isRegister = name.key.length <= 2 && !/^[%@#!^]/.test(name.key);
  const stem = language === "llir" && name.key.startsWith("%") ? name.key.slice(1) : name.key;
  /** @type {(Occurrence & {scope: number})[]} */
  const found = [];
  for (let number = first; number <= last; number += 1) {
    const text = /** @type {string} */ (lines[number - 1]);
    if (!text.includes(stem)) continue;
    const names = namesOf(text, language);
    const same = names.map((each) => each.key === name.key && (!isRegister || (each.low <= name.high && name.low <= each.high)));
    if (!same.includes(true)) continue;
    const writes = writesOf(text, names, language);
    names.forEach((each, index) => {
      if (!same[index]) return;
      const inside = writes[index] === "inside" ? outline.opened.get(number) : undefined;
      const scope = outline.scope(inside ?? outline.around[number] ?? -1);
      found.push({ ...each, line: number, isDefinition: writes[index] !== "", scope });
    });
  }
  if (isEverywhere || !isSsa(language)) return found;
  const scopes = new Set(found.filter(({ isDefinition }) => isDefinition).map(({ scope }) => scope));
  const home = (/** @type {{scope: number}} */ { scope }) => {
    while (scope >= 0 && !scopes.has(scope)) scope = outline.scope(outline.regions[scope]?.parent ?? -1);
    return scope;
  };
  const clicked = found.find((each) => each.line === line && each.from === name.from);
  return clicked ? found.filter((each) => home(each) === home(clicked)) : found;
}

/**
 * Where the value that is read at `line` was written; null: nowhere in this text.
 * @param {Occurrence[]} occurrences @param {number} line @param {string} language
 */
export function definitionOf(occurrences, line, language) {
  const definitions = occurrences.filter(({ isDefinition }) => isDefinition);
  if (isSsa(language)) return definitions[0] ?? null;
  return definitions.findLast((each) => each.line < line) ?? definitions[0] ?? null;
}
