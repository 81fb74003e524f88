/**
 * Occupancy as it depends on one resource: a small plot in steps.
 *
 * @import { OccupancyCurve } from "../types.js"
 */
import { make } from "../dom.js";
import { size } from "../format.js";

const SVG = "http://www.w3.org/2000/svg";
const WIDTH = 300;
const HEIGHT = 60;
const TITLES = /** @type {Record<string, string>} */ ({ warps: "Warps of a block", registers: "Registers of a thread", "shared memory": "Shared memory of a block" });

/** @param {OccupancyCurve} curve */
export function curveOf(curve) {
  const { resource, unit, now, most, steps, better } = curve;
  const show = (/** @type {number} */ value) => (unit === "bytes" ? size(value) : String(value));
  const first = steps[0]?.value ?? 0;
  const x = (/** @type {number} */ value) => ((value - first) / Math.max(1, most - first)) * WIDTH;
  const y = (/** @type {number} */ share) => HEIGHT - share * HEIGHT;
  let path = "";
  steps.forEach((step, index) => {
    const end = steps[index + 1]?.value ?? most;
    path += `${index ? "L" : "M"}${x(step.value)} ${y(step.share)}L${x(end)} ${y(step.share)}`;
  });
  const hint = better
    ? `${show(better.value)} would give ${percent(better.share)}`
    : resource === "warps" ? "" : "less alone brings nothing";
  return make(
    "figure",
    { class: "curve", "aria-label": `Occupancy by ${resource}: ${steps.map((step) => `from ${show(step.value)} ${percent(step.share)}`).join(", ")}` },
    make("figcaption", {}, make("b", {}, `${TITLES[resource] ?? resource}: ${show(now)}`), make("span", {}, hint)),
    plot(path, x(now), x(most)),
    make("div", { class: "ends", "aria-hidden": "true" }, make("span", {}, show(first)), make("span", {}, show(most))),
  );
}

/** @param {string} path @param {number} now @param {number} end */
function plot(path, now, end) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", `0 0 ${WIDTH} ${HEIGHT}`);
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("aria-hidden", "true");
  const add = (/** @type {string} */ tag, /** @type {Record<string, string | number>} */ attributes) => {
    const element = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
    svg.append(element);
  };
  add("path", { class: "area", d: `${path}L${end} ${HEIGHT}L0 ${HEIGHT}Z` });
  add("line", { class: "axis", x1: 0, x2: WIDTH, y1: HEIGHT, y2: HEIGHT });
  add("path", { class: "line", d: path });
  add("line", { class: "now", x1: now, x2: now, y1: 0, y2: HEIGHT });
  return svg;
}

/** @param {number} share */
export function percent(share) {
  return `${Math.round(share * 100)} %`;
}
