/**
 * What the interpreter has counted: bytes, sectors and operations of every line, and of all.
 *
 * @import { Counts, OperationCount } from "./documents.js"
 */
import { make } from "../dom.js";
import { size } from "../format.js";
import { pin } from "../selection.js";
import { digits, exact, percent } from "./numbers.js";
import { scrolled } from "./scroller.js";

const SECTOR_BYTES = 32;
const WORST_GOOD_SHARE = 0.5;

/** @param {Counts} counts @param {string} source @param {string} origin the pane */
export function countsSection(counts, source, origin) {
  const { programs, grid_programs: all, operations, loaded_bytes: loaded, stored_bytes: stored } = counts;
  const flops = Object.entries(counts.flops);
  const facts = /** @type {const} */ ([
    ["loaded", bytesOf(loaded), sectorsOf(counts.loaded_sectors, loaded)],
    ["stored", bytesOf(stored), sectorsOf(counts.stored_sectors, stored)],
    ["different sectors in the grid", exact(counts.sectors_in_grid), `${size(counts.sectors_in_grid * SECTOR_BYTES)} of memory touched at all`],
    ...flops.map(([type, count]) => /** @type {const} */ ([`operations ${type}`, exact(count), perByte(count, loaded + stored)])),
  ]);
  const lines = [...new Set(operations.map(({ line }) => line))].sort((one, other) => one - other);
  const texts = source.split("\n");
  return make("section", { class: "run-counts" }, make("h3", {}, "Counted"),
    make("table", { class: "run-totals", "aria-label": "Totals" }, make("tbody", {}, ...facts.map(([name, value, more]) =>
      make("tr", {}, make("th", { scope: "row" }, name), make("td", {}, value), make("td", { class: "is-text hint" }, more))))),
    scrolled("Counts by source line",
      make("thead", {}, make("tr", {}, ...["line", "", "operation", "executions", "requested bytes", "sectors per request", "used of them", "flops"].map(columnHead))),
      make("tbody", {}, ...lines.flatMap((line) => rowsOf(line, operations, texts[line - 1] ?? "", origin)))),
    make("p", { class: "hint" }, `${programs === all ? `All ${exact(all)} programs of the grid were counted` : `${exact(programs)} of the grid's ${exact(all)} programs were counted`}; `
      + "bytes are those that the masks let through, sectors are the 32-byte pieces of memory that each program touches"
      + `${operations.some((each) => usedShare(each) > 1) ? "; × says how often the same bytes are asked for, by several lanes" : ""}.`));
}

/** @param {string} title "": of the code */
function columnHead(title) {
  return title ? make("th", { scope: "col", class: title === "operation" ? "is-text" : title === "executions" ? "is-minor" : null }, title) : make("td", { class: "run-code" });
}

/** @param {number} line @param {OperationCount[]} operations @param {string} text @param {string} origin */
function rowsOf(line, operations, text, origin) {
  const members = operations.filter((each) => each.line === line);
  return members.map((each, index) => {
    const used = each.sectors ? usedShare(each) : null;
    const head = line > 0
      ? make("button", { type: "button", class: "link", title: text.trim(), "aria-label": `Show line ${line}`, onclick: () => pin([line], origin) }, String(line))
      : "";
    return make("tr", { "data-line": String(line) }, make("th", { scope: "row" }, index === 0 ? head : ""),
      make("td", { class: "run-code" }, index === 0 ? text.trim() : ""),
      make("td", { class: "is-text" }, each.operation), make("td", { class: "is-minor" }, exact(each.executions)),
      make("td", {}, each.requested_bytes ? exact(each.requested_bytes) : ""),
      make("td", {}, each.sectors && each.executions ? digits(each.sectors / each.executions) : ""),
      make("td", { class: used !== null && used < WORST_GOOD_SHARE ? "warning" : null }, used === null ? "" : used > 1 ? `${digits(used)} ×` : percent(used)),
      make("td", {}, each.flops ? exact(each.flops) : ""));
  });
}

/** The bytes asked for, of those in the sectors; more than 1 where lanes ask for the same. @param {OperationCount} count */
function usedShare({ requested_bytes: bytes, sectors }) {
  return sectors ? bytes / (sectors * SECTOR_BYTES) : 0;
}

/** @param {number} bytes */
function bytesOf(bytes) {
  return `${exact(bytes)} bytes`;
}

/** @param {number} sectors @param {number} bytes */
function sectorsOf(sectors, bytes) {
  if (!sectors) return "";
  const share = bytes / (sectors * SECTOR_BYTES);
  return `in ${exact(sectors)} sectors, ${share > 1 ? `asked for ${digits(share)} times over` : `${percent(share)} of them used`}`;
}

/** @param {number} count @param {number} bytes */
function perByte(count, bytes) {
  return bytes ? `${digits(count / bytes)} for each requested byte` : "";
}
