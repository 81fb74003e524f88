/**
 * The form of a run: its texts, the request that they describe, and its problems.
 *
 * @import {
 *   CompilationDocument, Device, Devices, Distribution, Launch, Measure, MeasureKind, Run, RunDocument,
 *   RunInput, RunRow, RunsDocument
 * } from "../core/types.js"
 */
import { isOver } from "../core/status.js";
import { expressionProblem, readSizes, readWhole, splitExpressions } from "../panes/run/expressions.js";
import { guessedForm } from "../panes/run/guesses.js";

/**
 * An argument to make: `shape` and `value` as they were typed; a scalar has no shape (null).
 * @typedef {{name: string, type: string, shape: string | null, value: string, distribution: Distribution}}
 *   TypedInput
 *
 * @typedef {"launch" | "benchmark" | "inputs"} Launched the source of the launch: the script's launch or benchmark, or
 *   the inputs of the form
 *
 * @typedef {object} RunForm
 * @property {Device | null} device null: the best there is
 * @property {Measure[] | null} measures null: the measures of a plain run on the device
 * @property {Launched | null} what null: the script's launch, if it has one
 * @property {TypedInput[]} inputs
 * @property {string} sizes "n = 1000, m = 64": of the inputs that are made
 * @property {string} benchmarkSizes likewise, of the script's benchmark; "": its own
 * @property {string} grid
 * @property {string} reference
 * @property {string} seed
 * @property {string} repeats
 * @property {string} sweepSize
 * @property {string} sweepValues
 *
 * @typedef {"run" | "profile" | "sweep" | "autotune"} Preset
 * @typedef {{field: string, words: string}} FieldProblem `field`: a property of the form, or "input.<name>"
 */

const LARGEST_REPEATS = 1000;
const LARGEST_SEED = 2 ** 31 - 1;
const MOST_SWEEP_VALUES = 64;

/** @type {Record<Preset, {title: string, words: string, measures: Record<Device, Measure[]>}>} */
export const PRESETS = {
  run: {
    title: "Run",
    words: "Is the result right, and how fast?",
    measures: { gpu: ["check", "time"], interpreter: ["check", "counts"] },
  },
  profile: {
    title: "Profile",
    words: "Everything about one launch: times, counters, samples, timeline, roofs.",
    measures: { gpu: ["check", "time", "counters", "samples", "timeline", "roofs"], interpreter: [] },
  },
  sweep: {
    title: "Sweep",
    words: "The kernel and its reference over a range of sizes.",
    measures: { gpu: ["sweep"], interpreter: [] },
  },
  autotune: {
    title: "Autotune",
    words: "All configurations, each with its time.",
    measures: { gpu: ["autotune"], interpreter: [] },
  },
};

/**
 * Why a preset cannot be used; "": it can.
 * @param {Preset} preset @param {Device} device
 * @param {Pick<CompilationDocument, "kernels" | "kernel">} compilation
 */
export function lackOf(preset, device, { kernels, kernel }) {
  if (PRESETS[preset].measures[device].length === 0) return "It needs a GPU.";
  const hasConfigs = kernels.some(({ name, configs }) => name === kernel && configs.length > 0);
  return preset === "autotune" && !hasConfigs ? "This kernel has no autotune configurations." : "";
}

/**
 * The run to begin with: the newest with a measurement, otherwise a profile, otherwise a run that failed.
 * @param {Pick<RunsDocument, "runs" | "recordings">} runs @returns {RunRow | undefined}
 */
export function firstRun({ runs, recordings }) {
  const ended = runs.filter(isOver);
  return ended.find(({ measurements }) => measurements.length > 0) ?? recordings[0] ?? ended[0];
}

/**
 * Return the form for a compilation. The texts are kept for a kernel with the same arguments, and guessed otherwise.
 * @param {CompilationDocument} compilation @param {RunForm} form @returns {RunForm}
 */
