/**
 * What a stage pane leaves out of its text or adds to it. Lines keep their numbers and columns, as in the download.
 *
 * @import { Locations } from "../types.js"
 * @import { PaneState } from "./pane_state.js"
 */
import { familyOf } from "../outline.js";

/**
 * @typedef {object} Filter
 * @property {string} name as in the address
 * @property {string} title
 * @property {boolean} byDefault whether it is shown by default
 * @property {(NonNullable<ReturnType<typeof familyOf>>)[] | null} families of languages that have it; null: all
 *
 * @typedef {{from: number, to: number, class: string, instead: string}} Cut columns of a line that are replaced
 */

/** @type {Filter[]} */
export const FILTERS = [
  { name: "locations", title: "Source locations", byDefault: false, families: null },
  { name: "attributes", title: "Attributes", byDefault: true, families: ["mlir", "llir"] },
  { name: "layouts", title: "Layouts in full", byDefault: false, families: ["mlir"] },
  { name: "registers", title: "Live registers", byDefault: true, families: ["sass"] },
  { name: "directives", title: "Directives", byDefault: true, families: ["ptx", "amdgcn"] },
  { name: "metadata", title: "Declarations and metadata", byDefault: true, families: ["llir"] },
];
const LINES = {
  directives: {
    ptx: /^\s*\.(?!param\b)(?!(?:\w+ )*\.?(?:entry|func)\b)(?!\w+ \.(?:entry|func)\b)/,
    amdgcn: /^\s*(?:- )?\.(?!L)|^(?:---|\.\.\.)$|^amdhsa\.|^\s+- \S/,
  },
  metadata: { llir: /^!|^declare |^attributes #|^; (?:Function Attrs|ModuleID)|^source_filename|^target |^\s+#dbg_/ },
};
const ATTACHED_METADATA = /(?:, ![\w.]+ !(?:\d+|\{\}))+$/g;
const ATTRIBUTE_GROUP = / #\d+(?=\s*(?:\{|,|!|$))/g;
const LAYOUT_ALIAS = /#[A-Za-z_]\w*(?![\w.])/g;
const LAYOUT_DEFINITION = /^(#[A-Za-z_]\w*) = (.*)$/;
/** Kinds of memory, which have an alias and no layout. */
const MEMORY = /^#ttn?g\.(?:shared|tensor)_memory\b/;
const MOST_LOCATIONS = 3;

/** The filters that a language has. @param {string} language */
export function filtersOf(language) {
  const family = familyOf(language);
  return FILTERS.filter(({ families }) => !families || (family && families.includes(family)));
}

/** Whether something is shown. @param {Filter} filter @param {PaneState} state */
export function isOn({ name, byDefault }, { hide, show }) {
  return byDefault ? !hide.has(name) : show.has(name);
}

export class Filters {
  /** @type {Set<number>} lines that are shown although a filter hides them, because somebody looked for them */
  exempt = new Set();
  /** @type {Map<string, string>} */
  layouts = new Map();

  /** Mark the lines that are left out. @param {Uint8Array} hidden by line @param {string[]} lines @param {string} language @param {PaneState} state */
  hide(hidden, lines, language, { hide }) {
    const family = familyOf(language);
    const patterns = [...hide].map((name) => (family && /** @type {Record<string, Record<string, RegExp>>} */ (LINES)[name]?.[family]) || null).filter((each) => each !== null);
    if (patterns.length === 0) return;
    lines.forEach((text, index) => {
      if (!this.exempt.has(index + 1) && patterns.some((pattern) => pattern.test(text))) hidden[index + 1] = 1;
    });
  }

  /** Learn what the aliases of another text stand for. @param {string[]} lines */
  read(lines) {
    this.exempt = new Set();
    this.layouts = new Map();
    for (const line of lines) {
      const found = LAYOUT_DEFINITION.exec(line);
      const [, alias = "", definition = ""] = found ?? [];
      if (alias) this.layouts.set(alias, definition.replace(LAYOUT_ALIAS, (inner) => this.layouts.get(inner) ?? inner));
    }
  }

  /** Whether an alias stands for a layout. @param {string} alias */
  isLayout(alias) {
    const definition = this.layouts.get(alias);
    return definition !== undefined && !MEMORY.test(definition);
  }

  /** The layouts that a line names. @param {string} text @returns {{from: number, to: number, class: string}[]} */
  layoutsIn(text) {
    if (this.layouts.size === 0) return [];
    return [...text.matchAll(LAYOUT_ALIAS)].filter(([alias]) => this.isLayout(alias)).map(({ index, 0: alias }) => ({ from: index, to: index + alias.length, class: "is-layout" }));
  }

  /** What stands in a line instead of some of its columns. @param {string} text @param {string} language @param {PaneState} state @returns {Cut[]} */
  cuts(text, language, { hide, show }) {
    const family = familyOf(language);
    /** @type {Cut[]} */
    const cuts = [];
    const cut = (/** @type {number} */ from, /** @type {number} */ to, /** @type {string} */ instead) =>
      cuts.push({ from, to, class: "is-cut", instead });
    const isDefinition = family === "mlir" && LAYOUT_DEFINITION.test(text);
    if (family === "mlir" && hide.has("attributes") && !isDefinition) for (const { from, to } of dictionaries(text)) cut(from, to, "{…}");
    if (family === "llir" && hide.has("attributes")) for (const { index, 0: word } of text.matchAll(ATTRIBUTE_GROUP)) cut(index, index + word.length, "");
    if (family === "llir" && hide.has("metadata")) for (const { index, 0: word } of text.matchAll(ATTACHED_METADATA)) cut(index, index + word.length, "");
    if (family === "mlir" && show.has("layouts") && !isDefinition) {
      for (const { index, 0: word } of text.matchAll(LAYOUT_ALIAS)) {
        const full = this.layouts.get(word);
        if (full && !cuts.some(({ from, to }) => from <= index && index < to)) cut(index, index + word.length, full);
      }
    }
    return cuts.sort((one, other) => one.from - other.from);
  }
}

/** The dictionaries of attributes in a line: not what opens a region, and not those of a layout. @param {string} text */
function dictionaries(text) {
  const found = [];
  // A layout's stand right behind its name; properties of an operation in angle brackets of their own.
  const opening = / (?=<?\{)/g;
  for (let match = opening.exec(text); match; match = opening.exec(text)) {
    const from = match.index + (text[match.index + 1] === "<" ? 1 : 0);
    if (!/^\{"?[\w.-]+"?(?: = |[,}])/.test(text.slice(from + 1, from + 80))) continue;
    let depth = 0;
    let inString = false;
    for (let at = from + 1; at < text.length; at += 1) {
      const character = text[at];
      if (character === '"') inString = !inString;
      else if (!inString && character === "{") depth += 1;
      else if (!inString && character === "}" && (depth -= 1) === 0) {
        found.push({ from: from + 1, to: at + 1 });
        opening.lastIndex = at;
        break;
      }
    }
  }
  return found;
}

/** Where a line comes from, as it stands behind it. @param {Locations | null} locations @param {number} line */
export function locationNote(locations, line) {
  const indices = locations?.lines[line - 1] ?? [];
  if (!locations || indices.length === 0) return "";
  const places = indices.slice(0, MOST_LOCATIONS).map((index) =>
    (locations.locations[index] ?? []).map(([file, at, column]) => `${locations.files[file]?.split("/").at(-1) || "line "}${locations.files[file] ? ":" : ""}${at}${column ? `:${column}` : ""}`).join(" at "));
  const more = indices.length - places.length;
  return `loc(${places.join(", ")}${more > 0 ? `, +${more}` : ""})`;
}

/** The column of the text under a column of what is shown instead. @param {number} column @param {Cut[]} cuts */
export function rawColumn(column, cuts) {
  let shift = 0;
  for (const { from, to, instead } of cuts) {
    const start = from - shift;
    if (column < start) break;
    if (column < start + instead.length) return from;
    shift += to - from - instead.length;
  }
  return column + shift;
}
