/**
 * The filters of a stage pane, which hide or add parts of its text. Lines keep their numbers and columns, as in the
 * download.
 *
 * @import { Span, Syntax } from "../../core/languages.js"
 * @import { Locations } from "../../core/types.js"
 * @import { PaneState } from "./pane_state.js"
 */
import { ALIAS_DEFINITION } from "../../core/languages.js";

/**
 * @typedef {object} Filter
 * @property {string} name as in the address
 * @property {string} title
 * @property {boolean} byDefault whether it is shown by default
 *
 * @typedef {Span & {class: string, instead: string}} Cut columns of a line that are replaced
 */

/** @type {Filter[]} */
export const FILTERS = [
  { name: "locations", title: "Source locations", byDefault: false },
  { name: "attributes", title: "Attributes", byDefault: true },
  { name: "layouts", title: "Layouts in full", byDefault: false },
  { name: "registers", title: "Live registers", byDefault: true },
  { name: "scoreboards", title: "Scoreboards", byDefault: true },
  { name: "control", title: "Control codes", byDefault: false },
  { name: "addresses", title: "Addresses", byDefault: false },
  { name: "directives", title: "Directives", byDefault: true },
  { name: "metadata", title: "Declarations and metadata", byDefault: true },
];
/** What the button in front of the menu shows and hides. */
export const CODES = FILTERS.filter(({ name }) => name === "control" || name === "addresses");
/** What every language has. */
const COMMON = new Set(["locations"]);
const LAYOUT_ALIAS = /#[A-Za-z_]\w*(?![\w.])/g;
/** Kinds of memory, which have an alias and no layout. */
const MEMORY = /^#ttn?g\.(?:shared|tensor)_memory\b/;
const MOST_LOCATIONS = 3;

/** The filters that a language has. @param {Syntax} syntax */
export function filtersOf({ filters = {} }) {
  return FILTERS.filter(({ name }) => COMMON.has(name) || name in filters);
}

/** Whether something is shown. @param {Filter} filter @param {PaneState} state */
export function isOn({ name, byDefault }, { hide, show }) {
  return byDefault ? !hide.has(name) : show.has(name);
}

/** The names of the filters that hide something of a text. @param {PaneState} state */
function hidingNames(state) {
  return FILTERS.filter((filter) => !isOn(filter, state)).map(({ name }) => name);
}

export class Filters {
  /**
   * @type {Set<number>} lines that are shown although a filter hides them, because somebody looked for them
   */
  exempt = new Set();
  /** @type {Map<string, string>} */
  layouts = new Map();

  /**
   * Mark the lines that are left out.
   * @param {Uint8Array} hidden by line
   * @param {string[]} lines
   * @param {Syntax} syntax
   * @param {PaneState} state
   */
  hide(hidden, lines, { filters = {} }, state) {
    const patterns = hidingNames(state).flatMap((name) => filters[name]?.lines ?? []);
    if (patterns.length === 0) return;
    lines.forEach((text, index) => {
      if (!this.exempt.has(index + 1) && patterns.some((pattern) => pattern.test(text)))
        hidden[index + 1] = 1;
    });
  }

  /** Read the definitions of aliases in a text. @param {string[]} lines */
  read(lines) {
    this.exempt = new Set();
    this.layouts = new Map();
    for (const line of lines) {
      const found = ALIAS_DEFINITION.exec(line);
      const [, alias = "", definition = ""] = found ?? [];
      if (alias)
        this.layouts.set(
          alias,
          definition.replace(LAYOUT_ALIAS, (inner) => this.layouts.get(inner) ?? inner),
        );
    }
  }

  /** Whether an alias stands for a layout. @param {string} alias */
  isLayout(alias) {
    const definition = this.layouts.get(alias);
    return definition !== undefined && !MEMORY.test(definition);
  }

  /**
   * The layouts that a line names.
   * @param {string} text
   * @returns {{from: number, to: number, class: string}[]}
   */
  layoutsIn(text) {
    if (this.layouts.size === 0) return [];
    return [...text.matchAll(LAYOUT_ALIAS)]
      .filter(([alias]) => this.isLayout(alias))
      .map(({ index, 0: alias }) => ({ from: index, to: index + alias.length, class: "is-layout" }));
  }

  /**
   * Return the replacements of columns of a line.
   * @param {string} text
   * @param {Syntax} syntax
   * @param {PaneState} state
   * @returns {Cut[]}
   */
  cuts(text, { filters = {} }, state) {
    const cuts = hidingNames(state).flatMap((name) => {
      const { parts, instead = "" } = filters[name] ?? {};
      return (parts?.(text) ?? []).map((span) => ({ ...span, class: "is-cut", instead }));
    });
    if (filters.layouts && state.show.has("layouts") && !ALIAS_DEFINITION.test(text)) {
      for (const { index, 0: word } of text.matchAll(LAYOUT_ALIAS)) {
        const full = this.layouts.get(word);
        if (full && !cuts.some(({ from, to }) => from <= index && index < to))
          cuts.push({ from: index, to: index + word.length, class: "is-cut", instead: full });
      }
    }
    return cuts.sort((one, other) => one.from - other.from);
  }
}

/**
 * Where a line comes from, as it stands behind it.
 * @param {Locations | null} locations
 * @param {number} line
 */
export function locationNote(locations, line) {
  const indices = locations?.lines[line - 1] ?? [];
  if (!locations || indices.length === 0) return "";
  const places = indices
    .slice(0, MOST_LOCATIONS)
    .map((index) =>
      (locations.locations[index] ?? [])
        .map(
          ([file, at, column]) =>
            `${locations.files[file]?.split("/").at(-1) || "line "}${locations.files[file] ? ":" : ""}${at}${column ? `:${column}` : ""}`,
        )
        .join(" at "),
    );
  const more = indices.length - places.length;
  return `loc(${places.join(", ")}${more > 0 ? `, +${more}` : ""})`;
}

/**
 * Convert a column of the shown text to a column of the text.
 * @param {number} column
 * @param {Cut[]} cuts
 */
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
