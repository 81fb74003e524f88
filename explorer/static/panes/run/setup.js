/**
 * The setup of a run: the launch, its inputs, the reference, and the measures.
 *
 * @import { CompilationDocument, Device, Launch, Measure, MeasureKind } from "../../core/types.js"
 * @import { FieldProblem, Launched, RunForm } from "../../runs/form_state.js"
 */
import { lineWords } from "../../core/source_files.js";
import { live } from "lit/directives/live.js";
import { literal, plural } from "../../core/format.js";
import { dimensions } from "../../core/numbers.js";
import { store } from "../../core/store.js";
import { html, nothing } from "../../core/template.js";
import {
  benchmarkSizes,
  formProblems,
  hasReference,
  launchOf,
  launchable,
  launchedBy,
  measuresOf,
  sizesFor,
} from "../../runs/form_state.js";
import { changeForm, runNow } from "../../runs/start.js";
import { onValue, textField } from "./fields.js";
import { inputTable } from "./input_table.js";
import "./reference_editor.js";
import { runProblems } from "./run_problems.js";

/** @type {Record<Launched, string>} */
const LAUNCHED = {
  launch: "The script's launch",
  benchmark: "The script's benchmark",
  inputs: "Inputs made here",
};

/**
 * The form.
 * @param {CompilationDocument} compilation @param {RunForm} form @param {Device} device
 * @param {boolean} canStart whether the device can run the kernel now
 */
export function setup(compilation, form, device, canStart) {
  const { measures: kinds, shownRun } = store.state;
  const what = launchedBy(compilation, form);
  const problems = formProblems(compilation, form, device, kinds);
  const isWrong = problems.length > 0;
  if (!isWrong && what === "inputs" && shownRun) problems.push(...runProblems(shownRun.document, form));
  const measures = measuresOf(form, device, kinds);
  const summary = problems[0] && isWrong ? problems[0].words : summaryOf(compilation, form, what, measures);
  const field = fieldsOf(form, problems);
  return html`<details class=${isWrong ? "run-setup has-problem" : "run-setup"}>
    <summary><b>How it is run</b><span class="run-setup-summary">${summary}</span></summary>
    <div class="run-setup-body">
      <div class="run-field is-wide">
        <label for="run-what">launch</label>
        <select id="run-what" @change=${onValue((value) => changeForm({ what: /** @type {Launched} */ (value) }))}>
          ${launchable(compilation).map(
            (each) => html`<option value=${each} .selected=${each === what}>${LAUNCHED[each]}</option>`,
          )}
        </select>
      </div>
      ${what === "inputs" ? nothing : html`<p class="hint run-launch-facts">${factsOf(compilation, what)}</p>`}
      ${what === "launch" ? nothing : html`<div class="run-fields">${sizesField(compilation, field, what)}</div>`}
      ${what === "inputs" ? inputTable(form.inputs, problems, (inputs) => changeForm({ inputs })) : nothing}
      <fieldset class="run-measures">
        <legend>measure</legend>
        ${kinds.map((kind) => measureBox(kind, device, measures))}
        <button type="button" class="button small" ?disabled=${!canStart}
          @click=${() => void runNow(null)}>Run as ticked</button>
      </fieldset>
      ${
        measures.includes("sweep") && what !== "launch"
          ? html`<div class="run-fields">
              ${field("sweepSize", { title: "sweep over", tip: "The size that the sweep varies" })}
              ${field("sweepValues", { title: "values", placeholder: "2**12, 2**16, 2**20", isWide: true })}
            </div>`
          : nothing
      }
      <div class="run-fields">
        ${field("seed")}
        ${device === "interpreter" ? nothing : field("repeats", { tip: "How often the launch is timed" })}
      </div>
      <div class="run-reference">
        <span class="run-label">reference</span>
        <reference-editor .text=${form.reference}
          .changed=${(/** @type {string} */ reference) => changeForm({ reference })}></reference-editor>
        <p class="hint">${
          hasReference(compilation)
            ? "The result is compared with the script's function reference; code here takes its place."
            : "Torch code over the arguments by name: an expression for the only output, or lines that return it. Without it nothing is compared."
        }</p>
      </div>
    </div>
  </details>`;
}

