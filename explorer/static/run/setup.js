/**
 * How the kernel is run: what is launched, with what, compared with what, and what is measured.
 *
 * @import { CompilationDocument, Launch } from "../types.js"
 * @import { Device } from "./documents.js"
 * @import { FieldProblem, Launched, RunForm } from "./form_state.js"
 */
import { make, setText, setValue } from "../dom.js";
import { literal, plural } from "../format.js";
import { MEASURES, benchmarkSizes, formProblems, hasReference, launchable, launchedBy, measuresOf, sizesFor } from "./form_state.js";
import { field } from "./field.js";
import { InputTable } from "./input_table.js";
import { dimensions } from "./numbers.js";
import { runProblems } from "./run_problems.js";
import { ReferenceEditor } from "./reference_editor.js";
import { changeForm, runNow } from "./start.js";
import { store } from "../store.js";

/** @type {Record<Launched, string>} */
const LAUNCHED = { launch: "The script's launch", benchmark: "The script's benchmark", inputs: "Inputs made here" };

export class RunSetup {
  constructor() {
    this.what = make("select", { id: "run-what", onchange: () => changeForm({ what: /** @type {Launched} */ (this.what.value) }) });
    this.facts = make("p", { class: "hint run-launch-facts" });
    /** what the sizes are of @type {Launched} */
    this.launched = "inputs";
    this.sizes = field("sizes", (sizes) => changeForm({ [sizesFor(this.launched)]: sizes }), { placeholder: "n = 1000", tip: "name = whole number, separated by commas", wide: true });
    this.grid = field("grid", (grid) => changeForm({ grid }), { placeholder: "cdiv(n, BLOCK)", tip: "One to three expressions over sizes, scalars and constants", wide: true });
    this.inputs = new InputTable();
    this.seed = field("seed", (seed) => changeForm({ seed }));
    this.repeats = field("repeats", (repeats) => changeForm({ repeats }), { tip: "How often the launch is timed" });
    this.sweepSize = field("sweep over", (sweepSize) => changeForm({ sweepSize }), { tip: "The size that the sweep varies" });
    this.sweepValues = field("values", (sweepValues) => changeForm({ sweepValues }), { placeholder: "2**12, 2**16, 2**20", wide: true });
    this.reference = new ReferenceEditor((reference) => changeForm({ reference }));
    this.referenceHint = make("p", { class: "hint" });
    this.measures = MEASURES.map(({ name, title, words, devices }) => {
      const box = make("input", { type: "checkbox", onchange: () => this.tick() });
      return { name, words, devices, box, label: make("label", { class: "check" }, box, title) };
    });
    this.start = make("button", { type: "button", class: "button small", onclick: () => void runNow(null) }, "Run as ticked");
    this.summary = make("span", { class: "run-setup-summary" });
    this.expressions = make("div", { class: "run-fields" }, this.sizes.element, this.grid.element);
    this.sweep = make("div", { class: "run-fields" }, this.sweepSize.element, this.sweepValues.element);
    this.element = make("details", { class: "run-setup" },
      make("summary", {}, make("b", {}, "How it is run"), this.summary),
      make("div", { class: "run-setup-body" },
        make("div", { class: "run-field is-wide" }, make("label", { for: "run-what" }, "launch"), this.what),
        this.facts, this.expressions, this.inputs.element,
        make("fieldset", { class: "run-measures" }, make("legend", {}, "measure"), ...this.measures.map(({ label }) => label), this.start),
        this.sweep,
        make("div", { class: "run-fields" }, this.seed.element, this.repeats.element),
        make("div", { class: "run-reference" }, make("span", { class: "run-label" }, "reference"), this.reference.element, this.referenceHint)));
  }

  tick() {
    changeForm({ measures: this.measures.filter(({ box }) => box.checked && !box.disabled).map(({ name }) => name) });
  }

