/**
 * The arguments that the form makes: shape and distribution of tensors, values of scalars.
 *
 * @import { Distribution } from "../../core/types.js"
 * @import { FieldProblem, TypedInput } from "../../runs/form_state.js"
 */
import { heads } from "../../core/scroller.js";
import { html, nothing } from "../../core/template.js";
import { onValue } from "./fields.js";

/** @type {[Distribution, string][]} */
const DISTRIBUTIONS = [
  ["normal", "normal"],
  ["uniform", "uniform, 0 to 1"],
  ["integers", "integers"],
  ["ascending", "ascending"],
  ["ones", "ones"],
];
const HEADS = ["argument", "type", "shape or value", "filled with"];

/**
 * @param {TypedInput[]} inputs
 * @param {FieldProblem[]} problems
 * @param {(inputs: TypedInput[]) => void} changed
 */
export function inputTable(inputs, problems, changed) {
  const change = (/** @type {TypedInput} */ input, /** @type {Partial<TypedInput>} */ changes) =>
    changed(inputs.map((each) => (each === input ? { ...each, ...changes } : each)));
  const constants = inputs
    .filter(({ type }) => type === "constexpr")
    .map(({ name, value }) => `${name} = ${value}`)
    .join(", ");
  return html`<div class="run-made">
    <table class="run-inputs" aria-label="Inputs to make">
      ${heads(HEADS)}
      ${inputs
        .filter(({ type }) => type !== "constexpr")
        .map((input) =>
          body(input, problems.find(({ field }) => field === `input.${input.name}`)?.words ?? "", (changes) =>
            change(input, changes),
          ),
        )}
    </table>
    ${constants ? html`<p class="hint">Compiled in: ${constants}</p>` : nothing}
  </div>`;
}

/** @param {TypedInput} input @param {string} problem @param {(changes: Partial<TypedInput>) => void} change */
function body({ name, type, shape, value, distribution }, problem, change) {
  const isTensor = shape !== null;
  const typed = onValue((text) => change(isTensor ? { shape: text } : { value: text }));
  const id = `run-input-${name}-problem`;
  return html`<tbody>
    <tr>
      <th scope="row">${name}</th>
      <td class="type">${type}</td>
      <td><input type="text" aria-label=${`${isTensor ? "Shape" : "Value"} of ${name}`} autocomplete="off"
          spellcheck="false" aria-describedby=${id} aria-invalid=${Boolean(problem)} .value=${shape ?? value}
          @input=${typed}></td>
      <td>${isTensor ? distributionChoice(name, distribution, change) : nothing}</td>
    </tr>
    <tr class="run-problem" ?hidden=${!problem}>
      <td colspan=${HEADS.length}><span id=${id} role="alert">${problem}</span></td>
    </tr>
  </tbody>`;
}

/** @param {string} name @param {Distribution} chosen @param {(changes: Partial<TypedInput>) => void} change */
function distributionChoice(name, chosen, change) {
  const changed = onValue((value) => change({ distribution: /** @type {Distribution} */ (value) }));
  return html`<select aria-label=${`Distribution of ${name}`} @change=${changed}>
    ${DISTRIBUTIONS.map(
      ([value, words]) => html`<option value=${value} .selected=${value === chosen}>${words}</option>`,
    )}
  </select>`;
}
