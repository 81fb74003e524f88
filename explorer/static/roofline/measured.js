/**
 * What was measured of a run: its times with all their samples, counters, conditions, the check, files to take home.
 *
 * @import { Check, Conditions, Counters, Environment, ProfileFiles, Timing, Timings } from "../run/documents.js"
 */
import { make, prose } from "../dom.js";
import { plural } from "../format.js";
import { elements, error, exact, large, percent, place, time } from "../run/numbers.js";
import { scrolled } from "../run/scroller.js";
import { makeSvg } from "../svg.js";
import { sourceMark } from "./analysis.js";
import { sampleShare, stallMeaning, stallTitle } from "./stall_words.js";

const STRIP_WIDTH = 300;
const STRIP_HEIGHT = 22;
const LEVELS = /** @type {Record<string, string>} */ ({ dram: "DRAM", l2: "L2", l1: "L1", shared: "shared memory" });

/** @param {Check} check one line, and where it is wrong */
export function checkLine({ reason, reference, outputs }) {
  if (reason) return make("p", { class: "roofline-check" }, ...prose(`Not compared: ${reason}`));
  const wrong = outputs.filter(({ matches }) => !matches);
  const worst = [...outputs].sort((one, other) => other.relative_error / other.tolerance - one.relative_error / one.tolerance)[0];
  if (!worst) return make("p", { class: "roofline-check" }, "The kernel writes nothing that could be compared.");
  const shown = wrong[0] ?? worst;
  const [is, should] = elements(shown.worst_value, shown.worst_reference);
  const words = `${shown.name}: relative error ${error(shown.relative_error)}, ${error(shown.tolerance)} allowed${shown.shape.includes(0) ? "" : `; worst element ${place(shown.worst_index)} is ${is}, the reference ${should}`}`;
  const notFinite = shown.not_finite ? `; ${plural(shown.not_finite, "element")} not finite` : "";
  return make("p", { class: `roofline-check ${wrong.length ? "is-wrong" : "is-right"}` },
    make("b", {}, wrong.length ? "Differs from the reference" : "Matches the reference"), ` ${words}${notFinite}.`, make("span", { class: "hint" }, ` ${reference}`));
}

/** @param {Timings} timings */
export function timingList({ timings }) {
  if (timings.length === 0) return null;
  const all = timings.flatMap(({ samples_ns: samples, low_ns: low, high_ns: high }) => [...samples, low, high]);
  const [least, most] = [Math.min(...all), Math.max(...all)];
  return make("section", {}, make("h3", {}, "Time of one launch"),
    scrolled("Times of one launch",
      make("thead", {}, make("tr", {}, ...["L2 before", "by", "median", "20 % to 80 %", "every launch"].map((head) => make("th", { scope: "col" }, head)))),
      make("tbody", {}, ...timings.map((timing) => make("tr", {},
        make("th", { scope: "row" }, timing.cache), make("td", {}, timing.method), make("td", {}, make("b", {}, time(timing.median_ns))),
        make("td", {}, `${time(timing.low_ns)} – ${time(timing.high_ns)}`), make("td", {}, strip(timing, least, most)))))),
    make("p", { class: "source" }, "Proton asks the GPU how long the kernel itself took; do_bench includes the launch. Cold: the L2 cache was flushed before each launch."));
}

/** Every launch as a tick, the median and the spread marked. @param {Timing} timing @param {number} least @param {number} most */
function strip({ samples_ns: samples, median_ns: median, low_ns: low, high_ns: high }, least, most) {
  const x = (/** @type {number} */ value) => 3 + ((value - least) / Math.max(1e-9, most - least)) * (STRIP_WIDTH - 6);
  const tick = (/** @type {string} */ name, /** @type {number} */ value, top = 5) =>
    makeSvg("line", { class: name, x1: x(value), x2: x(value), y1: top, y2: STRIP_HEIGHT - top });
  return makeSvg("svg", { class: "roofline-samples", viewBox: `0 0 ${STRIP_WIDTH} ${STRIP_HEIGHT}`, role: "img", "aria-label": `${plural(samples.length, "launch")} from ${time(Math.min(...samples, median))} to ${time(Math.max(...samples, median))}` },
    makeSvg("rect", { class: "spread", x: x(low), y: 3, width: Math.max(1, x(high) - x(low)), height: STRIP_HEIGHT - 6, rx: 2 }),
    ...samples.map((value) => tick("sample", value)),
    tick("median", median, 1));
}

