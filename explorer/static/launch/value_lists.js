/**
 * Lists of values for compiler options and constexpr arguments, and their combinations.
 *
 * @import { Draft, InspectionDocument, Scalar } from "../core/types.js"
 *
 * A name that can have several values. `present` is its value in the draft, if it is known.
 * @typedef {{kind: "options" | "constants", name: string, present: Scalar | undefined}} Field
 *
 * @typedef {{values: Scalar[], problem: string}} ReadList
 *
 * @typedef {{options: Record<string, Scalar>, constants: Record<string, Scalar>}} Settings
 */
import { optionProblem, readValue, valueProblem } from "./argument_checks.js";
import { kernelOf, launchOf } from "./draft.js";
import { grouped, plural } from "../core/format.js";

/** The compiler options that are whole numbers from 1 up. */
const COUNTS = ["num_warps", "num_stages", "num_ctas", "maxnreg"];

/**
 * The constexpr arguments and the compiler options of a draft. A signature has no names of constants.
 * @param {Draft} draft @param {InspectionDocument | null} inspection
 * @param {Record<string, Scalar | undefined>} inherited the options that hold where the draft sets none
 * @returns {Field[]}
 */
export function fieldsOf(draft, inspection, inherited) {
  const options = { ...inherited, ...draft.options };
  const names = new Set([...COUNTS, ...Object.keys(options)]);
  return [
    ...constantsOf(draft, inspection).map((constant) => ({
      kind: /** @type {const} */ ("constants"),
      ...constant,
    })),
    ...[...names].map((name) => ({ kind: /** @type {const} */ ("options"), name, present: options[name] })),
  ];
}

/** @param {Draft} draft @param {InspectionDocument | null} inspection @returns {Omit<Field, "kind">[]} */
function constantsOf(draft, inspection) {
  if (draft.mode === "signature") return [];
  if (draft.mode === "form")
    return draft.arguments
      .filter(({ type }) => type === "constexpr")
      .map(({ name, value }) => ({ name, present: value }));
  const kernel = kernelOf(draft, inspection);
  const launch = launchOf(draft, inspection);
  const config = draft.config ?? launch?.config ?? null;
  const set = { ...kernel?.configs.find(({ index }) => index === config)?.arguments, ...draft.constants };
  return (kernel?.parameters ?? [])
    .filter((parameter) => parameter.is_constexpr)
    .map(({ name, guess }) => {
      const given = launch?.arguments.find((each) => each.name === name) ?? guess;
      return { name, present: name in set ? set[name] : given.value };
    });
}

/**
 * Read the values of a list, each once. A comma at the end is no problem: the user is typing.
 * @param {string} text @param {Field} field @returns {ReadList}
 */
export function readList(text, field) {
  const texts = text
    .replace(/,\s*$/, "")
    .split(",")
    .map((each) => each.trim());
  if (texts.length === 1 && !texts[0]) return { values: [], problem: "" };
  const problem = texts.map((each) => problemOf(each, field)).find(Boolean) ?? "";
  return { values: problem ? [] : [...new Set(texts.map(readValue))], problem };
}

/** @param {string} text @param {Field} field */
function problemOf(text, { kind, name, present }) {
  if (!text) return "A value is missing between two commas.";
  if (kind === "options" && COUNTS.includes(name))
    return optionProblem(text) ? `${text} is not a whole number from 1 up.` : "";
  const isText = typeof readValue(text) === "string";
  if (isText && typeof present === "number")
    return `${text} is not a number.${/\s/.test(text) ? " Separate numbers by commas." : ""}`;
  if (isText && typeof present === "boolean") return `${text} is neither True nor False.`;
  return valueProblem(text, "constexpr");
}

/** Every combination of the lists that have values. @param {{field: Field, values: Scalar[]}[]} lists @returns {Settings[]} */
export function combinationsOf(lists) {
  /** @type {Settings[]} */
  let found = [{ options: {}, constants: {} }];
  for (const { field, values } of lists) {
    if (!values.length) continue;
    found = found.flatMap((settings) =>
      values.map((value) => ({
        ...settings,
        [field.kind]: { ...settings[field.kind], [field.name]: value },
      })),
    );
  }
  return found;
}

/**
 * The number of compilations in words: "2 × 3 values for 2 targets: 12 compilations". `problem`: there are too many.
 * @param {number[]} lengths of the lists that have values @param {number} targets @param {number} tritons
 * @param {number} most the server's limit
 */
export function countWords(lengths, targets, tritons, most) {
  const count = [...lengths, targets, tritons].reduce((product, length) => product * length, 1);
  const places = [
    ...(targets > 1 ? [plural(targets, "target")] : []),
    ...(tritons > 1 ? [plural(tritons, "Triton version")] : []),
  ].join(" and ");
  const values = lengths.join(" × ") + (lengths.length === 1 && lengths[0] === 1 ? " value" : " values");
  const words = `${values}${places && ` for ${places}`}: ${plural(count, "compilation")}`;
  const problem =
    count > most ? `${words}. A matrix has at most ${grouped(most)}: leave out some values.` : "";
  return { words, problem };
}
