/**
 * The arguments of the launch as a form, where they are guessed or entered by hand.
 *
 * @import { Argument, Draft } from "../core/types.js"
 * @import { Field } from "./argument_checks.js"
 * @import { Explained } from "./arguments.js"
 */
import {
  assumedOf,
  assumptionsOf,
  cellProblem,
  integerBits,
  isPointer,
  readValue,
  typeProblem,
  unitOf,
  valueProblem,
} from "./argument_checks.js";
import { explainedRow, HEAD, typedText } from "./arguments.js";
import { literal, specializationTitle } from "../core/format.js";
import { html, live, nothing } from "../core/template.js";

/**
 * The arguments as a form: a row of controls each. A value that is refused stays in its cell, with the reason
 * below.
 * @param {Draft} draft with the arguments
 * @param {Explained} explained
 * @param {(changes: Partial<Draft>) => void} change
 */
export function argumentForm(draft, explained, change) {
  const label = draft.mode === "form" ? "Arguments by hand" : "Guessed arguments";
  return html`<table class="form" aria-label=${label}>
    ${HEAD}${draft.arguments.map((argument) => formRow(draft, argument, explained, change))}
  </table>`;
}

/**
 * @param {Draft} draft @param {Argument} argument @param {Explained} explained
 * @param {(changes: Partial<Draft>) => void} change
 */
function formRow(draft, argument, explained, change) {
  const { name } = argument;
  const reason = draft.guessed[name];
  /** @type {Cells} */
  const cells = {
    draft,
    argument,
    problems: {
      type: cellProblem(draft, argument, "type"),
      value: cellProblem(draft, argument, "value"),
      specialization: cellProblem(draft, argument, "specialization"),
    },
    edit: (field, text, problem, next) => change(withCell(draft, argument, field, text, problem, next)),
  };
  const controls = html`<td>${typeInput(cells)}</td>
    <td>${specializationChoice(cells)}</td>
    <td><span class="with-unit">${valueInput(cells)}<span class="unit">${unitOf(argument)}</span></span></td>`;
  const sentences = [
    ...(reason ? [reason] : []),
    ...(explained.sentences?.(argument, reason ? "guess" : "form") ?? []),
  ];
  const problems = Object.values(cells.problems).filter(Boolean).join(" ");
  const problemRow = html`<tr class="cell-problem" ?hidden=${!problems}>
    <td colspan="4"><span id=${`problem-${name}`} role="alert">${problems}</span></td>
  </tr>`;
  const mark = reason ? html` <abbr class="guess" title=${`Guessed. ${reason}`}>?</abbr>` : nothing;
  return explainedRow(name, argument, sentences, controls, explained, mark, problemRow);
}

/**
 * The data for the controls of a row. `edit` enters a text into a field and changes dependent fields.
 * @typedef {object} Cells
 * @property {Draft} draft
 * @property {Argument} argument
 * @property {Record<Field, string>} problems
 * @property {(field: Field, text: string, problem: string, next: Partial<Argument>) => void} edit
 */

/** The ID of the row with the problem of a control. @param {Cells} cells @param {Field} field */
function problemId({ argument, problems }, field) {
  return problems[field] ? `problem-${argument.name}` : nothing;
}

/** @param {Cells} cells */
function typeInput(cells) {
  const { draft, argument, problems, edit } = cells;
  const { name, type } = argument;
  return html`<input
    type="text"
    id=${`type-${name}`}
    list="argument-types"
    autocomplete="off"
    spellcheck="false"
    aria-label=${`Type of ${name}`}
    aria-invalid=${String(Boolean(problems.type))}
    aria-describedby=${problemId(cells, "type")}
    .value=${live(draft.typed[`${name}.type`] ?? type)}
    @input=${(/** @type {InputEvent} */ { currentTarget }) => {
      const text = inputText(currentTarget);
      edit("type", text, typeProblem(text.trim()), withType(argument, text.trim()));
    }}
  />`;
}

