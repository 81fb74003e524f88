/**
 * `<comparison-brief>`: a summary of the differences in resources, runs, memory, instructions and pipelines.
 *
 * @import { ComparisonDocument, ResourcePair, StagePair, StageSide } from "../core/types.js"
 */
import { api } from "../core/api.js";
import { duration, size } from "../core/format.js";
import { metric } from "../core/metrics.js";
import { time } from "../core/numbers.js";
import { Loaded } from "../core/pane.js";
import { comparedFact, placeOfFact } from "../core/resource_facts.js";
import { hueClass } from "../core/stages.js";
import { isOver } from "../core/status.js";
import { html, nothing } from "../core/template.js";
import { marked } from "../glossary/marks.js";
import { currentView, formatView } from "./address.js";
import { changeCounts } from "./change_counts.js";
import { durationDelta, NOISE_WORDS, onlyOn, signed } from "./deltas.js";
import { ComparisonPart } from "./part.js";
import "./parting.js";
import { loadTimings } from "./run_timings.js";
import { bufferRows, isFaster, mixRows, timingRows } from "./side_rows.js";

/** @typedef {[title: string, before: unknown, after: unknown, difference: unknown, kind?: string]} Row */

class ComparisonBrief extends ComparisonPart {
  /** The server's answers for both results: the instruction mix, the buffers and the runs. */
  sides = new Loaded(
    this,
    () => this.finished,
    (...ids) =>
      Promise.all(
        // The queries have no answer for a result without a binary or without shared memory.
        ids.map(async (id) => ({
          mix: await api.analysis(id, "occupancy").then(
            ({ mix }) => mix,
            () => null,
          ),
          memory: await api.analysis(id, "allocation").catch(() => null),
          timings: await loadTimings(id).catch(() => []),
        })),
      ),
  );

  /** @override */
  render() {
    const { comparison } = this;
    if (!comparison) return nothing;
    const hasFindings = [comparison.before, comparison.after].every(({ status }) => status === "complete");
    if (hasFindings) void import("./finding_changes.js");
    return html`<div class="brief"><comparison-parting></comparison-parting>${
      hasFindings ? html`<comparison-findings></comparison-findings>` : nothing
    }${resources(comparison)}${this.more()}${pipelines(comparison)}</div>`;
  }

  /** Runs, memory and instructions of both. */
  more() {
    return this.sides.render({
      waiting: () => html`<p class="hint">Comparing runs, memory and instructions …</p>`,
      failed: () => nothing,
      ready: ([before, after]) => {
        if (!before || !after) return nothing;
        const runs = timingRows(before.timings, after.timings);
        const count = (/** @type {number | null} */ value) => value?.toLocaleString("en") ?? "–";
        const bytes = (/** @type {number | null} */ value) => (value === null ? "–" : size(value));
        const both = (
          /** @type {import("./side_rows.js").NumberRow} */ { title, before: one, after: other, isPart },
          /** @type {typeof count} */ show,
        ) =>
          /** @type {Row} */ ([
            title,
            show(one),
            show(other),
            one === other ? "same" : signed((other ?? 0) - (one ?? 0), show),
            isPart ? "is-part" : "",
          ]);
        return html`${table(
          "Runs",
          "Time of the kernel",
          runs.map(({ title, before: one, after: other }) => {
            const faster = one && other ? isFaster(one, other) : null;
            const words = { true: "faster", false: "slower", null: "no clear difference" };
            return [
              title,
              spread(one),
              spread(other),
              one && other
                ? `${signed(other.median_ns - one.median_ns, time)} ${words[`${faster}`]}`
                : "only on one side",
              faster === null ? "" : faster ? "is-better" : "is-worse",
            ];
          }),
          "No run of these results was timed. Run both in the Run pane.",
        )}
        ${table(
          "Memory",
          "Shared memory",
          bufferRows(before.memory, after.memory).map((row) => both(row, bytes)),
          "Neither kernel needs shared memory.",
        )}
        ${table(
          "Instruction mix",
          "Instructions of the binary",
          mixRows(before.mix, after.mix).map((row) => both(row, count)),
          "There is no machine code to count.",
        )}`;
      },
    });
  }
}

/** @param {import("../core/types.js").Timing | null} timing */
function spread(timing) {
  if (!timing) return "–";
  const { median_ns: median, low_ns: low, high_ns: high } = timing;
  return html`<span title="Median of ${timing.samples_ns.length}; ${time(low)} to ${time(high)}">${time(median)}</span>`;
}

/** A table of both sides. @param {string} title @param {string} first @param {Row[]} rows @param {string} empty */
function table(title, first, rows, empty) {
  const id = `${title.toLowerCase().replaceAll(" ", "-")}-title`;
  return html`<section aria-labelledby=${id}>
    <h2 id=${id}>${title}</h2>
    ${
      rows.length === 0
        ? html`<p class="hint">${empty}</p>`
        : html`<div class="table-frame" tabindex="0" role="group" aria-labelledby=${id}>
            <table class="pairs">
              <thead><tr>${[first, "before", "after", "difference"].map(
                (each) => html`<th scope="col">${marked(each)}</th>`,
              )}</tr></thead>
              <tbody>${rows.map(
                ([name, before, after, difference, kind = ""]) => html`<tr class=${kind}>
                  <th scope="row">${marked(name)}</th>
                  <td class="number-cell">${before}</td>
                  <td class="number-cell">${after}</td>
                  <td class="verdict">${difference}</td>
                </tr>`,
              )}</tbody>
            </table>
          </div>`
    }
  </section>`;
}

