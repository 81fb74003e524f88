/**
 * What follows from a run, in words and tables: the least time of each resource, what is lost, what would help.
 *
 * @import { Hint, Loss, Quantity, Resource, RooflineDocument, Source } from "./documents.js"
 */
import { make, prose } from "../dom.js";
import { large, percent, time } from "../run/numbers.js";
import { scrolled } from "../run/scroller.js";

/** How long it was busy is shown, but bounds nothing. */
const TENSOR_PIPE = "pipe tensor";

/** @param {RooflineDocument} document */
export function verdictOf({ verdict, floors, near_share: near }) {
  const floor = floors.find(({ source }) => source === "measured") ?? floors[0];
  const share = floor?.share ?? null;
  const level = share === null ? "" : share >= near ? " is-near" : share >= near / 2 ? " is-half" : " is-far";
  return make("p", { class: `roofline-verdict${level}` }, share === null ? null : make("b", {}, percent(share)), make("span", {}, verdict));
}

/** The least time that each resource needs; that of the slowest is the floor of the whole. @param {RooflineDocument} document */
export function floorTable({ resources, floors, time: taken }) {
  const sources = [...new Set(resources.flatMap(({ needs }) => needs.map(({ source }) => source)))];
  if (resources.length === 0) return null;
  const binding = (/** @type {Source} */ source) => floors.find((floor) => floor.source === source)?.binding;
  const cells = (/** @type {Resource} */ { name, needs }, /** @type {Source} */ source) => {
    const need = needs.find((each) => each.source === source);
    const isBinding = binding(source) === name;
    return [
      make("td", { class: isBinding ? "is-binding" : null, title: need && need.rate > 1 ? `at ${large(need.rate, "").trim()} a second` : null }, need ? time(need.time_ns) : "–"),
      make("td", { class: isBinding ? "is-binding" : null }, need && need.share !== null ? bar(need.share) : ""),
    ];
  };
  return make(
    "section",
    {},
    make("h3", {}, taken ? `Least time of each resource; ${time(taken.median_ns)} were taken` : "Least time of each resource; nothing was timed"),
    scrolled(
      "Least time of each resource",
      make("thead", {}, make("tr", {},
        make("th", { scope: "col" }, "resource"), make("th", { scope: "col" }, "work"),
        ...sources.flatMap((source) => [make("th", { scope: "col" }, source === "datasheet" ? "by datasheet" : "by measured roof"), make("th", { scope: "col" }, "share of the time")]))),
      make("tbody", {}, ...resources.map((resource) => make("tr", {},
        make("th", { scope: "row" }, resource.title), make("td", {}, ...quantity(resource.work, resource.unit)), ...sources.flatMap((source) => cells(resource, source))))),
    ),
    make("p", { class: "source" }, "The resource that needs longest bounds the kernel from below; it is marked."
      + (resources.some(({ name }) => name === TENSOR_PIPE) ? " How long the tensor pipe was busy is no need of the kernel's: at a lower clock it is busy for longer with the same work." : "")
      + (resources.some(({ needs }) => needs.some(isFasterThanRoof)) ? " More than 100 % by a measured roof: faster than what that roof was measured by." : "")),
  );
}

/** @param {RooflineDocument} document */
export function lossList({ losses }) {
  if (losses.length === 0) return null;
  const lost = (/** @type {Loss} */ { lost_ns: ns, share }) => [ns !== null && time(ns), share !== null && percent(share)].filter(Boolean).join(", ");
  return make("section", {}, make("h3", {}, "Lost beside that"),
    make("dl", { class: "roofline-losses" }, ...losses.flatMap((loss) => [
      make("dt", {}, loss.title, make("b", {}, lost(loss))),
      make("dd", {}, loss.text, sourceMark(loss.source)),
    ])));
}

/** @param {Hint[]} hints @param {(line: number) => void} show goes to a source line */
export function hintList(hints, show) {
  if (hints.length === 0) return null;
  return make("section", {}, make("h3", {}, "What would help"),
    make("ol", { class: "roofline-hints" }, ...hints.map((hint) => make("li", {},
      make("div", { class: "roofline-hint-head" },
        make("b", {}, hint.title),
        hint.source_line ? make("button", { type: "button", class: "link", onclick: () => show(hint.source_line) }, `line ${hint.source_line}`) : null,
        hint.gain_ns !== null ? make("span", { class: "gain" }, `at most −${time(hint.gain_ns)}${hint.gain_share === null ? "" : `, ${percent(hint.gain_share)}`}`) : null),
      make("p", {}, ...prose(hint.text)),
      make("ul", { class: "roofline-evidence" }, ...hint.evidence.map(({ name, value, unit, source }) =>
        make("li", {}, `${name} `, make("b", {}, amount(value, unit)), sourceMark(source))))))));
}

/** @param {RooflineDocument["missing"]} missing */
export function missingList(missing) {
  if (missing.length === 0) return null;
  return make("section", {}, make("h3", {}, "Not known"), make("ul", { class: "roofline-missing" }, ...missing.map(({ what, reason }) => make("li", {}, make("b", {}, what), " ", ...prose(reason)))));
}

/** The work of a resource with its source; that of a pipe is how busy it was. @param {Quantity} quantity @param {string} unit @returns {Node[]} */
function quantity({ value, source, note }, unit) {
  return [make("span", { title: note || null }, unit === "%" ? `busy ${amount(value, unit)}` : amount(value, unit)), sourceMark(source)];
}

/** @param {number} value @param {string} unit "%": the value is a share of 1 */
function amount(value, unit) {
  if (unit === "%") return percent(value);
  const noun = /** @type {Record<string, string>} */ ({ inst: "instructions", instructions: "instructions", operations: "operations" })[unit];
  return noun ? `${large(value, "").trim()} ${noun}` : large(value, unit).trim();
}

/** Where a number is from, small behind it. @param {string} source */
export function sourceMark(source) {
  return make("small", { class: "from" }, source);
}

/** A measured roof is only the most that something else has reached. @param {{source: Source, share: number | null}} achieved */
export function isFasterThanRoof({ source, share }) {
  return source === "measured" && share !== null && share >= 1.005;
}

/** @param {number} share */
function bar(share) {
  const inside = make("span", { class: "bar" });
  inside.style.setProperty("--share", `${Math.min(100, 100 * share)}%`);
  return make("span", { class: "roofline-share" }, make("span", { class: "track", "aria-hidden": "true" }, inside), percent(share));
}
