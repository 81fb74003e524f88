/**
 * The arguments of the launch, as the launch passes them. The name of an argument opens an explanation of its type
 * and specialization.
 *
 * @import { Argument, Scalar } from "../core/types.js"
 * @import { argumentSentences } from "./argument_words.js"
 */
import { unitOf } from "./argument_checks.js";
import { choose } from "./edit.js";
import { literal, specializationTitle } from "../core/format.js";
import { html, nothing } from "../core/template.js";

export const HEAD = html`<thead>
  <tr>
    ${["argument", "type", "specialized", "value"].map((title) => html`<th scope="col">${title}</th>`)}
  </tr>
</thead>`;

/**
 * @typedef {object} Explained which explanations are open, and how to open one
 * @property {Set<string>} opened
 * @property {(name: string) => void} toggle
 * @property {typeof argumentSentences | null} sentences writes the explanations; null: not loaded yet
 */

/**
 * A table of arguments. Arguments that differ only in their names share a row.
 * @param {Argument[]} shown @param {Explained} explained
 * @param {readonly string[]} within2Gib the pointers whose tensors the compiler knows to be within 2 GiB
 */
export function argumentTable(shown, explained, within2Gib) {
  /** @type {Map<string, Argument[]>} */
  const rows = new Map();
  for (const argument of shown) {
    const isConstant = argument.specialization === "constexpr";
    const key = JSON.stringify([
      argument.type,
      argument.specialization,
      argument.strides,
      within2Gib.includes(argument.name),
      isConstant ? [unitOf(argument), argument.value] : valueText(argument),
    ]);
    rows.set(key, [...(rows.get(key) ?? []), argument]);
  }
  const bodies = [...rows.values()].map((members) => {
    const first = /** @type {Argument} */ (members[0]);
    const unit = unitOf(first);
    const cells = html`<td title=${first.type}>${first.type}</td>
      <td class="words">${[specializationTitle(first), within2Gib.includes(first.name) ? "within 2 GiB" : ""]
        .filter(Boolean)
        .join(", ")}</td>
      <td>
        ${valueText(first)}${unit ? html` <span class="unit">${unit}</span>` : nothing}${
          first.strides?.length
            ? html`<small class="strides">${`strides ${first.strides.join(", ")}`}</small>`
            : nothing
        }
      </td>`;
    const names = members.map(({ name }) => name).join(", ");
    return explainedRow(names, first, explained.sentences?.(first, "launch") ?? [], cells, explained);
  });
  return html`<table aria-label="Arguments">
    ${HEAD}${bodies}
  </table>`;
}

/** What the draft sets in place of values of the launch, and a way back. @param {Record<string, Scalar>} constants */
export function otherConstants(constants) {
  const names = Object.keys(constants);
  if (!names.length) return nothing;
  const isOne = names.length === 1;
  return html`<p class="hint">${names.join(", ")} ${isOne ? "differs" : "differ"} from the launch.
    <button type="button" class="link" @click=${() => choose({ constants: {} })}
      >Use the ${isOne ? "value" : "values"} of the launch</button></p>`;
}

/** @param {Argument} argument */
function valueText({ shape, value, type }) {
  if (shape) return shape.length ? shape.join("\u00a0×\u00a0") : "scalar";
  return value === null && type !== "constexpr" ? "" : literal(value);
}

/**
 * A row whose name opens a second row with the explanation of the argument.
 * @param {string} names @param {Argument} argument @param {string[]} sentences @param {unknown} cells
 * @param {Explained} explained @param {unknown} [mark] behind the name @param {unknown} [more] further rows
 */
export function explainedRow(names, { name }, sentences, cells, { opened, toggle }, mark, more) {
  const words = sentences.join(" ");
  const isOpen = opened.has(name);
  return html`<tbody>
    <tr>
      <th scope="row">
        <button
          type="button"
          class="argument-name"
          aria-expanded=${String(isOpen)}
          aria-controls=${`about-${name}`}
          title=${words}
          @click=${() => toggle(name)}
          >${names}</button
        >${mark}
      </th>
      ${cells}
    </tr>
    <tr class="about" id=${`about-${name}`} ?hidden=${!isOpen}>
      <td colspan="4">${words}</td>
    </tr>
    ${more}
  </tbody>`;
}

/**
 * The text of an input. An input with the focus keeps the typed text, which may be a different spelling of the value.
 * @param {string} id @param {string} text what it shows unless it has the focus
 */
export function typedText(id, text) {
  const { activeElement } = document;
  return activeElement instanceof HTMLInputElement && activeElement.id === id ? activeElement.value : text;
}
