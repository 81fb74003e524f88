/**
 * The table of times of a tour's step: the recorded times of launches on a GPU.
 *
 * @import { TourTimes } from "../core/types.js"
 */
import { digits, time } from "../core/numbers.js";
import { html, nothing, prose, styles } from "../core/template.js";

/** Units of rates, with what they count in SI. */
const GIGABYTES = { unit: "GB/s", scale: 1e9 };
const TERAFLOPS = { unit: "TFLOP/s", scale: 1e12 };

/** @param {number} share */
function percent(share) {
  return `${(100 * share).toFixed(share < 0.1 ? 1 : 0)} %`;
}

/** @param {TourTimes} times */
export function timesTable({ about, runs, claims, peak, machine }) {
  if (!machine) return nothing;
  const { unit, scale } = peak === "dram" ? GIGABYTES : TERAFLOPS;
  const ceiling = machine.peaks[peak];
  const rows = runs.flatMap(({ label, measured }) => {
    const work = peak === "dram" ? measured?.bytes : measured?.operations;
    const rate = ceiling && work && measured ? (work / measured.time_ns) * 1e9 : null;
    return measured ? [{ label, measured, rate }] : [];
  });
  const longest = Math.max(...rows.map(({ measured }) => measured.time_ns));
  const full = ceiling ? `${digits(ceiling / scale)} ${unit}` : "";
  return html`<figure class="tour-times">
    <table>
      <caption>${prose(about)}</caption>
      <thead>
        <tr>
          <th scope="col">Launch</th>
          ${
            full
              ? html`<th scope="col" class="tour-bars">of ${full}</th>
                  <th scope="col">Share</th><th scope="col" class="tour-rate">${unit}</th>`
              : html`<td class="tour-bars"></td>`
          }
          <th scope="col">Time</th>
        </tr>
      </thead>
      <tbody>
        ${rows.map(({ label, measured, rate }) => {
          const share = ceiling ? (rate ?? 0) / ceiling : measured.time_ns / longest;
          return html`<tr>
            <th scope="row">${prose(label)}</th>
            <td class="tour-bars">
              <span class="tour-bar" ${styles({ "--share": `${100 * share}%` })}></span>
            </td>
            ${full ? html`<td>${percent(share)}</td><td class="tour-rate">${rate === null ? "" : digits(rate / scale)}</td>` : nothing}
            <td>${time(measured.time_ns)}</td>
          </tr>`;
        })}
      </tbody>
    </table>
    <ul class="tour-claims" aria-label="Measured">
      ${claims.map(({ says, than, found }) => (found === null ? nothing : html`<li><span>${prose(says)}</span> <b>${than === null ? percent(found / 100) : `${digits(found)} ×`}</b></li>`))}
    </ul>
    <figcaption>
      Measured on an ${machine.gpu} on ${machine.date} (Triton ${machine.triton}, PyTorch ${machine.torch}, driver
      ${machine.driver}): medians, with a cold L2 cache. These times stay the same when you edit the kernel.
      The rows of a tour were measured together; another tour measures the same launch anew, at its own clock.
      ${full ? html`A full bar is the datasheet's rate (${peak === "dram" ? "DRAM" : peak}).` : "Bars are times."}
    </figcaption>
  </figure>`;
}
