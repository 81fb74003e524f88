/**
 * The compiler options of the draft, as fields of the launch panel.
 *
 * @import { Draft, Scalar, Specialized } from "../core/types.js"
 */
import { OPTION_PREFIX, optionProblem } from "./argument_checks.js";
import { typedText } from "./arguments.js";
import { chosenValue } from "../core/dom.js";
import { adjust } from "./edit.js";
import { literal } from "../core/format.js";
import { store } from "../core/store.js";
import { html, live } from "../core/template.js";

const OPTIONS = [
  { name: "num_warps", title: "warps", choices: ["1", "2", "4", "8", "16", "32"] },
  { name: "num_stages", title: "stages", choices: ["1", "2", "3", "4", "5", "6", "7"] },
  { name: "num_ctas", title: "CTAs", choices: ["1", "2", "4", "8"] },
  { name: "maxnreg", title: "max regs", choices: ["32", "64", "96", "128", "168", "255"] },
];

/**
 * The options of the present compilation, as the beginning of a draft without its launch.
 * @param {Draft} draft @param {Specialized | null} specialization
 */
export function effectiveOptions(draft, specialization) {
  const known = Object.entries(specialization?.options ?? {}).filter(
    ([name, value]) => value !== null && OPTIONS.some((each) => each.name === name),
  );
  return { ...Object.fromEntries(known), ...draft.options };
}

/**
 * The fields of the options that are numbers.
 * @param {Record<string, Scalar | undefined>} inherited the options that hold where the draft sets none
 * @param {unknown} more what is behind them
 */
export function compilerOptions(inherited, more) {
  const { draft } = store.state;
  const problems = OPTIONS.flatMap(({ name, title }) => {
    const typed = draft.typed[OPTION_PREFIX + name];
    return typed === undefined ? [] : [`${title}: ${optionProblem(typed)}`];
  });
  const inputs = OPTIONS.map(({ name, title, choices }) => {
    const typed = draft.typed[OPTION_PREFIX + name];
    const text = typed ?? draft.options[name] ?? "";
    return html`<label class="option"
      ><span>${title}</span
      ><input
        type="text"
        id=${`option-${name}`}
        inputmode="numeric"
        list=${`choices-${name}`}
        aria-label=${title}
        autocomplete="off"
        aria-describedby="option-problem"
        aria-invalid=${String(typed !== undefined)}
        placeholder=${(inherited[name] ?? null) === null ? "auto" : literal(inherited[name])}
        .value=${live(typedText(`option-${name}`, String(text)))}
        @input=${(/** @type {Event} */ event) => changeOption(name, chosenValue(event))}
      /><datalist id=${`choices-${name}`}>${choices.map((value) => html`<option value=${value}></option>`)}</datalist></label
    >`;
  });
  return html`<div class="options">${inputs}${more}</div>
    <p class="cell-problem" id="option-problem" role="alert" ?hidden=${!problems.length}
      >${problems.join(" ")}</p
    >`;
}

/** @param {string} name @param {string} value */
function changeOption(name, value) {
  const { draft } = store.state;
  const options = { ...draft.options };
  const typed = { ...draft.typed };
  const text = value.trim();
  delete typed[OPTION_PREFIX + name];
  if (text === "") delete options[name];
  else if (optionProblem(text)) typed[OPTION_PREFIX + name] = value;
  else options[name] = Number(text);
  adjust({ options, typed });
}