export function formFor(compilation, form) {
  const guess = guessedForm(compilation);
  const names = (/** @type {TypedInput[]} */ inputs) =>
    inputs.map(({ name, shape }) => (shape === null ? name : `*${name}`)).join();
  if (names(guess.inputs) !== names(form.inputs)) {
    return {
      ...form,
      ...guess,
      what: null,
      benchmarkSizes: "",
      reference: "",
      sweepSize: "",
      sweepValues: "",
    };
  }
  // Types and compiled constants come from the compilation.
  const inputs = form.inputs.map((input, index) => {
    const fresh = guess.inputs[index] ?? input;
    return { ...input, type: fresh.type, value: fresh.type === "constexpr" ? fresh.value : input.value };
  });
  return { ...form, inputs };
}

/** Return the possible launches of a compilation. @param {CompilationDocument} compilation @returns {Launched[]} */
export function launchable(compilation) {
  const hasLaunch = compilation.launches.some(({ kernel }) => kernel === compilation.kernel);
  return [
    ...(hasLaunch ? /** @type {const} */ (["launch"]) : []),
    ...(hasBenchmark(compilation) ? /** @type {const} */ (["benchmark"]) : []),
    "inputs",
  ];
}

/** Whether a script has a benchmark of its own. @param {CompilationDocument} compilation */
function hasBenchmark({ request }) {
  return /^@(?:triton\.)?(?:testing\.)?perf_report\b/m.test(request.source);
}

