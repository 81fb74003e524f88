/**
 * The outputs of a run compared with the reference.
 *
 * @import { Check, OutputCheck } from "../../core/types.js"
 */
import { dimensions, elements, error, place } from "../../core/numbers.js";
import { heads, scrolled } from "../../core/scroller.js";
import { html, nothing } from "../../core/template.js";
import { differenceWords, verdictWords } from "./check_words.js";

const HEADS = ["output", "relative error", "tolerance", "worst element", "kernel", "reference"];

/** @param {Check} check @param {boolean} isSaid a diagnostic already reports the problem */
export function checkSection({ reason, reference, outputs }, isSaid) {
  if (outputs.length === 0)
    return html`<section>
      <h3>Result</h3>
      <p class="hint">${reason || "The kernel wrote no tensor."}</p>
    </section>`;
  const wrong = outputs.filter(({ matches }) => !matches);
  return html`<section class="run-check">
    <h3>Result</h3>
    <p class=${`run-verdict ${wrong.length ? "is-bad" : "is-good"}`}>${verdictWords(outputs)}</p>
    ${wrong
      .filter((each) => !isSaid || each.not_finite)
      .map((each) => html`<p class="run-worst">${differenceWords(each, isSaid)}</p>`)}
    ${scrolled(
      "Outputs against the reference",
      html`${heads(HEADS, (title) => (title === "tolerance" ? "is-minor" : ""))}
        <tbody>${outputs.map(row)}</tbody>`,
    )}
    <p class="hint">${[reference && `Against ${reference}`, reason].filter(Boolean).join(". ")}</p>
  </section>`;
}

/** @param {OutputCheck} output */
function row({ name, type, shape, relative_error: relative, tolerance, matches, ...worst }) {
  const { worst_index: index, worst_value: value, worst_reference: expected } = worst;
  const shown = shape.includes(0) ? ["–", "–", "–"] : [place(index), ...elements(value, expected)];
  return html`<tr class=${matches ? nothing : "is-bad"}>
    <th scope="row"><span class=${`sign ${matches ? "is-good" : "is-bad"}`} aria-hidden="true">${
      matches ? "✓" : "✗"
    }</span><span class="visually-hidden">${matches ? "matches: " : "wrong: "}</span>${name}<small>
      ${dimensions(shape)} ${type}</small></th>
    <td>${error(relative)}</td>
    <td class="is-minor">${error(tolerance)}</td>
    ${shown.map((each) => html`<td>${each}</td>`)}
  </tr>`;
}