  /** @param {CompilationDocument} compilation @param {RunForm} form @param {Device} device */
  draw(compilation, form, device) {
    const what = launchedBy(compilation, form);
    this.launched = what;
    const problems = formProblems(compilation, form, device);
    const isWrong = problems.length > 0;
    const { shownRun } = store.state;
    if (!isWrong && what === "inputs" && shownRun) problems.push(...runProblems(shownRun.document, form));
    this.drawWhat(compilation, what);
    const isMade = what === "inputs";
    const launch = launchOf(compilation);
    setText(this.facts, what === "launch" ? launchWords(launch) : what === "benchmark" ? benchmarkWords(compilation) : "");
    this.facts.hidden = isMade;
    this.expressions.hidden = what === "launch";
    this.grid.element.hidden = this.inputs.element.hidden = !isMade;
    if (isMade) this.inputs.draw(form.inputs, problems);
    this.sizes.input.placeholder = what === "benchmark" ? benchmarkSizes(compilation).map((name) => `${name} = 4096`).join(", ") : "n = 1000";
    const measures = measuresOf(form, device);
    for (const { name, words, devices, box, label } of this.measures) {
      const isAble = devices.includes(device);
      box.disabled = !isAble;
      box.checked = measures.includes(name);
      label.title = isAble ? words : `${words} ${device === "gpu" ? "That is what the interpreter does." : "It needs a GPU."}`;
      label.classList.toggle("is-disabled", !isAble);
    }
    this.sweep.hidden = !measures.includes("sweep") || what === "launch";
    this.repeats.element.hidden = device === "interpreter";
    this.drawFields(form, problems);
    this.reference.show(form.reference);
    setText(this.referenceHint, hasReference(compilation)
      ? "The script's function reference is what the result is compared with; code here takes its place."
      : "Torch code over the arguments by name: an expression for the only output, or lines that return it. Without it nothing is compared.");
    setText(this.summary, isWrong ? problems[0]?.words ?? "" : [
      what === "launch" ? `the launch at line ${launch?.line ?? "?"}` : LAUNCHED[what].toLowerCase(),
      what !== "launch" && form[sizesFor(what)], measures.join(", "),
      form.reference.trim() ? "against the code here" : hasReference(compilation) ? "against reference()" : "no reference",
    ].filter(Boolean).join(" · "));
    this.element.classList.toggle("has-problem", isWrong);
  }

  /** @param {RunForm} form @param {FieldProblem[]} problems */
  drawFields(form, problems) {
    const draw = (/** @type {"sizes" | "grid" | "seed" | "repeats" | "sweepSize" | "sweepValues"} */ name, /** @type {string} */ value) =>
      this[name].draw(value, problems.find((each) => each.field === name)?.words ?? "");
    draw("sizes", form[sizesFor(this.launched)]);
    for (const name of /** @type {const} */ (["grid", "seed", "repeats", "sweepSize", "sweepValues"])) draw(name, form[name]);
  }

  /** @param {CompilationDocument} compilation @param {Launched} what */
  drawWhat(compilation, what) {
    const choices = launchable(compilation);
    const key = choices.join();
    if (this.what.dataset.key !== key) {
      this.what.dataset.key = key;
      this.what.replaceChildren(...choices.map((choice) => make("option", { value: choice }, LAUNCHED[choice])));
    }
    setValue(this.what, what);
  }

  /** Open it where something is to be corrected or filled in. */
  open() {
    this.element.open = true;
    /** @type {HTMLElement | null} */ (this.element.querySelector("[aria-invalid=true]"))?.focus();
  }
}

/** The launch that was compiled. @param {CompilationDocument} compilation @returns {Launch | null} */
function launchOf({ launches, specialization, kernel }) {
  return launches.find(({ index }) => index === specialization?.launch) ?? launches.find((each) => each.kernel === kernel) ?? null;
}

/** @param {Launch | null} launch */
function launchWords(launch) {
  if (!launch) return "";
  const grid = launch.grid ? `grid ${launch.grid.map((each) => each.toLocaleString("en")).join(" × ")}` : "";
  const values = launch.arguments.map(({ name, type, shape, value }) =>
    shape ? `${name} ${dimensions(shape)} ${type.replace("*", "")}` : value === null ? name : `${name} = ${literal(value)}`);
  return [grid, ...values].filter(Boolean).join(", ");
}

/** @param {CompilationDocument} compilation */
function benchmarkWords(compilation) {
  const names = benchmarkSizes(compilation);
  const which = names.length ? `${plural(names.length, "size")}: ${names.join(", ")}` : "its own sizes";
  return `The function with @perf_report makes the inputs (${which}). Left empty, it runs at the largest of its own sizes, in the interpreter at the smallest.`;
}
