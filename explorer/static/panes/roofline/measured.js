/**
 * The measurements of a run: its times with all samples, counters, conditions, the check and files.
 *
 * @import { Check, Conditions, Counters, Environment, ProfileFiles, Timing, Timings }
 *   from "../../core/types.js"
 */
import { plural } from "../../core/format.js";
import { elements, error, exact, large, percent, place, time } from "../../core/numbers.js";
import { heads, scrolled } from "../../core/scroller.js";
import { html, nothing, prose, styles, svg } from "../../core/template.js";
import { sampleShare } from "../../runs/samples.js";
import { stallMeaning, stallTitle } from "../../runs/stall_words.js";
import { sourceMark } from "./analysis.js";

const STRIP_WIDTH = 300;
const STRIP_HEIGHT = 22;
const LEVELS = /** @type {Record<string, string>} */ ({
  dram: "DRAM",
  l2: "L2",
  l1: "L1",
  shared: "shared memory",
});
const THROTTLED = "throttled by";

/** The comparison with the reference in a line. @param {Check} check */
export function checkLine({ reason, reference, outputs }) {
  if (reason) return html`<p class="roofline-check">${prose(`Not compared: ${reason}`)}</p>`;
  const wrong = outputs.filter(({ matches }) => !matches);
  const [worst] = [...outputs].sort(
    (one, other) => other.relative_error / other.tolerance - one.relative_error / one.tolerance,
  );
  if (!worst) return html`<p class="roofline-check">The kernel writes nothing that could be compared.</p>`;
  const shown = wrong[0] ?? worst;
  const [is, should] = elements(shown.worst_value, shown.worst_reference);
  const words = [
    `${shown.name}: relative error ${error(shown.relative_error)}, ${error(shown.tolerance)} allowed`,
    !shown.shape.includes(0) && `worst element ${place(shown.worst_index)} is ${is}, the reference ${should}`,
    shown.not_finite && `${plural(shown.not_finite, "element")} not finite`,
  ];
  return html`<p class=${`roofline-check ${wrong.length ? "is-wrong" : "is-right"}`}>
    <b>${wrong.length ? "Differs from the reference" : "Matches the reference"}</b>
    ${words.filter(Boolean).join("; ")}. <span class="hint">${reference}</span>
  </p>`;
}

/** @param {Timings} timings */
export function timingList({ timings }) {
  if (timings.length === 0) return nothing;
  const all = timings.flatMap(({ samples_ns: samples, low_ns: low, high_ns: high }) => [
    ...samples,
    low,
    high,
  ]);
  const [least, most] = [Math.min(...all), Math.max(...all)];
  const rows = timings.map(
    (timing) =>
      html`<tr>
        <th scope="row">${timing.cache}</th>
        <td>${timing.method}</td>
        <td><b>${time(timing.median_ns)}</b></td>
        <td>${time(timing.low_ns)} – ${time(timing.high_ns)}</td>
        <td>${strip(timing, least, most)}</td>
      </tr>`,
  );
  return html`<section>
    <h3>Time of one launch</h3>
    ${scrolled(
      "Times of one launch",
      html`${heads(["L2 before", "by", "median", "20 % to 80 %", "every launch"])}<tbody>${rows}</tbody>`,
    )}
    <p class="source">
      Proton gets the time of the kernel from the GPU; do_bench includes the launch. Cold: the L2 cache was
      flushed before each launch.
    </p>
  </section>`;
}

/**
 * Every launch as a tick; the median and the spread are marked.
 * @param {Timing} timing
 * @param {number} least
 * @param {number} most
 */
function strip({ samples_ns: samples, median_ns: median, low_ns: low, high_ns: high }, least, most) {
  const x = (/** @type {number} */ value) =>
    3 + ((value - least) / Math.max(1e-9, most - least)) * (STRIP_WIDTH - 6);
  const tick = (/** @type {string} */ name, /** @type {number} */ value, top = 5) =>
    svg`<line class=${name} x1=${x(value)} x2=${x(value)} y1=${top} y2=${STRIP_HEIGHT - top}></line>`;
  const [first, last] = [Math.min(...samples, median), Math.max(...samples, median)];
  return html`<svg class="roofline-samples" viewBox=${`0 0 ${STRIP_WIDTH} ${STRIP_HEIGHT}`} role="img"
      aria-label=${`${plural(samples.length, "launch")} from ${time(first)} to ${time(last)}`}>
    <rect class="spread" x=${x(low)} y="3" width=${Math.max(1, x(high) - x(low))} height=${STRIP_HEIGHT - 6}
      rx="2"></rect>
    ${samples.map((value) => tick("sample", value))} ${tick("median", median, 1)}
  </svg>`;
}

