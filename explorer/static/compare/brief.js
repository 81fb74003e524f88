/**
 * What differs in brief: both pipelines as a table, and what the binaries need.
 *
 * @import { ComparisonDocument, ResourcePair, StagePair, StageSide } from "../types.js"
 */
import { make } from "../dom.js";
import { duration, size } from "../format.js";
import { comparedFact, placeOfFact } from "../resource_facts.js";
import { hueClass } from "../stages.js";
import { currentView, formatView } from "./address.js";
import { durationDelta, isOver, lineChanges, numberCell, onlyOn, signed } from "./deltas.js";

/** @param {ComparisonDocument} comparison */
export function drawBrief(comparison) {
  return make("div", { class: "brief" }, resources(comparison), pipelines(comparison));
}

/** @param {ComparisonDocument} comparison */
function resources(comparison) {
  const { resources: pairs, before, after } = comparison;
  const rows = [...pairs]
    .sort((one, other) => placeOfFact(one.name) - placeOfFact(other.name))
    .map((pair) => resourceRow(pair, comparison))
    .filter((row) => row !== null);
  return make(
    "section",
    { "aria-labelledby": "resources-title" },
    make("h2", { id: "resources-title" }, "Resources"),
    rows.length === 0
      ? make("p", { class: "hint" }, isOver(before) && isOver(after) ? "Neither result has a binary." : "The binaries are on their way.")
      : make("div", { class: "table-frame", tabindex: "0", role: "group", "aria-labelledby": "resources-title" },
          make("table", { class: "pairs" }, headRow("What the binary needs", ["before", "after", "difference"]), make("tbody", {}, ...rows))),
  );
}

/** @param {ResourcePair} pair @param {ComparisonDocument} comparison */
function resourceRow(pair, comparison) {
  const fact = comparedFact(pair);
  if (!fact) return null;
  const { before, after, verdict } = pair;
  const isNumber = typeof before === "number" && typeof after === "number";
  const delta = verdict === "same" ? "same" : isNumber ? difference(pair.name, after - before) : onlyOn(before, after, comparison) || "another";
  // Bytes that differ by little are told to the byte, or both would read the same.
  const isRounded = isNumber && before !== after && fact.show(before) === fact.show(after) && pair.name.endsWith("_bytes");
  const show = isRounded ? (/** @type {unknown} */ value) => `${Number(value).toLocaleString("en")} B` : fact.show;
  const word = verdict === "better" || verdict === "worse" ? ` ${verdict}` : "";
  return make(
    "tr",
    { class: `is-${verdict}` },
    make("th", { scope: "row" }, fact.title),
    numberCell(show(before)),
    numberCell(show(after)),
    make("td", { class: "verdict" }, word ? make("b", {}, delta) : delta, word),
  );
}

/** @param {string} name @param {number} delta */
function difference(name, delta) {
  if (name === "occupancy") return signed(Math.round(delta * 100), (points) => `${points} points`);
  return signed(delta, name.endsWith("_bytes") ? size : undefined);
}

/** @param {ComparisonDocument} comparison */
function pipelines(comparison) {
  const { stages, before, after } = comparison;
  // How long a failure took says nothing.
  const total = [before, after].map(({ status, milliseconds }) => (status === "complete" ? milliseconds : null));
  return make(
    "section",
    { "aria-labelledby": "pipelines-title" },
    make("h2", { id: "pipelines-title" }, "Pipelines"),
    stages.length === 0
      ? make("p", { class: "hint" }, "No stage is there yet.")
      : make("div", { class: "table-frame", tabindex: "0", role: "group", "aria-labelledby": "pipelines-title" },
          make(
            "table",
            { class: "pairs pipelines" },
            make(
              "thead",
              {},
              make("tr", {}, make("th", { scope: "col", rowspan: "2" }, "Stage"), ...["Time", "Lines", "Passes with a change"].map((title) => make("th", { scope: "colgroup", colspan: "3" }, title))),
              make("tr", {}, ...Array(3).fill(["before", "after", "difference"]).flat().map((title) => make("th", { scope: "col" }, title))),
            ),
            make("tbody", {}, ...stages.map((pair) => stageRow(pair, comparison))),
            total[0] !== null && total[1] !== null && make("tfoot", {}, make("tr", {}, make("th", { scope: "row" }, "Whole compilation"),
              numberCell(duration(total[0])), numberCell(duration(total[1])), numberCell(durationDelta(Number(total[1]) - Number(total[0]))), make("td", { colspan: "6" }))),
          )),
  );
}

/** @param {StagePair} pair @param {ComparisonDocument} comparison */
function stageRow({ name, title, before, after, lines_added, lines_removed }, comparison) {
  const href = formatView({ ...currentView(), show: "stage", before: name, after: name });
  const both = before && after;
  return make(
    "tr",
    {},
    make("th", { scope: "row", class: hueClass(name) }, make("a", { class: "stage-link", href }, title)),
    numberCell(duration(before?.milliseconds) || "–"),
    numberCell(duration(after?.milliseconds) || "–"),
    numberCell(both ? durationDelta(after.milliseconds - before.milliseconds) : ""),
    numberCell(before?.lines.toLocaleString("en") ?? "–"),
    numberCell(after?.lines.toLocaleString("en") ?? "–"),
    make("td", { class: "number-cell" }, ...(both ? lineChanges(lines_removed, lines_added) : [onlyOn(before, after, comparison)])),
    numberCell(passesOf(before)),
    numberCell(passesOf(after)),
    numberCell(both && (before.passes || after.passes) ? signed(after.changed_passes - before.changed_passes) : ""),
  );
}

/** @param {StageSide | null} side */
function passesOf(side) {
  return side?.passes ? `${side.changed_passes} of ${side.passes}` : "–";
}

/** @param {string} first @param {string[]} others */
function headRow(first, others) {
  return make("thead", {}, make("tr", {}, ...[first, ...others].map((title) => make("th", { scope: "col" }, title))));
}
