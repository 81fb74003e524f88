/**
 * The roofline of a run in words and tables: the minimum time of each resource, losses and hints.
 *
 * @import { Hint, Loss, Quantity, Resource, RooflineDocument, Source } from "../../core/types.js"
 */
import { lineText } from "../../core/line_words.js";
import { large, percent, time } from "../../core/numbers.js";
import { heads, scrolled } from "../../core/scroller.js";
import "../../lessons/lesson_link.js";
import { html, nothing, prose, styles } from "../../core/template.js";
import { marked } from "../../glossary/marks.js";

/** Its busy time is shown, but is no bound. */
const TENSOR_PIPE = "pipe tensor";

/** @param {RooflineDocument} document */
export function verdictOf({ verdict, floors, near_share: near }) {
  const floor = floors.find(({ source }) => source === "measured") ?? floors[0];
  const share = floor?.share ?? null;
  const level = share === null ? "" : share >= near ? " is-near" : share >= near / 2 ? " is-half" : " is-far";
  return html`<p class=${`roofline-verdict${level}`}>${
    share === null ? nothing : html`<b>${percent(share)}</b>`
  }<span>${verdict}</span></p>`;
}

/**
 * The least time that each resource needs; the kernel needs at least the longest of them.
 * @param {RooflineDocument} document
 */
export function floorTable({ resources, floors, time: taken }) {
  if (resources.length === 0) return nothing;
  const sources = [...new Set(resources.flatMap(({ needs }) => needs.map(({ source }) => source)))];
  const binding = (/** @type {Source} */ source) => floors.find((floor) => floor.source === source)?.binding;
  const cells = (/** @type {Resource} */ { name, needs }, /** @type {Source} */ source) => {
    const need = needs.find((each) => each.source === source);
    const type = binding(source) === name ? "is-binding" : nothing;
    const rate = need && need.rate > 1 ? `at ${large(need.rate, "").trim()} a second` : nothing;
    if (need && isExceeded(need)) return html`<td class="hint" title=${rate}>exceeded</td><td></td>`;
    return html`<td class=${type} title=${rate}>${need ? time(need.time_ns) : "–"}</td>
      <td class=${type}>${need && need.share !== null ? shareBar(need.share) : nothing}</td>`;
  };
  const titles = sources.flatMap((source) => [
    source === "datasheet" ? "by datasheet" : "by measured roof",
    "share of the time",
  ]);
  const rows = resources.map(
    (resource) =>
      html`<tr><th scope="row">${resource.title}</th><td>${quantity(resource.work, resource.unit)}</td>
        ${sources.map((source) => cells(resource, source))}</tr>`,
  );
  const hasTensorPipe = resources.some(({ name }) => name === TENSOR_PIPE);
  const isFaster = resources.some(({ needs }) => needs.some(isExceeded));
  return html`<section>
    <h3>Minimum time of each resource; measured: ${taken ? time(taken.median_ns) : "no time"}</h3>
    ${scrolled(
      "Minimum time of each resource",
      html`${heads(["resource", "work", ...titles])}<tbody>${rows}</tbody>`,
    )}
    <p class="source">
      The resource that needs the most time is marked: the kernel cannot be faster.
      ${
        hasTensorPipe
          ? "The busy time of the tensor pipe is no such bound: at a lower clock the same work takes longer."
          : nothing
      }
      ${
        isFaster
          ? "Exceeded: the kernel was faster than this rate, so this rate is not a limit of the kernel."
          : nothing
      }
    </p>
  </section>`;
}

/** @param {RooflineDocument} document */
export function lossList({ losses }) {
  if (losses.length === 0) return nothing;
  const lost = (/** @type {Loss} */ { lost_ns: ns, share }) =>
    [ns !== null && time(ns), share !== null && percent(share)].filter(Boolean).join(", ");
  return html`<section>
    <h3>Further losses</h3>
    <dl class="roofline-losses">${losses.map(
      (loss) =>
        html`<dt>${loss.title}<b>${lost(loss)}</b></dt><dd>${marked(loss.text)}${sourceMark(loss.source)}</dd>`,
    )}</dl>
  </section>`;
}

/** @param {Hint[]} hints @param {(line: number) => void} show goes to a source line */
export function hintList(hints, show) {
  if (hints.length === 0) return nothing;
  return html`<section>
    <h3>What would help</h3>
    <ol class="roofline-hints">${hints.map((hint) => hintItem(hint, show))}</ol>
  </section>`;
}

/** @param {Hint} hint @param {(line: number) => void} show */
function hintItem(
  { name, title, text, cost, source_line: line, gain_ns: gain, gain_share: share, evidence },
  show,
) {
  const button = () =>
    html`<button type="button" class="link" @click=${() => show(line)}>${lineText(line)}</button>`;
  const gainWords =
    gain === null ? "" : `at most −${time(gain)}${share === null ? "" : `, ${percent(share)}`}`;
  return html`<li>
    <div class="roofline-hint-head">
      <b>${title}</b>${line ? button() : nothing}${gainWords ? html`<span class="gain">${gainWords}</span>` : nothing}
    </div>
    <p>${marked(text)}</p>
    <p class="hint">Cost: ${marked(cost)} <lesson-link .topic=${name}></lesson-link></p>
    <ul class="roofline-evidence">${evidence.map(
      ({ name: what, value, unit, source }) =>
        html`<li>${what} <b>${amount(value, unit)}</b>${sourceMark(source)}</li>`,
    )}</ul>
  </li>`;
}

/** @param {RooflineDocument["missing"]} missing */
export function missingList(missing) {
  if (missing.length === 0) return nothing;
  return html`<section>
    <h3>Missing data</h3>
    <ul class="roofline-missing">${missing.map(
      ({ what, reason }) => html`<li><b>${what}</b> ${prose(reason)}</li>`,
    )}</ul>
  </section>`;
}

/**
 * The work of a resource with its source; the work of a pipe is its busy time.
 * @param {Quantity} quantity
 * @param {string} unit
 */
function quantity({ value, source, note }, unit) {
  const words = unit === "%" ? `busy ${amount(value, unit)}` : amount(value, unit);
  return html`<span title=${note || nothing}>${words}</span>${sourceMark(source)}`;
}

/** @param {number} value @param {string} unit "%": the value is a share of 1 */
function amount(value, unit) {
  if (unit === "%") return percent(value);
  if (unit === "ns") return time(value);
  const isCount = ["inst", "instructions", "operations"].includes(unit);
  if (!isCount) return large(value, unit).trim();
  return `${large(value, "").trim()} ${unit === "inst" ? "instructions" : unit}`;
}

/** Where a number is from. @param {string} source */
export function sourceMark(source) {
  return html`<small class="from">${source}</small>`;
}

/** A larger share of a rate is no error of rounding; the server applies the same share to floors. */
const EXCEEDED = 1.005;

/** Whether the kernel was faster than a rate allows. @param {{share: number | null}} need */
function isExceeded({ share }) {
  return share !== null && share > EXCEEDED;
}

/**
 * Whether a rate is above the measured roof, which is the highest rate of another program.
 * @param {{source: Source, share: number | null}} achieved
 */
export function isFasterThanRoof(achieved) {
  return achieved.source === "measured" && isExceeded(achieved);
}

/** A share as a bar with its number. @param {number} share @param {number} [most] the share of a full bar @param {string} [words] */
export function shareBar(share, most = 1, words = percent(share)) {
  const width = `${Math.min(100, (100 * share) / most)}%`;
  return html`<span class="roofline-share"><span class="track" aria-hidden="true"><span class="bar"
    ${styles({ "--share": width })}></span></span>${words}</span>`;
}
