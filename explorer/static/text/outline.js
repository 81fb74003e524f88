/**
 * The structure of a stage's text: functions, loops, other regions and basic blocks, nested.
 *
 * In: the lines of the whole text and how its language delimits regions. Out: regions, and the innermost one of
 * every line.
 *
 * @import { Regions, Syntax } from "../core/languages.js"
 */

/**
 * @typedef {object} Region
 * @property {number} first its header's line
 * @property {number} last its last line; of a braced region, the one with the closing brace
 * @property {"function" | "loop" | "region" | "block"} kind
 * @property {string} title
 * @property {number} parent index of the region around it; -1: none
 * @property {boolean} closes whether `last` holds a closing brace, which stays in sight when the region is
 *   folded
 */

/** Longer titles of regions are cut. */
const LONGEST_TITLE = 48;

export class Outline {
  /** @param {string[]} lines @param {Syntax} syntax */
  constructor(lines, { regions }) {
    /** @type {Region[]} */
    this.regions = [];
    /**
     * Index of the innermost region of each line, from 1; -1: none. A header belongs to the region around it.
     */
    this.around = new Int32Array(lines.length + 1).fill(-1);
    /** The region that a line opens. @type {Map<number, number>} */
    this.opened = new Map();
    if (regions.by === "braces") this.readBraces(lines, regions);
    else if (regions.by === "labels") this.readLabels(lines, regions);
    else this.readIndented(lines, regions);
  }

  /** @param {Region} region @returns {number} its index */
  open(region) {
    this.opened.set(region.first, this.regions.length);
    return this.regions.push(region) - 1;
  }

  /** @param {string[]} lines @param {Regions} syntax */
  readBraces(lines, syntax) {
    let current = -1;
    let header = 0;
    const closeBlock = (/** @type {number} */ last) => {
      const region = this.regions[current];
      if (region?.kind !== "block") return;
      region.last = last;
      current = region.parent;
    };
    for (let line = 1; line <= lines.length; line += 1) {
      const text = /** @type {string} */ (lines[line - 1]);
      if (syntax.function?.test(text)) header = line;
      const { closing, opening } =
        text.includes("{") || text.includes("}") ? unbalanced(text) : { closing: 0, opening: 0 };
      for (let count = 0; count < closing; count += 1) {
        closeBlock(line - 1);
        const region = this.regions[current];
        if (!region) break;
        region.last = line;
        current = region.parent;
      }
      const label = current >= 0 ? syntax.block?.exec(text) : null;
      if (label && !opening) {
        closeBlock(line - 1);
        this.around[line] = current;
        current = this.open({
          first: line,
          last: line,
          kind: "block",
          title: label[1] ?? "",
          parent: current,
          closes: false,
        });
        continue;
      }
      this.around[line] = current;
      for (let count = 0; count < opening; count += 1) {
        const first = header && syntax.hasBraceBelow ? header : line;
        const head = /** @type {string} */ (lines[first - 1]);
        const isFunction = header === first && header > 0;
        const kind = isFunction ? "function" : syntax.loop?.test(head) ? "loop" : "region";
        const title = isFunction ? functionName(head, syntax) : regionTitle(head);
        current = this.open({ first, last: lines.length, kind, title, parent: current, closes: true });
        if (isFunction) header = 0;
      }
    }
  }

  /**
   * Functions and blocks that begin with a label and end with the next one.
   * @param {string[]} lines
   * @param {Regions} syntax
   */
  readLabels(lines, syntax) {
    let functionIndex = -1;
    let current = -1;
    const end = (/** @type {number} */ index, /** @type {number} */ last) => {
      const region = this.regions[index];
      if (region) region.last = last;
    };
    lines.forEach((text, index) => {
      const line = index + 1;
      const name = syntax.function?.exec(text);
      const label = name ? null : syntax.block?.exec(text);
      if (name) {
        end(current, line - 1);
        end(functionIndex, line - 1);
        current = functionIndex = this.open({
          first: line,
          last: lines.length,
          kind: "function",
          title: name[1] ?? "",
          parent: -1,
          closes: false,
        });
        this.around[line] = -1;
      } else if (label) {
        if (current !== functionIndex) end(current, line - 1);
        this.around[line] = functionIndex;
        current = this.open({
          first: line,
          last: lines.length,
          kind: "block",
          title: label[1] ?? "",
          parent: functionIndex,
          closes: false,
        });
      } else {
        this.around[line] = current;
      }
    });
  }