/** @typedef {"sizes" | "benchmarkSizes" | "grid" | "seed" | "repeats" | "sweepSize" | "sweepValues"} TextName */
/** @typedef {Partial<Parameters<typeof textField>[0]>} FieldLooks */

/**
 * A function that makes the field of a property of the form.
 * @param {RunForm} form @param {FieldProblem[]} problems
 */
function fieldsOf(form, problems) {
  return (/** @type {TextName} */ name, /** @type {FieldLooks} */ looks = {}) => {
    const subject = name === "benchmarkSizes" ? "sizes" : name;
    return textField({
      name,
      value: form[name],
      problem: problems.find(({ field }) => field === subject)?.words ?? "",
      changed: (value) => changeForm({ [name]: value }),
      ...looks,
    });
  };
}

/** @param {CompilationDocument} compilation @param {ReturnType<typeof fieldsOf>} field @param {Launched} what */
function sizesField(compilation, field, what) {
  const placeholder =
    what === "benchmark"
      ? benchmarkSizes(compilation)
          .map((name) => `${name} = 4096`)
          .join(", ")
      : "n = 1000";
  const tip = "name = whole number, separated by commas";
  return html`${field(sizesFor(what), { title: "sizes", placeholder, tip, isWide: true })}
    ${
      what === "inputs"
        ? field("grid", {
            placeholder: "cdiv(n, BLOCK)",
            tip: "One to three expressions over sizes, scalars and constants",
            isWide: true,
          })
        : nothing
    }`;
}

/** @param {MeasureKind} kind @param {Device} device @param {Measure[]} measures the selected measures */
function measureBox({ name, description, devices }, device, measures) {
  const isAble = devices.includes(device);
  const reason = device === "gpu" ? "It needs the interpreter." : "It needs a GPU.";
  const tick = (/** @type {Event} */ { currentTarget }) => {
    const { checked } = /** @type {HTMLInputElement} */ (currentTarget);
    changeForm({ measures: checked ? [...measures, name] : measures.filter((each) => each !== name) });
  };
  return html`<label class=${isAble ? "check" : "check is-disabled"}
      title=${isAble ? description : `${description} ${reason}`}>
    <input type="checkbox" ?disabled=${!isAble} .checked=${live(measures.includes(name))} @change=${tick}>${name}
  </label>`;
}

/** @param {CompilationDocument} compilation @param {RunForm} form @param {Launched} what @param {string[]} measures */
function summaryOf(compilation, form, what, measures) {
  const reference = hasReference(compilation) ? "against reference()" : "no reference";
  return [
    what === "launch"
      ? `the launch at ${lineWords(compilation.request, launchOf(compilation)?.line ?? 0)}`
      : LAUNCHED[what].toLowerCase(),
    what !== "launch" && form[sizesFor(what)],
    measures.join(", "),
    form.reference.trim() ? "against the code here" : reference,
  ]
    .filter(Boolean)
    .join(" · ");
}

/** @param {CompilationDocument} compilation @param {Launched} what */
function factsOf(compilation, what) {
  if (what === "launch") return launchWords(launchOf(compilation));
  const names = benchmarkSizes(compilation);
  const which = names.length ? `${plural(names.length, "size")}: ${names.join(", ")}` : "its own sizes";
  return `The function with @perf_report makes the inputs (${which}). Left empty, it runs at the largest of its own sizes, in the interpreter at the smallest.`;
}

/** @param {Launch | null} launch */
function launchWords(launch) {
  if (!launch) return "";
  const grid = launch.grid ? `grid ${launch.grid.map((each) => each.toLocaleString("en")).join(" × ")}` : "";
  const values = launch.arguments.map(({ name, type, shape, value }) => {
    if (shape) return `${name} ${dimensions(shape)} ${type.replace("*", "")}`;
    return value === null ? name : `${name} = ${literal(value)}`;
  });
  return [grid, ...values].filter(Boolean).join(", ");
}
