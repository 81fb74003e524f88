/**
 * The source lines with the most samples, and the stall reasons of the warps there.
 *
 * @import { HeatDocument, LineHeat } from "../../core/types.js"
 */
import { lineText } from "../../core/line_words.js";
import { live } from "lit/directives/live.js";
import { plural } from "../../core/format.js";
import { heads, scrolled } from "../../core/scroller.js";
import { html, prose } from "../../core/template.js";
import { sampleShare } from "../../runs/samples.js";
import { stallWords } from "../../runs/stall_words.js";
import { shareBar } from "./analysis.js";
import { stallBars } from "./measured.js";

/**
 * @param {HeatDocument} heat @param {string[]} source its lines
 * @param {(line: number) => void} show goes to a source line, and to its hottest instruction
 * @param {() => void} toggle shows or hides the samples in the gutters
 * @param {boolean} isShown in the gutters
 */
export function hotLines(heat, source, show, toggle, isShown) {
  if (heat.reason) return html`<p>${prose(heat.reason)}</p>`;
  const most = heat.top[0]?.share ?? 1;
  const row = (/** @type {LineHeat} */ each) =>
    html`<tr>
      <th scope="row"><button type="button" class="link" @click=${() => show(each.line)}>${lineText(each.line)}</button></th>
      <td>${shareBar(each.share, most, sampleShare(each.share))}</td>
      <td><code>${(source[each.line - 1] ?? "").trim()}</code><span class="hint">${stallWords(each)}</span></td>
    </tr>`;
  const unplaced = heat.unplaced
    ? ` ${plural(heat.unplaced, "sample")} at no instruction of the kernel.`
    : "";
  return html`<label class="check"><input type="checkbox" .checked=${live(isShown)} @change=${toggle}>Show the
      samples beside the source and in the stages</label>
    <div class="roofline-hot-lines">${scrolled(
      "Hottest source lines",
      html`${heads(["source", "samples", "waiting for"])}<tbody>${heat.top.map(row)}</tbody>`,
    )}</div>
    <h3>Reasons for waiting, of all samples</h3>
    ${stallBars(heat.stalls)}
    <p class="source">${plural(heat.samples, "sample")} of the program counter by ${heat.tool}.${unplaced}</p>`;
}