/** Return whether a script has a reference for its kernel. @param {CompilationDocument} compilation */
export function hasReference({ request }) {
  return /^def reference\(/m.test(request.source);
}

/**
 * The names of sizes that a script's benchmark varies, as far as they stand there.
 * @param {CompilationDocument} compilation
 */
export function benchmarkSizes({ request }) {
  const list = /\bx_names\s*=\s*\[([^\]]*)\]/.exec(request.source)?.[1] ?? "";
  return [...list.matchAll(/["'](\w+)["']/g)].map(([, name = ""]) => name);
}

/** @param {CompilationDocument} compilation @param {RunForm} form @returns {Launched} */
export function launchedBy(compilation, form) {
  const choices = launchable(compilation);
  return form.what && choices.includes(form.what) ? form.what : (choices[0] ?? "inputs");
}

/** Return the property of the form with the sizes of a launch. @param {Launched} what */
export function sizesFor(what) {
  return what === "benchmark" ? "benchmarkSizes" : "sizes";
}

/** @param {RunForm} form @param {Devices | null} devices @returns {Device} */
export function deviceOf(form, devices) {
  const best = devices?.gpu.available ? "gpu" : "interpreter";
  return form.device && devices?.[form.device].available ? form.device : best;
}

/**
 * The measures of a run: the selected measures that the device has, or the measures of a plain run.
 * @param {RunForm} form @param {Device} device @param {readonly MeasureKind[]} kinds all that the server has
 * @returns {Measure[]}
 */
export function measuresOf(form, device, kinds) {
  const ticked = form.measures ?? [];
  const able = kinds.filter(({ name, devices }) => ticked.includes(name) && devices.includes(device));
  return able.length ? able.map(({ name }) => name) : PRESETS.run.measures[device];
}

/**
 * Return the problems of the form.
 * @param {CompilationDocument} compilation
 * @param {RunForm} form
 * @param {Device} device
 * @param {readonly MeasureKind[]} kinds all measures that the server has
 * @returns {FieldProblem[]}
 */
export function formProblems(compilation, form, device, kinds) {
  /** @type {FieldProblem[]} */
  const problems = [];
  const add = (/** @type {string} */ field, /** @type {string} */ words) => {
    if (words) problems.push({ field, words });
  };
  const what = launchedBy(compilation, form);
  const { sizes, problem } = readSizes(form[sizesFor(what)]);
  if (what !== "launch") add("sizes", problem);
  if (what === "benchmark") {
    const own = benchmarkSizes(compilation);
    const foreign = own.length ? Object.keys(sizes).find((name) => !own.includes(name)) : undefined;
    if (foreign) add("sizes", `The benchmark has no size ${foreign}: it has ${own.join(", ")}.`);
  }
  if (what === "inputs") {
    const names = Object.keys(sizes);
    const { source } = compilation.request;
    const constants = form.inputs.filter(({ type }) => type === "constexpr").map(({ name }) => name);
    const scalars = form.inputs.filter(({ shape }) => shape === null).map(({ name }) => name);
    for (const input of form.inputs)
      add(`input.${input.name}`, inputProblem(input, [...names, ...constants], source));
    const grid = splitExpressions(form.grid);
    if (grid.length === 0 || grid.length > 3)
      add("grid", "A grid has one, two or three numbers of programs, such as cdiv(n, BLOCK).");
    for (const each of grid)
      add("grid", expressionProblem(each, [...new Set([...names, ...scalars])], source));
  }
  add("seed", wholeProblem(form.seed, 0, LARGEST_SEED, "The seed"));
  const measures = measuresOf(form, device, kinds);
  if (measures.includes("time") || measures.includes("sweep") || measures.includes("autotune")) {
    add("repeats", wholeProblem(form.repeats, 1, LARGEST_REPEATS, "The number of repeats"));
  }
  if (measures.includes("sweep"))
    for (const each of sweepProblems(compilation, form, sizes)) add(each.field, each.words);
  return problems;
}

/**
 * @param {CompilationDocument} compilation
 * @param {RunForm} form
 * @param {Record<string, number>} sizes
 * @returns {FieldProblem[]}
 */
function sweepProblems(compilation, form, sizes) {
  const what = launchedBy(compilation, form);
  if (what === "launch") {
    return hasBenchmark(compilation)
      ? []
      : [
          {
            field: "what",
            words:
              "The script has no benchmark (@triton.testing.perf_report) to sweep: make the inputs here, and name the size to vary.",
          },
        ];
  }
  const size = form.sweepSize.trim();
  const values = splitExpressions(form.sweepValues);
  const wrong = values.find((each) => (readWhole(each) ?? 0) < 1);
  const words =
    wrong !== undefined
      ? `“${wrong}” is not a size: write whole numbers from 1 on, such as 2**12, 2**16.`
      : values.length > MOST_SWEEP_VALUES
        ? `A sweep has at most ${MOST_SWEEP_VALUES} values; there are ${values.length}.`
        : what === "inputs" && values.length < 2
          ? "A sweep needs at least two values, such as 2**12, 2**16, 2**20."
          : "";
  /** @type {FieldProblem[]} */
  const problems = words ? [{ field: "sweepValues", words }] : [];
  if (what === "inputs" && !(size in sizes)) {
    problems.push({
      field: "sweepSize",
      words: `A sweep varies one of the sizes${Object.keys(sizes).length ? `: ${Object.keys(sizes).join(", ")}` : ", and there is none yet"}.`,
    });
  } else if (values.length && !size) {
    problems.push({ field: "sweepSize", words: "Say which size the values are of." });
  }
  return problems;
}

/** @param {TypedInput} input @param {string[]} names that it may use @param {string} source */
function inputProblem({ name, shape, value, type }, names, source) {
  if (shape === null) {
    if (type === "constexpr") return "";
    return value.trim()
      ? expressionProblem(value, names, source)
      : `${name} needs a value: a number, or an expression over the sizes.`;
  }
  const dimensions = splitExpressions(shape);
  if (dimensions.length === 0)
    return `${name} needs a shape: an expression for each dimension, such as n, 2 * m.`;
  return dimensions.map((each) => expressionProblem(each, names, source)).find(Boolean) ?? "";
}

/** @param {string} text @param {number} least @param {number} most @param {string} subject */
function wholeProblem(text, least, most, subject) {
  const value = readWhole(text);
  return value !== null && value >= least && value <= most
    ? ""
    : `${subject} is a whole number from ${least} to ${most.toLocaleString("en")}.`;
}

/**
 * Return the request of a form without problems.
 * @param {CompilationDocument} compilation
 * @param {RunForm} form
 * @param {Device} device
 * @param {readonly MeasureKind[]} kinds all measures that the server has
 * @returns {Run}
 */
export function runOf(compilation, form, device, kinds) {
  const what = launchedBy(compilation, form);
  const measures = measuresOf(form, device, kinds);
  const isMade = what === "inputs";
  const isSwept = measures.includes("sweep");
  // The values of an autotune configuration are not sent.
  const { config = null } = compilation.specialization ?? {};
  const configured =
    compilation.kernels
      .find(({ name }) => name === compilation.kernel)
      ?.configs.find(({ index }) => index === config)?.arguments ?? {};
  const inputs = isMade
    ? form.inputs
        .filter(({ name }) => !(name in configured))
        .map((input) => ({
          ...input,
          shape: input.shape === null ? null : splitExpressions(input.shape),
          value: input.value.trim(),
        }))
    : [];
  return {
    device,
    measures,
    inputs,
    grid: isMade ? splitExpressions(form.grid) : [],
    sizes: what === "launch" ? {} : readSizes(form[sizesFor(what)]).sizes,
    is_benchmark: what === "benchmark",
    reference: form.reference.trim() ? form.reference : "",
    seed: readWhole(form.seed) ?? 0,
    repeats: readWhole(form.repeats) ?? 50,
    // A recorded launch has no size to vary: a sweep uses the script's benchmark.
    sweep_size: isSwept && what !== "launch" ? form.sweepSize.trim() : "",
    sweep_values:
      isSwept && what !== "launch"
        ? splitExpressions(form.sweepValues).map((each) => readWhole(each) ?? 0)
        : [],
    attempt: 0,
  };
}

/**
 * The form that would ask for a run again.
 * @param {RunDocument} document
 * @param {RunForm} form
 * @returns {RunForm}
 */
export function formOf({ run, recorded, imported }, form) {
  const isMade = run.inputs.length > 0;
  const sizes = Object.entries(run.sizes)
    .map(([name, value]) => `${name} = ${value}`)
    .join(", ");
  return {
    ...form,
    // A profile of a different machine can rarely be repeated in the same way.
    ...(recorded || imported ? {} : { device: run.device, measures: [...run.measures] }),
    what: run.is_benchmark ? "benchmark" : isMade ? "inputs" : "launch",
    ...(isMade ? { inputs: withRun(form.inputs, run.inputs), grid: run.grid.join(", "), sizes } : {}),
    ...(run.is_benchmark ? { benchmarkSizes: sizes } : {}),
    reference: run.reference,
    seed: String(run.seed),
    repeats: String(run.repeats),
    sweepSize: run.sweep_size,
    sweepValues: run.sweep_values.join(", "),
  };
}

/**
 * Return the typed inputs with the inputs of a run in their place.
 * @param {TypedInput[]} typed
 * @param {RunInput[]} ran
 * @returns {TypedInput[]}
 */
function withRun(typed, ran) {
  return typed.map((input) => {
    const other = ran.find(({ name }) => name === input.name);
    return other ? { ...other, shape: other.shape?.join(", ") ?? null } : input;
  });
}

/**
 * The launch that was compiled. Its grid and its arguments follow the constants of the request.
 * @param {Pick<CompilationDocument, "launches" | "specialization" | "kernel">} compilation @returns {Launch | null}
 */
export function launchOf({ launches, specialization, kernel }) {
  const launched = launches.find(({ index }) => index === specialization?.launch);
  if (launched && specialization)
    return { ...launched, grid: specialization.grid, arguments: specialization.arguments };
  return launches.find((each) => each.kernel === kernel) ?? null;
}