/** @param {Environment} environment */
export function conditionsTable({ gpu, driver, triton, torch, python, multiprocessors, conditions }) {
  const show = /** @type {[string, (each: Conditions) => string][]} */ ([
    ["SM clock", ({ sm_clock_mhz: clock }) => (clock === null ? "–" : `${clock} MHz`)],
    ["memory clock", ({ memory_clock_mhz: clock }) => (clock === null ? "–" : `${clock} MHz`)],
    [
      "power",
      ({ power_watts: power, power_limit_watts: limit }) =>
        power === null ? "–" : `${Math.round(power)} W${limit === null ? "" : ` of ${Math.round(limit)}`}`,
    ],
    [
      "temperature",
      ({ temperature_celsius: temperature }) => (temperature === null ? "–" : `${temperature} °C`),
    ],
    [THROTTLED, ({ throttled_by: reasons }) => reasons.join(", ") || "nothing"],
  ]);
  const where = gpu
    ? `${gpu}, ${plural(multiprocessors, "multiprocessor")}, driver ${driver}`
    : "interpreter";
  const cell = (/** @type {string} */ title, /** @type {Conditions} */ each, /** @type {string} */ words) =>
    html`<td class=${title === THROTTLED && each.throttled_by.length ? "warning" : nothing}>${words}</td>`;
  const rows = show.map(
    ([title, words]) =>
      html`<tr><th scope="row">${title}</th>${conditions.map((each) => cell(title, each, words(each)))}</tr>`,
  );
  return html`<section>
    <h3>Where it ran</h3>
    <p class="hint">${where}; Triton ${triton}, torch ${torch}, Python ${python}.</p>
    ${
      conditions.length
        ? scrolled(
            "Conditions",
            html`${heads(["GPU", ...conditions.map(({ moment }) => moment)])}<tbody>${rows}</tbody>`,
          )
        : nothing
    }
  </section>`;
}

/** @param {Counters} counters */
export function counterTables({ reason, tool, source, cache, bytes, operations, pipes, stalls, metrics }) {
  if (reason) return html`<section><h3>Counters</h3><p>${prose(reason)}</p></section>`;
  const whole = (/** @type {number} */ value) => exact(Math.round(value));
  const rows = [
    ...Object.entries(bytes).map(([level, value]) => [
      `${LEVELS[level] ?? level}, bytes`,
      large(value, "B"),
      whole(value),
    ]),
    ...Object.entries(operations).map(([kind, value]) => [
      `operations, ${kind}`,
      large(value, "").trim(),
      whole(value),
    ]),
    ...Object.entries(pipes).map(([pipe, share]) => [`pipe ${pipe}, busy`, percent(share), ""]),
  ].map(
    ([name, short, exactly]) =>
      html`<tr><th scope="row">${name}</th><td>${short}${sourceMark(source)}</td>
        <td class="roofline-exact">${exactly}</td></tr>`,
  );
  return html`<section>
    <h3>Counters</h3>
    ${scrolled("Counters", html`${heads(["what", "how much", "exactly"])}<tbody>${rows}</tbody>`)}
    ${stallBars(stalls)}
    <p class="source">${tool}, one launch with a ${cache} L2.</p>
    ${metricTable(metrics)}
  </section>`;
}

/** Why warps waited. @param {Record<string, number>} stalls */
export function stallBars(stalls) {
  const all = Object.entries(stalls).sort(([, one], [, other]) => other - one);
  const total = all.reduce((sum, [, count]) => sum + count, 0);
  const most = all[0]?.[1] ?? 1;
  if (total === 0) return nothing;
  const rows = all
    .filter(([, count]) => count / total >= 0.005)
    .map(
      ([reason, count]) =>
        html`<div class="roofline-stall" title=${stallMeaning(reason)}>
          <span>${stallTitle(reason)}</span>
          <span class="track" aria-hidden="true"><span class="bar"
            ${styles({ "--share": `${(100 * count) / most}%` })}></span></span>
          <b>${sampleShare(count / total)}</b>
        </div>`,
    );
  return html`<div class="roofline-stalls" role="group" aria-label="Stall reasons">${rows}</div>`;
}

/** @param {Record<string, number>} all by the names of the profiler */
function metricTable(all) {
  const names = Object.keys(all).sort();
  if (names.length === 0) return nothing;
  const rows = names.map(
    (name) =>
      html`<tr><th scope="row" class="metric-name">${name}</th><td>${exact(all[name] ?? 0)}</td></tr>`,
  );
  return html`<details class="roofline-more">
    <summary>${plural(names.length, "metric")} as the profiler names them</summary>
    ${scrolled("Metrics", html`<tbody>${rows}</tbody>`)}
  </details>`;
}

/** @param {ProfileFiles["files"]} files @param {(name: string) => string} address @param {string} [title] */
export function fileList(files, address, title = "Files") {
  if (files.length === 0) return nothing;
  return html`<section>
    <h3>${title}</h3>
    <ul class="roofline-files">${files.map(
      ({ name }) => html`<li><a href=${address(name)} download=${name}>${name}</a></li>`,
    )}</ul>
  </section>`;
}