/** @param {Cells} cells */
function specializationChoice(cells) {
  const { argument, problems, edit } = cells;
  const { name, type, specialization } = argument;
  const choices = assumptionsOf(type);
  // An assumption that the type does not allow is shown until it is changed.
  const offered =
    choices.includes(specialization) || type === "constexpr" ? choices : [...choices, specialization];
  const chosen = type === "constexpr" ? "" : specialization;
  return html`<select
    aria-label=${`Specialization of ${name}`}
    aria-invalid=${String(Boolean(problems.specialization))}
    aria-describedby=${problemId(cells, "specialization")}
    ?disabled=${offered.length === 1}
    @change=${(/** @type {Event} */ { currentTarget }) =>
      edit("specialization", "", "", {
        specialization: /** @type {Argument["specialization"]} */ (inputText(currentTarget)),
      })}
  >
    ${offered.map((choice) => {
      const title = specializationTitle({ type, specialization: choice }) || "none";
      return html`<option value=${choice} .selected=${live(choice === chosen)}>${title}</option>`;
    })}
  </select>`;
}

/** @param {Cells} cells */
function valueInput(cells) {
  const { draft, argument, problems, edit } = cells;
  const { name, type, value, shape } = argument;
  const isConstant = type === "constexpr";
  const isInteger = integerBits(type) !== null;
  const text = draft.typed[`${name}.value`] ?? (value === null && !isConstant ? "" : literal(value));
  return html`<input
    type="text"
    id=${`value-${name}`}
    autocomplete="off"
    spellcheck="false"
    aria-label=${`Value of ${name}`}
    aria-invalid=${String(Boolean(problems.value))}
    aria-describedby=${problemId(cells, "value")}
    placeholder=${isPointer(type) ? (shape?.join(" × ") ?? "") : isInteger ? "any" : ""}
    ?disabled=${!isConstant && !isInteger}
    .value=${live(typedText(`value-${name}`, text))}
    @input=${(/** @type {InputEvent} */ { currentTarget }) => {
      const typed = inputText(currentTarget);
      edit("value", typed, valueProblem(typed, type), withValue(argument, typed));
    }}
  />`;
}

/** @param {EventTarget | null} control */
function inputText(control) {
  return /** @type {HTMLInputElement | HTMLSelectElement} */ (control).value;
}

/**
 * The changes of a draft after an entry in a cell: a valid value is applied, and the text of an invalid value is kept.
 * @param {Draft} draft @param {Argument} argument @param {Field} field @param {string} text
 * @param {string} problem @param {Partial<Argument>} next
 * @returns {Partial<Draft>}
 */
function withCell(draft, argument, field, text, problem, next) {
  const { [`${argument.name}.${field}`]: _text, ...typed } = draft.typed;
  if (problem) return { typed: { ...typed, [`${argument.name}.${field}`]: text } };
  const { [argument.name]: _reason, ...guessed } = draft.guessed;
  return {
    typed,
    guessed,
    arguments: draft.arguments.map((each) => (each === argument ? { ...each, ...next } : each)),
  };
}

/** @param {Argument} argument @param {string} type @returns {Partial<Argument>} */
function withType(argument, type) {
  if (type === argument.type) return {};
  const value = type === "constexpr" || integerBits(type) !== null ? argument.value : null;
  const kept = assumptionsOf(type).includes(argument.specialization)
    ? argument.specialization
    : assumedOf(type, value);
  return {
    type,
    value,
    specialization: type === "constexpr" ? "constexpr" : kept,
    shape: null,
    strides: null,
  };
}

/** @param {Argument} argument @param {string} text @returns {Partial<Argument>} */
function withValue({ type, specialization }, text) {
  const value = readValue(text);
  return {
    value,
    specialization: type === "constexpr" || value === null ? specialization : assumedOf(type, value),
  };
}