/** @param {Environment} environment */
export function conditionsTable({ gpu, driver, triton, torch, python, multiprocessors, conditions }) {
  const show = /** @type {[string, (each: Conditions) => string][]} */ ([
    ["SM clock", ({ sm_clock_mhz: clock }) => (clock === null ? "–" : `${clock} MHz`)],
    ["memory clock", ({ memory_clock_mhz: clock }) => (clock === null ? "–" : `${clock} MHz`)],
    ["power", ({ power_watts: power, power_limit_watts: limit }) => (power === null ? "–" : `${Math.round(power)} W${limit === null ? "" : ` of ${Math.round(limit)}`}`)],
    ["temperature", ({ temperature_celsius: temperature }) => (temperature === null ? "–" : `${temperature} °C`)],
    ["slowed down by", ({ throttled_by: reasons }) => reasons.join(", ") || "nothing"],
  ]);
  const where = gpu ? `${gpu}, ${plural(multiprocessors, "multiprocessor")}, driver ${driver}` : "interpreter";
  return make("section", {}, make("h3", {}, "Where it ran"),
    make("p", { class: "hint" }, `${where}; Triton ${triton}, torch ${torch}, Python ${python}.`),
    conditions.length === 0 ? null : scrolled("Conditions",
      make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "GPU"), ...conditions.map(({ moment }) => make("th", { scope: "col" }, moment)))),
      make("tbody", {}, ...show.map(([title, words]) => make("tr", {}, make("th", { scope: "row" }, title), ...conditions.map((each) =>
        make("td", { class: title === "slowed down by" && each.throttled_by.length ? "warning" : null }, words(each))))))));
}

/** @param {Counters} counters */
export function counterTables(counters) {
  const { reason, tool, source, cache } = counters;
  const head = make("h3", {}, "Counters");
  if (reason) return make("section", {}, head, make("p", {}, ...prose(reason)));
  const rows = [
    ...Object.entries(counters.bytes).map(([level, value]) => /** @type {const} */ ([`${LEVELS[level] ?? level}, bytes`, large(value, "B"), exact(Math.round(value))])),
    ...Object.entries(counters.operations).map(([kind, value]) => /** @type {const} */ ([`operations, ${kind}`, large(value, "").trim(), exact(Math.round(value))])),
    ...Object.entries(counters.pipes).map(([pipe, share]) => /** @type {const} */ ([`pipe ${pipe}, busy`, percent(share), ""])),
  ];
  return make("section", {}, head,
    scrolled("Counters",
      make("thead", {}, make("tr", {}, ...["what", "how much", "exactly"].map((title) => make("th", { scope: "col" }, title)))),
      make("tbody", {}, ...rows.map(([name, short, whole]) => make("tr", {}, make("th", { scope: "row" }, name), make("td", {}, short, sourceMark(source)), make("td", { class: "roofline-exact" }, whole))))),
    stallBars(counters.stalls),
    make("p", { class: "source" }, `${tool}, one launch with a ${cache} L2.`),
    metrics(counters.metrics));
}

/** Why warps waited. @param {Record<string, number>} stalls */
export function stallBars(stalls) {
  const all = Object.entries(stalls).sort(([, one], [, other]) => other - one);
  const total = all.reduce((sum, [, count]) => sum + count, 0);
  if (total === 0) return null;
  return make("div", { class: "roofline-stalls", role: "group", "aria-label": "Stall reasons" }, ...all.filter(([, count]) => count / total >= 0.005).map(([reason, count]) => {
    const inside = make("span", { class: "bar" });
    inside.style.setProperty("--share", `${(100 * count) / (all[0]?.[1] ?? 1)}%`);
    return make("div", { class: "roofline-stall", title: stallMeaning(reason) }, make("span", {}, stallTitle(reason)), make("span", { class: "track", "aria-hidden": "true" }, inside), make("b", {}, sampleShare(count / total)));
  }));
}

/** @param {Record<string, number>} all by the profiler's own names */
function metrics(all) {
  const names = Object.keys(all).sort();
  if (names.length === 0) return null;
  return make("details", { class: "roofline-more" }, make("summary", {}, `${plural(names.length, "metric")} as the profiler names them`),
    scrolled("Metrics", make("tbody", {}, ...names.map((name) =>
      make("tr", {}, make("th", { scope: "row", class: "metric-name" }, name), make("td", {}, exact(all[name] ?? 0)))))));
}

/** @param {ProfileFiles} files @param {(name: string) => string} address @param {string} [title] */
export function fileList({ files }, address, title = "Files") {
  if (files.length === 0) return null;
  return make("section", {}, make("h3", {}, title),
    make("ul", { class: "roofline-files" }, ...files.map(({ name }) => make("li", {}, make("a", { href: address(name), download: name }, name)))));
}
