/**
 * How long one launch takes.
 *
 * @import { Timing, Timings } from "./documents.js"
 */
import { make } from "../dom.js";
import { exact, time } from "./numbers.js";
import { scrolled } from "./scroller.js";

/** @type {Record<Timing["method"], string>} */
const METHODS = { proton: "Proton (CUPTI)", do_bench: "do_bench" };

/** @param {Timings} timings @param {boolean} isInterpreted */
export function timingsSection({ timings }, isInterpreted) {
  const best = timings.find(({ method, cache }) => method === "proton" && cache === "warm") ?? timings[0];
  if (!best) return null;
  const most = Math.max(...timings.map(({ high_ns: high }) => high));
  return make("section", { class: "run-timings" }, make("h3", {}, "Time of one launch"),
    make("p", { class: "run-big" }, time(best.median_ns), make("small", {}, `median, ${best.cache} L2, by ${METHODS[best.method]}`)),
    scrolled("Times of one launch",
      make("thead", {}, make("tr", {}, ...["by", "L2 cache", "median", "20 % to 80 %", "", "launches"].map(columnHead))),
      make("tbody", {}, ...timings.map((timing) => row(timing, most)))),
    isInterpreted && make("p", { class: "warning" }, "Of the interpreter: this says nothing about the kernel."));
}

/** @param {string} title "": of a picture */
function columnHead(title) {
  return title ? make("th", { scope: "col", class: /^[bL]/.test(title) ? "is-text" : null }, title) : make("td", {});
}

/** @param {Timing} timing @param {number} most */
function row({ method, cache, median_ns: median, low_ns: low, high_ns: high, samples_ns: samples }, most) {
  const strip = make("span", { class: "run-spread", "aria-hidden": "true" });
  strip.style.setProperty("--low", `${(100 * low) / most}%`);
  strip.style.setProperty("--high", `${(100 * high) / most}%`);
  strip.style.setProperty("--median", `${(100 * median) / most}%`);
  return make("tr", {}, make("th", { scope: "row" }, METHODS[method]), make("td", { class: "is-text" }, cache), make("td", {}, make("b", {}, time(median))),
    make("td", {}, `${time(low)} – ${time(high)}`), make("td", { class: "run-strip" }, strip), make("td", {}, samples.length ? exact(samples.length) : ""));
}
