/**
 * The choice among the runs of the compilation and the profiles of its kernel, and where the shown run is from.
 *
 * @import { RunDocument, RunRow, RunsDocument } from "../../core/types.js"
 */
import { html, nothing } from "../../core/template.js";
import { compileAlike } from "../../runs/compile_alike.js";
import { outcomeOf, runFacts, runMoment, runTitle } from "../../runs/words.js";

/** The measurements that this pane shows, the most useful first. */
const WORTH = /** @type {const} */ (["counters", "timings", "samples", "counts"]);

/**
 * The run to begin with: on a GPU, otherwise a profile, otherwise in the interpreter.
 * @param {RunsDocument} document
 * @returns {RunRow | null}
 */
export function bestRun({ runs, recordings }) {
  const worth = (/** @type {RunRow} */ { measurements, status }) => {
    const place = WORTH.findIndex((name) => measurements.some((row) => row.name === name));
    return status === "failed" && place < 0 ? 0 : place < 0 ? 1 : 10 - place;
  };
  const bestOf = (/** @type {RunRow[]} */ list) =>
    [...list].sort((one, other) => worth(other) - worth(one))[0] ?? null;
  const onGpu = bestOf(runs.filter(({ run }) => run.device === "gpu"));
  if (onGpu && worth(onGpu) > 1) return onGpu;
  // The profiles that match best come first.
  const closest = recordings.filter(({ match }) => match === recordings[0]?.match);
  return bestOf(closest) ?? onGpu ?? bestOf(runs);
}

/**
 * @param {RunsDocument} runs @param {RunDocument} shown @param {string} triton of the compilation
 * @param {(id: string) => void} choose
 */
export function runChoice({ runs, imported, recordings }, shown, triton, choose) {
  const option = (/** @type {RunRow} */ each) => {
    const { words } = outcomeOf(each);
    return html`<option value=${each.id} .selected=${each.id === shown.id}>${runTitle(each)} · ${runMoment(each)} ·
      ${runFacts(each)}${words && ` (${words})`}</option>`;
  };
  const group = (/** @type {string} */ label, /** @type {RunRow[]} */ list) =>
    list.length ? html`<optgroup label=${label}>${list.map(option)}</optgroup>` : nothing;
  const isKnown = [...runs, ...imported, ...recordings].some(({ id }) => id === shown.id);
  const change = (/** @type {Event} */ event) =>
    choose(/** @type {HTMLSelectElement} */ (event.currentTarget).value);
  return html`<div class="roofline-run-choice">
    <select aria-label="Run" @change=${change}>
      ${group("Shown by the link", isKnown ? [] : [shown])} ${group("Runs", runs)}
      ${group("From other machines", imported)} ${group("Profiles", recordings)}
    </select>
    <span class="roofline-run-origin">${originOf(shown, triton)}${compileAlike(shown)}</span>
  </div>`;
}

/**
 * Where a run is from, and whether it ran the machine code that is shown.
 * @param {RunDocument} run
 * @param {string} triton of the compilation
 */
function originOf({ recorded, match, binary, triton: ran, run, imported }, triton) {
  const badges = [];
  if (recorded) {
    const gpu = /nvidia|amd/i.test(recorded.gpu) ? recorded.gpu : `NVIDIA ${recorded.gpu}`;
    const tip = `${recorded.command}\ndriver ${recorded.driver}, torch ${recorded.torch}`;
    badges.push(badge(`recorded on ${gpu}, Triton ${recorded.triton}, ${recorded.date.slice(0, 10)}`, tip));
  } else if (imported) badges.push(badge("sent from another machine"));
  else if (run.device === "interpreter") badges.push(badge("interpreted: counted, not timed"));
  if (match ? match !== "exact" : binary === "other") {
    const why =
      match === "same kernel"
        ? "the gallery's kernel has changed since"
        : ran !== triton
          ? `compiled by Triton ${ran}, the shown result by Triton ${triton}`
          : match === "other config"
            ? "another configuration, other options or another launch"
            : run.is_benchmark
              ? "compiled for the benchmark's arguments"
              : "compiled for other arguments";
    badges.push(badge(`not the machine code shown: ${why}`, "", true));
  } else if (binary === "other") {
    const tip =
      "The same source, configuration and Triton version; arguments, paths or versions of tools may differ.";
    badges.push(badge("its binary differs from the one shown", tip));
  }
  return badges;
}

/** @param {string} words @param {string} [tip] @param {boolean} [isOther] it ran other code */
function badge(words, tip = "", isOther = false) {
  return html`<span class=${isOther ? "roofline-badge is-other" : "roofline-badge"} title=${tip || nothing}>${words}</span>`;
}
