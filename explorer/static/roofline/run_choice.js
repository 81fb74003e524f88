/**
 * Which run is shown: those of the compilation, and recordings of its kernel; and where the shown one is from.
 *
 * @import { RunDocument, RunRow, RunsDocument } from "../run/documents.js"
 */
import { make } from "../dom.js";
import { compileAlike } from "../run/compile_alike.js";
import { outcomeOf, runFacts, runMoment, runTitle } from "../run/words.js";

/** What makes a run worth looking at here, the best first. */
const WORTH = /** @type {const} */ (["counters", "timings", "samples", "counts"]);

/** The run to begin with: measured on a GPU rather than recorded, recorded rather than interpreted. @param {RunsDocument} document @returns {RunRow | null} */
export function bestRun({ runs, recordings }) {
  const worth = (/** @type {RunRow} */ { measurements, status }) => {
    const place = WORTH.findIndex((name) => measurements.some((row) => row.name === name));
    return status === "failed" && place < 0 ? 0 : place < 0 ? 1 : 10 - place;
  };
  const bestOf = (/** @type {RunRow[]} */ list) => [...list].sort((one, other) => worth(other) - worth(one))[0] ?? null;
  const onGpu = bestOf(runs.filter(({ run }) => run.device === "gpu"));
  if (onGpu && worth(onGpu) > 1) return onGpu;
  // The closest ones come first.
  const closest = recordings.filter(({ match }) => match === recordings[0]?.match);
  return bestOf(closest) ?? onGpu ?? bestOf(runs);
}

export class RunChoice {
  /** @param {(id: string) => void} choose */
  constructor(choose) {
    this.select = make("select", { "aria-label": "Run", onchange: () => choose(this.select.value) });
    this.origin = make("span", { class: "roofline-run-origin" });
    this.element = make("div", { class: "roofline-run-choice" }, this.select, this.origin);
  }

  /** @param {RunsDocument} document @param {RunDocument} shown @param {string} triton of the compilation */
  draw({ runs, recordings }, shown, triton) {
    const known = [...runs, ...recordings];
    const option = (/** @type {RunRow} */ each) => {
      const { words } = outcomeOf(each);
      return make("option", { value: each.id }, `${runTitle(each)} · ${runMoment(each)} · ${runFacts(each)}${words && ` (${words})`}`);
    };
    const group = (/** @type {string} */ label, /** @type {RunRow[]} */ list) => (list.length ? make("optgroup", { label }, ...list.map(option)) : null);
    const others = known.some(({ id }) => id === shown.id) ? [] : [shown];
    this.select.replaceChildren(...[group("Shown by the link", others), group("Runs", runs), group("Recordings", recordings)].filter((each) => each !== null));
    this.select.value = shown.id;
    const alike = compileAlike(shown);
    this.origin.replaceChildren(...originOf(shown, triton), ...(alike ? [alike] : []));
  }
}

/** Where a run is from, and whether it is about what is shown. @param {RunDocument} run @param {string} triton of the compilation @returns {Node[]} */
function originOf({ recorded, match, binary, triton: ran, run }, triton) {
  const nodes = [];
  if (recorded) {
    const gpu = /nvidia|amd/i.test(recorded.gpu) ? recorded.gpu : `NVIDIA ${recorded.gpu}`;
    const words = `recorded on ${gpu}, Triton ${recorded.triton}, ${recorded.date.slice(0, 10)}`;
    nodes.push(make("span", { class: "roofline-badge", title: `${recorded.command}\ndriver ${recorded.driver}, torch ${recorded.torch}` }, words));
  } else if (run.device === "interpreter") {
    nodes.push(make("span", { class: "roofline-badge" }, "interpreted: counted, not timed"));
  }
  if (match ? match !== "exact" : binary === "other") {
    const why = match === "same kernel" ? "the gallery's kernel has changed since"
      : ran !== triton ? `compiled by Triton ${ran}, what is shown by Triton ${triton}`
      : match === "other config" ? "another configuration, other options or another launch"
      : run.is_benchmark ? "compiled for the benchmark's arguments" : "compiled for other arguments";
    nodes.push(make("span", { class: "roofline-badge is-other" }, `not the machine code shown: ${why}`));
  } else if (binary === "other") {
    const title = "The same source, configuration and Triton; arguments, paths or versions of tools can make a difference.";
    nodes.push(make("span", { class: "roofline-badge", title }, "its binary differs from the one shown"));
  }
  return nodes;
}
