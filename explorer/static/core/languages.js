/**
 * The languages of the stages: how the page finds the structure, the names and the hideable parts of a text.
 *
 * Add a language with one entry in `SYNTAXES`, under its name or under the name of its family. The server lists the
 * languages with their families, graphs and explanations. A language without an entry is plain text, which folds by its
 * indentation.
 *
 * @import { LanguageFacts } from "./types.js"
 */
import { store } from "./store.js";

/**
 * @typedef {object} Syntax of a language; a missing property means that the language has no such element
 * @property {Regions} regions
 * @property {Names} [names]
 * @property {[entry: RegExp, title: string][]} [lists] long lists that fold: a pattern for their entries, and a title
 * @property {string[]} [foldedAtFirst] the titles of the lists that are folded at first
 * @property {Record<string, Hidden>} [filters] the parts that can be hidden or shown, by the names of `FILTERS`
 * @property {boolean} [hasLayouts] whether values have layouts
 *
 * @typedef {object} Regions how functions, loops and blocks are delimited
 * @property {"braces" | "labels" | "indentation"} by labels: until the next one
 * @property {RegExp} [function] the header of a function
 * @property {RegExp} [functionName] its name in the header, in the first group; omitted: the first group of `function`
 * @property {boolean} [hasBraceBelow] whether the brace of a function stands on a line of its own
 * @property {RegExp} [loop] the header of a loop
 * @property {RegExp} [block] a label of a basic block; its name is the first group
 *
 * @typedef {object} Names values, registers, blocks, functions
 * @property {RegExp} pattern matches a name. Its group `value` or `label` is the name if the match has more text;
 *   `family`, with `low`, or `first` and `last`, has a register and its numbers
 * @property {string} [comment] the start of a comment, which contains no names
 * @property {boolean} isSsa whether each value has exactly one definition
 * @property {boolean} [hasBareLabels] whether labels stand without the "%" of their uses
 * @property {(text: string, names: Name[]) => Write[]} writes finds the names that a line writes
 *
 * @typedef {object} Name a name in a line
 * @property {number} from column, from 0
 * @property {number} to
 * @property {string} key equal for names that may have the same meaning
 * @property {string} label the name as shown
 * @property {number} low first register of a range; 0 of other names
 * @property {number} high
 *
 * @typedef {"here" | "inside" | ""} Write "inside": visible in the region that begins here; "": a use
 *
 * @typedef {object} Hidden the parts that a filter hides
 * @property {RegExp} [lines] whole lines
 * @property {(text: string) => Span[]} [parts] columns of a line
 * @property {string} [instead] the replacement text
 *
 * @typedef {{from: number, to: number}} Span columns of a line
 */

