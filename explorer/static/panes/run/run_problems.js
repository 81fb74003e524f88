/**
 * The problems of the form that a run has reported. Each is shown at its field until the field is changed.
 *
 * @import { RunDocument } from "../../core/types.js"
 * @import { FieldProblem, RunForm } from "../../runs/form_state.js"
 */
import { splitExpressions } from "./expressions.js";

/** @param {RunDocument} document @param {RunForm} form @returns {FieldProblem[]} */
export function runProblems({ run, diagnostics }, form) {
  const wrong = diagnostics.filter(({ severity, line }) => severity === "error" && line === 0);
  return wrong.flatMap(({ message, hint }) => {
    const words = [message, hint].filter(Boolean).join(" ");
    // A message about an expression begins with the name of its field.
    const [, subject = ""] = /^(\w+)(?:, dimension \d+)?: /.exec(message) ?? [];
    if (subject === "grid") return isSame(run.grid, form.grid) ? [{ field: "grid", words }] : [];
    const [input, typed] = [run.inputs, form.inputs].map((all) => all.find(({ name }) => name === subject));
    if (!input || !typed) return [];
    const isKept =
      typed.shape === null
        ? typed.value === input.value
        : isSame(/** @type {string[] | null} */ (input.shape), String(typed.shape));
    return isKept ? [{ field: `input.${subject}`, words }] : [];
  });
}

/** @param {string[] | null} ran @param {string} typed */
function isSame(ran, typed) {
  return ran?.join() === splitExpressions(typed).join();
}
