/**
 * The comparison with the reference in words.
 *
 * @import { OutputCheck } from "../../core/types.js"
 */
import { plural } from "../../core/format.js";
import { elements, error, place } from "../../core/numbers.js";

/** @param {OutputCheck[]} outputs at least one */
export function verdictWords(outputs) {
  const count = outputs.length;
  const wrong = outputs.filter(({ matches }) => !matches).length;
  if (count === 1) return wrong ? "It does not match the reference." : "It matches the reference.";
  if (wrong) return `${wrong} of ${plural(count, "output")} do not match the reference.`;
  return `${count === 2 ? "Both" : `All ${count}`} outputs match the reference.`;
}

/** The worst element of an output that is wrong. @param {OutputCheck} output @param {boolean} isSaid a diagnostic says so already */
export function differenceWords(output, isSaid) {
  const { name, worst_index: index, worst_value: value, worst_reference: expected, not_finite } = output;
  const [is, should] = elements(value, expected);
  const sentences = isSaid
    ? []
    : [
        `${name}${place(index)} is ${is}, the reference says ${should}.`,
        `The relative error of the whole is ${error(output.relative_error)}; ${error(output.tolerance)} would pass.`,
      ];
  if (not_finite)
    sentences.push(
      `${plural(not_finite, "element")} of ${name} ${not_finite === 1 ? "is" : "are"} NaN or infinite where the reference is not, or the other way round.`,
    );
  return sentences.join(" ");
}
