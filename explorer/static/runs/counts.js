/**
 * The counts of the interpreter: bytes, sectors and operations of the launch and of every source line.
 *
 * @import { Counts, OperationCount } from "../core/types.js"
 */
import { lineText, shortLine } from "../core/line_words.js";
import { size } from "../core/format.js";
import { digits, exact, percent } from "../core/numbers.js";
import { scrolled } from "../core/scroller.js";
import { pin } from "../core/selection.js";
import { html, nothing } from "../core/template.js";
import { SECTOR_BYTES, bytesWords, perByte, sectorsWords, usedShare, wholeWords } from "./count_words.js";

const LEAST_GOOD_SHARE = 0.5;
const HEADS = [
  "line",
  "",
  "operation",
  "executions",
  "requested bytes",
  "sectors per execution",
  "sector use",
  "flops",
];

/** @param {Counts} counts @param {string[]} source @param {string} origin the pane */
export function countsSection(counts, source, origin) {
  const { programs, grid_programs: all, operations, loaded_bytes: loaded, stored_bytes: stored } = counts;
  const isPart = programs < all;
  /** @param {number} count @param {string} unit */
  const whole = (count, unit) => wholeWords(count, counts, unit);
  const facts = [
    ["loaded", bytesWords(loaded), sectorsWords(counts.loaded_sectors, loaded), whole(loaded, " bytes")],
    ["stored", bytesWords(stored), sectorsWords(counts.stored_sectors, stored), whole(stored, " bytes")],
    [
      isPart ? "different sectors of these programs" : "different sectors in the grid",
      exact(counts.sectors_in_grid),
      `${size(counts.sectors_in_grid * SECTOR_BYTES)} of memory touched at all`,
      "",
    ],
    ...Object.entries(counts.flops).map(([type, count]) => [
      `operations ${type}`,
      exact(count),
      perByte(count, loaded + stored),
      whole(count, ""),
    ]),
  ];
  const lines = [...new Set(operations.map(({ line }) => line))].sort((one, other) => one - other);
  const counted =
    programs === all
      ? `All ${exact(all)} programs of the grid were counted`
      : `${exact(programs)} of the grid's ${exact(all)} programs were counted`;
  const several = operations.some((each) => usedShare(each) > 1)
    ? "; × is how many times the same bytes are requested, by several lanes"
    : "";
  return html`<section class="run-counts">
    <h3>Counted${isPart ? ` in ${exact(programs)} of ${exact(all)} programs` : nothing}</h3>
    <table class="run-totals" aria-label="Totals"><tbody>${facts.map(
      ([name, value, more, extrapolated]) =>
        html`<tr><th scope="row">${name}</th><td>${value}</td><td class="is-text hint">${more}</td>${
          isPart ? html`<td class="is-text hint">${extrapolated}</td>` : nothing
        }</tr>`,
    )}</tbody></table>
    ${scrolled(
      "Counts by source line",
      html`<thead><tr>${HEADS.map(head)}</tr></thead>
        <tbody>${lines.map((line) => rowsOf(line, operations, source[line - 1] ?? "", origin))}</tbody>`,
    )}
    <p class="hint">
      ${counted}; bytes are counted after the masks, sectors are the 32-byte pieces of memory that one
      execution by a whole program touches${several}. A profiler counts the sectors per request of one warp: the
      interpreter does not divide a program into warps.
    </p>
  </section>`;
}

/** @param {string} title "": of the column with the code */
function head(title) {
  if (!title) return html`<td class="run-code"></td>`;
  const type = title === "operation" ? "is-text" : title === "executions" ? "is-minor" : nothing;
  return html`<th scope="col" class=${type}>${title}</th>`;
}

/** @param {number} line @param {OperationCount[]} operations @param {string} text @param {string} origin */
function rowsOf(line, operations, text, origin) {
  const code = text.trim();
  const button =
    line > 0
      ? html`<button type="button" class="link" title=${code} aria-label=${`Show ${lineText(line)}`}
          @click=${() => pin([line], origin)}>${shortLine(line)}</button>`
      : nothing;
  return operations
    .filter((each) => each.line === line)
    .map((each, index) => {
      const { operation, executions, requested_bytes: bytes, sectors, flops } = each;
      const used = sectors ? usedShare(each) : null;
      const isPoor = used !== null && used < LEAST_GOOD_SHARE;
      return html`<tr data-line=${line}>
        <th scope="row">${index === 0 ? button : nothing}</th>
        <td class="run-code">${index === 0 ? code : nothing}</td>
        <td class="is-text">${operation}</td>
        <td class="is-minor">${exact(executions)}</td>
        <td>${bytes ? exact(bytes) : nothing}</td>
        <td>${sectors && executions ? digits(sectors / executions) : nothing}</td>
        <td class=${isPoor ? "warning" : nothing}>${
          used === null ? nothing : used > 1 ? `${digits(used)} ×` : percent(used)
        }</td>
        <td>${flops ? exact(flops) : nothing}</td>
      </tr>`;
    });
}