/** The definition of an alias of MLIR. */
export const ALIAS_DEFINITION = /^(#[A-Za-z_]\w*) = (.*)$/;

/** @type {Syntax} */
const PLAIN = { regions: { by: "indentation" } };

/** @type {Syntax} */
const MLIR = {
  regions: {
    by: "braces",
    function: /^\s*[\w.]*\bfunc\b/,
    functionName: /@([\w$.-]+|"[^"]*")\s*\(/,
    loop: /\b(?:scf|affine)\.(?:for|while|parallel)\b/,
    block: /^\s*(\^[\w$.-]+)/,
  },
  names: {
    pattern:
      /(?<value>%[\w$.-]+)(?:#\d+|:\d+(?=\s*[=,]))?|\^[\w$.-]+|@(?:[\w$.-]+|"[^"]*")|#[A-Za-z_][\w$]*(?![\w$.])/g,
    isSsa: true,
    writes: mlirWrites,
  },
  lists: [
    [/^#\w+ = /, "layouts"],
    [/^\s*llvm\.mlir\.global /, "globals"],
    [/^\s*llvm\.func .*[^{]$/, "declarations"],
    [/^\s*%\S+ = \S*(?:arith|llvm\.mlir)\.constant\b/, "constants"],
  ],
  foldedAtFirst: ["layouts", "constants"],
  filters: { attributes: { parts: mlirAttributes, instead: "{…}" }, layouts: {} },
};

/** By the name of the language, or by its family. @type {Record<string, Syntax>} */
export const SYNTAXES = {
  "python-ast": {
    regions: { by: "indentation", function: /^FunctionDef\b/, loop: /(?:^|: )(?:For|While)\b/ },
  },
  mlir: MLIR,
  ttgir: { ...MLIR, hasLayouts: true },
  glir: { ...MLIR, hasLayouts: true },
  llir: {
    regions: {
      by: "braces",
      function: /^define\b/,
      functionName: /@([\w$.-]+|"[^"]*")\s*\(/,
      block: /^([\w$.-]+|"[^"]*"):/,
    },
    names: {
      pattern: /^(?<label>[\w$.-]+|"[^"]*")(?=:)|[%@](?:[\w$.-]+|"[^"]*")|![\d]+\b|#\d+\b/g,
      isSsa: true,
      hasBareLabels: true,
      writes: llvmWrites,
    },
    lists: [
      [/^declare /, "declarations"],
      [/^attributes #/, "attributes"],
      [/^![\w.]+ = /, "metadata"],
      [/^@[\w.$"-]+ = /, "globals"],
    ],
    filters: {
      attributes: { parts: spans(/ #\d+(?=\s*(?:\{|,|!|$))/g) },
      metadata: {
        lines:
          /^!|^declare |^attributes #|^; (?:Function Attrs|ModuleID)|^source_filename|^target |^\s+#dbg_/,
        parts: spans(/(?:, ![\w.]+ !(?:\d+|\{\}))+$/g),
      },
    },
  },
  ptx: {
    regions: {
      by: "braces",
      function: /^\s*(?:\.visible |\.weak |\.extern )*\.(?:entry|func)\b[^\n]*?([\w$]+)\s*\(/,
      hasBraceBelow: true,
      block: /^\s*(\$?[\w$]+):/,
    },
    names: {
      pattern: /%(?:r[dsh]?|f[d]?|p|rq|b|h)\d+\b|\$L[\w$]+|\b[A-Za-z_]\w*_param_\d+\b/g,
      comment: "//",
      isSsa: false,
      writes: registerWrites({
        writesNothing:
          /^(?:st|bra|bar|barrier|ret|red|cp|wgmma\.(?:fence|commit|wait)|mbarrier\.(?:init|inval)|fence|membar|nanosleep|prefetch|stmatrix|trap|tcgen05\.(?:st|cp|mma|commit)|griddepcontrol|setmaxnreg)\b/,
      }),
    },
    lists: [
      [/^\s*\.param /, "parameters"],
      [/^\s*\.(?:b8|b16|b32|b64) /, "data"],
    ],
    filters: {
      directives: {
        lines: /^\s*\.(?!param\b)(?!(?:\w+ )*\.?(?:entry|func)\b)(?!\w+ \.(?:entry|func)\b)/,
      },
    },
  },
  sass: {
    regions: { by: "labels", function: /^\.text\.([\w$.]+):/, block: /^\s*(\.L[\w$.]*):/ },
    names: {
      pattern: /(?<![\w.$])(?<family>U?[RP]|S?B)(?<low>\d+)\b|\.L[\w$]+(?!\.)/g,
      comment: "//",
      isSsa: false,
      writes: registerWrites({
        address: /^.*?\*\/\s*/,
        writesNothing:
          /^(?:ST|BRA|BAR|EXIT|RET|NOP|RED|MEMBAR|DEPBAR|WARPSYNC|BSYNC|ERRBAR|CCTL|UTMA|SYNCS|LDGSTS|LDGDEPBAR|FENCE|CALL|NANOSLEEP|BPT)/,
        writesTwo: /^(?:[A-Z]*SETP|PLOP3|[UV]?VOTE|MATCH)/,
      }),
    },
    lists: [[/^\s*\.(?!text\b|L)[a-z]\w*/, "directives"]],
    filters: {
      registers: {},
      scoreboards: {},
      control: { parts: spans(/^B[\d-]{6}:\S+\s+/g) },
      addresses: { parts: spans(/\/\*[0-9a-f]+\*\/\s*/g) },
    },
  },
  amdgcn: {
    regions: { by: "labels", function: /^([A-Za-z_][\w$.]*):/, block: /^(\.L[\w$.]*):/ },
    names: {
      pattern:
        /\b(?<family>[sva])(?:(?<low>\d+)|\[(?<first>\d+):(?<last>\d+)\])(?![\w:])|\b(?:vcc|exec|scc|m0|vcc_lo|vcc_hi|exec_lo|exec_hi)\b|\.L[\w$]+/g,
      comment: ";",
      isSsa: false,
      writes: registerWrites({
        writesNothing:
          /^(?:(?:global|buffer|flat|scratch)_(?:store|atomic)|ds_(?:write|store)|s_(?:branch|cbranch|barrier|waitcnt|endpgm|nop|cmp|bitcmp|setprio|sleep|sched))/,
      }),
    },
    lists: [
      [/^\s*(?:- )?\.?[a-z][\w.]*:\s+\S|^\s+-\s|^(?:---|\.\.\.)$|^amdhsa\.\w+:$/, "metadata"],
      [/^\s+\.(?!L)[a-z]\w*(?!:)\b/, "directives"],
    ],
    filters: {
      directives: { lines: /^\s*(?:- )?\.(?!L)|^(?:---|\.\.\.)$|^amdhsa\.|^\s+- \S/ },
    },
  },
};

/** @type {LanguageFacts} */
const NO_FACTS = { family: "", hue: "", vocabulary: "", word: "", graph: null };

/** Return the server's facts about a language. @param {string} language @returns {LanguageFacts} */
export function languageFacts(language) {
  return store.state.languages[language] ?? NO_FACTS;
}

/** Return the syntax of a language. @param {string} language @returns {Syntax} */
export function syntaxOf(language) {
  return SYNTAXES[language] ?? SYNTAXES[languageFacts(language).family] ?? PLAIN;
}

/** @param {string} text @param {Name[]} names @returns {Write[]} */
function mlirWrites(text, names) {
  const results = /^\s*%[\w$.:,\s%-]*=(?!=)/.exec(text)?.[0].length ?? 0;
  const isBlock = /^\s*\^/.test(text);
  const hasArguments = isBlock || /\{\s*$/.test(text);
  return names.map(({ from, to, key }) => {
    const [before, after] = [text.slice(0, from), text.slice(to)];
    if (to <= results) return "here";
    if (key.startsWith("^") || key.startsWith("#")) return before.trim() === "" ? "here" : "";
    if (key.startsWith("@")) return /\bfunc\b[^%(]*$/.test(before) ? "here" : "";
    const isArgument = hasArguments && (/^\s*:\s/.test(after) || (/^\s*=\s/.test(after) && from > results));
    if (!isArgument) return "";
    return isBlock ? "here" : "inside";
  });
}

/** @param {string} text @param {Name[]} names @returns {Write[]} */
function llvmWrites(text, names) {
  const isHeader = /^(?:define|declare)\b/.test(text);
  return names.map(({ from, to, key }) => {
    const before = text.slice(0, from);
    if (isHeader) return key.startsWith("%") ? "inside" : key.startsWith("@") ? "here" : "";
    if (key.startsWith("#")) return /^attributes $/.test(before) ? "here" : "";
    return before.trim() === "" && /^(?:\s*=|:)/.test(text.slice(to)) ? "here" : "";
  });
}

/**
 * Return a function that finds the registers that an instruction writes: the first operand, unless the operand is an
 * address in memory.
 * @param {object} machine
 * @param {RegExp} [machine.address] the text before an instruction
 * @param {RegExp} machine.writesNothing opcodes whose first operand is read
 * @param {RegExp} [machine.writesTwo] opcodes that write their first two operands
 * @returns {(text: string, names: Name[]) => Write[]}
 */
function registerWrites({ address = /^\s*/, writesNothing, writesTwo }) {
  return (text, names) => {
    const start = address.exec(text)?.[0].length ?? 0;
    // The opcode, behind the predicate that guards it.
    const found = /^(?:@!?%?U?P?p?\d*T?\s+)?([\w.:$]+)\s+/.exec(text.slice(start));
    const opcode = found?.[1] ?? "";
    const first = start + (found?.[0].length ?? 0);
    // A PTX comparison may write two predicates as p|q, before the first comma.
    const end = text[first] === "{" ? text.indexOf("}", first) : text.indexOf(",", first);
    const limit = writesTwo?.test(opcode) ? text.indexOf(",", end + 1) : end;
    const isWriting = found !== null && !writesNothing.test(opcode);
    return names.map(({ key, from, to }) => {
      if (/^[.$]/.test(key)) return text.slice(0, from).trim() === "" && text[to] === ":" ? "here" : "";
      const isFirst = from >= first && (limit < 0 || from < limit) && !text.slice(first, from).includes("[");
      return isWriting && isFirst ? "here" : "";
    });
  };
}

/** @param {RegExp} pattern with the flag "g" @returns {(text: string) => Span[]} */
function spans(pattern) {
  return (text) =>
    [...text.matchAll(pattern)].map(({ index, 0: part }) => ({ from: index, to: index + part.length }));
}

/**
 * Return the attribute dictionaries in a line of MLIR, without braces of regions and dictionaries of layouts.
 * @param {string} text
 * @returns {Span[]}
 */
function mlirAttributes(text) {
  if (ALIAS_DEFINITION.test(text)) return [];
  const found = [];
  // The dictionary of a layout follows its name directly; properties of an operation are in angle brackets.
  const opening = / (?=<?\{)/g;
  for (let match = opening.exec(text); match; match = opening.exec(text)) {
    const from = match.index + (text[match.index + 1] === "<" ? 1 : 0);
    if (!/^\{"?[\w.-]+"?(?: = |[,}])/.test(text.slice(from + 1, from + 80))) continue;
    let depth = 0;
    let isInString = false;
    for (let at = from + 1; at < text.length; at += 1) {
      const character = text[at];
      if (character === '"') isInString = !isInString;
      else if (!isInString && character === "{") depth += 1;
      else if (!isInString && character === "}" && (depth -= 1) === 0) {
        found.push({ from: from + 1, to: at + 1 });
        opening.lastIndex = at;
        break;
      }
    }
  }
  return found;
}