/** @param {ComparisonDocument} comparison */
function resources(comparison) {
  const areOver = isOver(comparison.before) && isOver(comparison.after);
  const rows = [...comparison.resources]
    .sort((one, other) => placeOfFact(one.name) - placeOfFact(other.name))
    .flatMap((pair) => resourceRow(pair, comparison));
  return table(
    "Resources",
    "What the binary needs",
    rows,
    areOver ? "Neither result has a binary." : "The binaries are not compiled yet.",
  );
}

/** @param {ResourcePair} pair @param {ComparisonDocument} comparison @returns {Row[]} */
function resourceRow(pair, comparison) {
  const fact = comparedFact(pair);
  if (!fact) return [];
  const { name, before, after, verdict } = pair;
  const isNumber = typeof before === "number" && typeof after === "number";
  // Sizes that differ by little are shown in bytes: the rounded values would be equal.
  const isRounded =
    isNumber && before !== after && fact.show(before) === fact.show(after) && name.endsWith("_bytes");
  const show = isRounded
    ? (/** @type {unknown} */ value) => `${Number(value).toLocaleString("en")} B`
    : fact.show;
  const delta =
    verdict === "same"
      ? "same"
      : isNumber
        ? difference(name, after - before)
        : onlyOn(before, after, comparison) || "another";
  const hasWord = verdict === "better" || verdict === "worse";
  const words = hasWord ? html`<b>${delta}</b> ${verdict}` : delta;
  return [[fact.title, show(before), show(after), words, `is-${verdict}`]];
}

/** @param {string} name @param {number} delta */
function difference(name, delta) {
  if (name === "occupancy") return signed(Math.round(delta * 100), (points) => `${points} points`);
  return signed(delta, name.endsWith("_bytes") ? size : undefined);
}

/** @param {ComparisonDocument} comparison */
function pipelines(comparison) {
  const { stages, before, after } = comparison;
  // The time until a failure cannot be compared with the time of a whole compilation.
  const [one, other] = [before, after].map(({ status, milliseconds }) =>
    status === "complete" ? milliseconds : null,
  );
  const { title: compileTime } = metric("compile_milliseconds");
  const heads = [compileTime, "Lines and operations", "Passes with a change"];
  return html`<section aria-labelledby="pipelines-title">
    <h2 id="pipelines-title">Pipelines</h2>
    ${
      stages.length === 0
        ? html`<p class="hint">No stage has been compiled yet.</p>`
        : html`<div class="table-frame" tabindex="0" role="group" aria-labelledby="pipelines-title">
            <table class="pairs pipelines">
              <thead>
                <tr><th scope="col" rowspan="2">Stage</th>${heads.map(
                  (title) => html`<th scope="colgroup" colspan="3">${marked(title)}</th>`,
                )}</tr>
                <tr>${heads.flatMap(() =>
                  ["before", "after", "difference"].map((title) => html`<th scope="col">${title}</th>`),
                )}</tr>
              </thead>
              <tbody>${stages.map((pair) => stageRow(pair, comparison))}</tbody>
              ${
                typeof one === "number" && typeof other === "number"
                  ? html`<tfoot><tr>
                      <th scope="row">Whole compilation</th>
                      <td class="number-cell">${duration(one)}</td>
                      <td class="number-cell">${duration(other)}</td>
                      <td class="number-cell">${durationDelta(one, other, "compilation")}</td>
                      <td colspan="6"></td>
                    </tr></tfoot>`
                  : nothing
              }
            </table>
          </div>
          <p class="hint">${NOISE_WORDS}</p>`
    }
  </section>`;
}

/** @param {StagePair} pair @param {ComparisonDocument} comparison */
function stageRow(pair, comparison) {
  const { name, title, before, after } = pair;
  const both = before && after;
  const cells = [
    duration(before?.milliseconds) || "–",
    duration(after?.milliseconds) || "–",
    both ? durationDelta(before.milliseconds, after.milliseconds, "stage") : "",
    before?.lines.toLocaleString("en") ?? "–",
    after?.lines.toLocaleString("en") ?? "–",
    both ? changeCounts(pair) : onlyOn(before, after, comparison),
    passesOf(before),
    passesOf(after),
    both && (before.passes || after.passes) ? signed(after.changed_passes - before.changed_passes) : "",
  ];
  const href = formatView({ ...currentView(), show: "stage", before: name, after: name });
  return html`<tr>
    <th scope="row" class=${hueClass(name)}><a class="stage-link" href=${href}>${title}</a></th>
    ${cells.map((cell) => html`<td class="number-cell">${cell}</td>`)}
  </tr>`;
}

/** @param {StageSide | null} side */
function passesOf(side) {
  return side?.passes ? `${side.changed_passes} of ${side.passes}` : "–";
}

customElements.define("comparison-brief", ComparisonBrief);
