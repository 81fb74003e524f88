/**
 * The times of one launch.
 *
 * @import { Timing, Timings } from "../../core/types.js"
 */
import { exact, time } from "../../core/numbers.js";
import { heads, scrolled } from "../../core/scroller.js";
import { html, nothing, styles } from "../../core/template.js";

/** @type {Record<Timing["method"], string>} */
const METHODS = { proton: "Proton (CUPTI)", do_bench: "do_bench" };
const HEADS = ["by", "L2 cache", "median", "20 % to 80 %", "", "launches"];

/** @param {Timings} timings @param {boolean} isInterpreted */
export function timingsSection({ timings }, isInterpreted) {
  const best = timings.find(({ method, cache }) => method === "proton" && cache === "warm") ?? timings[0];
  if (!best) return nothing;
  const most = Math.max(...timings.map(({ high_ns: high }) => high));
  return html`<section class="run-timings">
    <h3>Time of one launch</h3>
    <p class="run-big">${time(best.median_ns)}<small>median, ${best.cache} L2, by ${METHODS[best.method]}</small></p>
    ${scrolled(
      "Times of one launch",
      html`${heads(HEADS, (title) => (/^[bL]/.test(title) ? "is-text" : ""))}
        <tbody>${timings.map((timing) => row(timing, most))}</tbody>`,
    )}
    ${
      isInterpreted
        ? html`<p class="warning">The interpreter was timed: these times say nothing about the kernel.</p>`
        : nothing
    }
  </section>`;
}

/** @param {Timing} timing @param {number} most */
function row({ method, cache, median_ns: median, low_ns: low, high_ns: high, samples_ns: samples }, most) {
  const share = (/** @type {number} */ value) => `${(100 * value) / most}%`;
  const spread = { "--low": share(low), "--high": share(high), "--median": share(median) };
  return html`<tr>
    <th scope="row">${METHODS[method]}</th>
    <td class="is-text">${cache}</td>
    <td><b>${time(median)}</b></td>
    <td>${time(low)} – ${time(high)}</td>
    <td class="run-strip"><span class="run-spread" aria-hidden="true" ${styles(spread)}></span></td>
    <td>${samples.length ? exact(samples.length) : nothing}</td>
  </tr>`;
}
