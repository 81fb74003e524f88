/**
 * Whether the result is right: each output against the reference.
 *
 * @import { Check, OutputCheck } from "./documents.js"
 */
import { make } from "../dom.js";
import { plural } from "../format.js";
import { dimensions, elements, error, place } from "./numbers.js";
import { scrolled } from "./scroller.js";

/** @param {Check} check @param {boolean} isSaid what is wrong stands above already */
export function checkSection({ reason, reference, outputs }, isSaid) {
  if (outputs.length === 0) return make("section", {}, make("h3", {}, "Result"), make("p", { class: "hint" }, reason || "The kernel has written no tensor."));
  const wrong = outputs.filter(({ matches }) => !matches);
  const verdict = wrong.length === 0
    ? make("p", { class: "run-verdict is-good" }, outputs.length === 1 ? "It matches the reference." : `${outputs.length === 2 ? "Both" : `All ${outputs.length}`} outputs match the reference.`)
    : make("p", { class: "run-verdict is-bad" }, outputs.length === 1 ? "It does not match the reference." : `${wrong.length} of ${plural(outputs.length, "output")} do not match the reference.`);
  return make("section", { class: "run-check" }, make("h3", {}, "Result"), verdict,
    ...(isSaid ? wrong.filter((each) => each.not_finite) : wrong).map((each) => worst(each, isSaid)),
    scrolled("Outputs against the reference",
      make("thead", {}, make("tr", {}, ...["output", "relative error", "tolerance", "worst element", "kernel", "reference"].map((head) => make("th", { scope: "col", class: head === "tolerance" ? "is-minor" : null }, head)))),
      make("tbody", {}, ...outputs.map(row))),
    make("p", { class: "hint" }, [reference && `Against ${reference}`, reason].filter(Boolean).join(". ")));
}

/** @param {OutputCheck} output */
function row(output) {
  const { name, type, shape, relative_error: relative, tolerance, worst_index: index, worst_value: value, worst_reference: expected, matches } = output;
  const shown = shape.includes(0) ? ["–", "–", "–"] : [place(index), ...elements(value, expected)];
  return make("tr", { class: matches ? null : "is-bad" },
    make("th", { scope: "row" }, make("span", { class: matches ? "sign is-good" : "sign is-bad", "aria-hidden": "true" }, matches ? "✓" : "✗"), make("span", { class: "visually-hidden" }, matches ? "matches: " : "wrong: "), name, make("small", {}, ` ${dimensions(shape)} ${type}`)),
    make("td", {}, error(relative)), make("td", { class: "is-minor" }, error(tolerance)),
    ...shown.map((each) => make("td", {}, each)));
}

/** What is wrong most, in sentences. @param {OutputCheck} output @param {boolean} isSaid */
function worst({ name, worst_index: index, worst_value: value, worst_reference: expected, not_finite: infinite, relative_error: relative, tolerance }, isSaid) {
  const [is, should] = elements(value, expected);
  const sentences = isSaid ? [] : [
    `${name}${place(index)} is ${is}, the reference says ${should}.`,
    `The relative error of the whole is ${error(relative)}; ${error(tolerance)} would pass.`,
  ];
  if (infinite) sentences.push(`${plural(infinite, "element")} of ${name} ${infinite === 1 ? "is" : "are"} NaN or infinite where the reference is not, or the other way round.`);
  return make("p", { class: "run-worst" }, sentences.join(" "));
}