  /** A tree printed by indentation. @param {string[]} lines @param {Regions} syntax */
  readIndented(lines, syntax) {
    /** @type {{depth: number, region: number}[]} */
    const stack = [];
    const depthOf = (/** @type {string} */ text) => text.search(/\S/);
    lines.forEach((text, index) => {
      const line = index + 1;
      const depth = depthOf(text);
      if (depth >= 0) {
        while (stack.length && /** @type {{depth: number}} */ (stack.at(-1)).depth >= depth) {
          const region = this.regions[/** @type {{region: number}} */ (stack.pop()).region];
          if (region) region.last = line - 1;
        }
      }
      const parent = stack.at(-1)?.region ?? -1;
      this.around[line] = parent;
      const next = depthOf(lines[index + 1] ?? "");
      if (depth >= 0 && next > depth) {
        const words = text.trim().replace(/\s+# [\d:]+$/, "");
        const title = words.length > LONGEST_TITLE ? `${words.slice(0, LONGEST_TITLE - 1)}…` : words;
        const kind = syntax.function?.test(words) ? "function" : syntax.loop?.test(words) ? "loop" : "region";
        stack.push({
          depth,
          region: this.open({ first: line, last: lines.length, kind, title, parent, closes: false }),
        });
      }
    });
  }

  /** The regions a line is in, or opens, from the outermost. @param {number} line @returns {Region[]} */
  path(line) {
    const path = [];
    for (let index = this.opened.get(line) ?? this.around[line] ?? -1; index >= 0; ) {
      const region = /** @type {Region} */ (this.regions[index]);
      path.unshift(region);
      index = region.parent;
    }
    return path;
  }

  /**
   * The scope that names belong to: the innermost region that is no block.
   * @param {number} index
   * @returns {number}
   */
  scope(index) {
    while (index >= 0 && this.regions[index]?.kind === "block")
      index = /** @type {Region} */ (this.regions[index]).parent;
    return index;
  }

  /** The function a line is in, or opens; null: none. @param {number} line */
  functionOf(line) {
    return this.path(line).find(({ kind }) => kind === "function") ?? null;
  }
}

/**
 * Braces of a line that are not closed or opened in it; those in strings do not count.
 * @param {string} text
 */
function unbalanced(text) {
  let closing = 0;
  let opening = 0;
  let inString = false;
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index];
    if (inString) {
      if (character === "\\") index += 1;
      else if (character === '"') inString = false;
    } else if (character === '"') inString = true;
    else if (character === "{") opening += 1;
    else if (character === "}") {
      if (opening) opening -= 1;
      else closing += 1;
    } else if (
      (character === "/" && text[index + 1] === "/") ||
      (character === ";" && text[index + 1] === " ")
    )
      break;
  }
  return { closing, opening };
}

/** @param {string} head @param {Regions} syntax */
function functionName(head, syntax) {
  return (syntax.functionName ?? syntax.function)?.exec(head)?.[1] ?? "function";
}

/** The operation that holds a region, with the loop's variable. @param {string} head */
function regionTitle(head) {
  if (/^\s*module\b/.test(head)) return "module";
  const loop = /\bscf\.for\s+(%[\w$.-]+)/.exec(head);
  if (loop) return `scf.for ${loop[1]}`;
  const title = /\} else \{/.test(head)
    ? "else"
    : (/(?:^|[\s"])([a-z_]\w*\.[\w.]+)/.exec(head)?.[1] ?? head.trim().split(/[\s({]/)[0]);
  return title || "region";
}
