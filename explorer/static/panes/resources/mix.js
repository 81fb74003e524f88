/**
 * The instructions by purpose, in all and in the main loop.
 *
 * @import { HeatDocument, MixRow, OccupancyDocument } from "../../core/types.js"
 */
import { plural } from "../../core/format.js";
import { accessTitle } from "../../core/instruction_mix.js";
import { percent } from "../../core/numbers.js";
import { html, nothing, styles } from "../../core/template.js";
import { mainLoop, rangesText } from "./main_loop.js";

/** @param {OccupancyDocument} document @param {HeatDocument | null} heat the samples of a run of this code */
export function instructionMix({ mix }, heat) {
  if (!mix) {
    return html`<section>
      <h3>Instruction mix</h3>
      <p class="hint">There is no machine code to count.</p>
    </section>`;
  }
  const { rows, total, loops } = mix;
  const main = mainLoop(loops, heat);
  const loop = main && loops[main.index];
  const kinds = [...new Set(rows.map(({ kind }) => kind))];
  return html`<section class="mix">
    <h3>Instruction mix: ${plural(total, "instruction")}</h3>
    <table class="mix">
      <thead>
        <tr>
          <th scope="col">kind</th>
          <td aria-hidden="true"></td>
          <th scope="col">in all</th>
          ${loop ? html`<th scope="col">in main loop</th><th scope="col">outside</th>` : nothing}
        </tr>
      </thead>
      <tbody>${kinds.map(kindRows)}</tbody>
    </table>
    <p class="source">Each instruction of the machine code is counted once, however often it runs. ${where()}</p>
  </section>`;

  /** @param {string} kind */
  function kindRows(kind) {
    const own = rows.filter((each) => each.kind === kind);
    const parts = own.filter(({ space }) => space);
    return [row(kind, sumOf(own), false), ...parts.map((part) => row(accessTitle(part), part, true))];
  }

  /** @param {string} title @param {Pick<MixRow, "total" | "in_loops">} counts @param {boolean} isPart */
  function row(title, counts, isPart) {
    const inside = main ? (counts.in_loops[main.index] ?? 0) : 0;
    const bar = html`<span class="share">
      <span ${styles({ "--share": `${(100 * counts.total) / total}%` })}></span>
    </span>`;
    return html`<tr class=${isPart ? "is-part" : nothing}>
      <th scope="row">${title}</th>
      <td aria-hidden="true">${isPart ? nothing : bar}</td>
      <td>${counts.total.toLocaleString("en")}</td>
      ${loop ? html`<td>${countText(inside)}</td><td>${countText(counts.total - inside)}</td>` : nothing}
    </tr>`;
  }

  function where() {
    if (!main || !loop) return "The program has no loop that does more than wait.";
    const waits = loop.waits
      ? ` ${plural(loop.waits, "loop")} in it only ${loop.waits > 1 ? "wait" : "waits"}.`
      : "";
    const why =
      main.share === null
        ? "the one with the most matrix instructions and memory accesses"
        : `the one with the most samples, ${percent(main.share)} of the run's`;
    const others = loops.length > 1 ? `, of ${loops.length}: ${why}` : "";
    return `The main loop is lines ${rangesText(loop.ranges)} of the machine code, ${plural(loop.instructions, "instruction")}${others}.${waits}`;
  }
}

/** @param {MixRow[]} rows */
function sumOf(rows) {
  return {
    total: rows.reduce((sum, row) => sum + row.total, 0),
    in_loops: (rows[0]?.in_loops ?? []).map((_, index) =>
      rows.reduce((sum, row) => sum + (row.in_loops[index] ?? 0), 0),
    ),
  };
}

/** @param {number} count */
function countText(count) {
  return count ? count.toLocaleString("en") : "–";
}
