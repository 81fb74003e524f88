/** The numbers that a script reads from tensors that only a GPU could compute, as fields of the launch panel. */
import { ASSUMED_PREFIX, assumedProblem } from "./argument_checks.js";
import { typedText } from "./arguments.js";
import { chosenValue } from "../core/dom.js";
import { adjust } from "./edit.js";
import { pin } from "../core/selection.js";
import { lineWords } from "../core/source_files.js";
import { store } from "../core/store.js";
import { html, live, nothing } from "../core/template.js";

/** The assumed numbers of the draft: they replace numbers that only a GPU could compute. */
export function assumedNumbers() {
  const { draft, inspection } = store.state;
  const numbers = inspection?.assumed ?? [];
  if (numbers.length === 0) return nothing;
  const problems = numbers.flatMap(({ place, line }) => {
    const typed = draft.typed[ASSUMED_PREFIX + place];
    return typed === undefined ? [] : [`${lineWords(draft, line)}: ${assumedProblem(typed)}`];
  });
  const fields = numbers.map(({ place, line, value, is_given: isGiven }) => {
    const typed = draft.typed[ASSUMED_PREFIX + place];
    const given = draft.assumed[place];
    const text = typed ?? (given === undefined ? "" : String(given));
    const words = lineWords(draft, line);
    return html`<label class="option"
      ><button type="button" class="link" title="Show the line" @click=${() => pin([line], "launch")}>${words}</button
      ><input
        type="text"
        id=${`assumed-${place}`}
        inputmode="numeric"
        autocomplete="off"
        aria-label=${`Number assumed at ${words}`}
        aria-describedby="assumed-problem"
        aria-invalid=${String(typed !== undefined)}
        placeholder=${isGiven && given === undefined ? "…" : String(value)}
        .value=${live(typedText(`assumed-${place}`, text))}
        @input=${(/** @type {Event} */ event) => changeAssumed(place, chosenValue(event))}
      /></label>`;
  });
  return html`<div class="assumed" role="group" aria-label="Assumed numbers">
    <p class="hint">The script reads these numbers from tensors that only a GPU could compute. They are assumed.</p>
    <div class="options">${fields}</div>
    <p class="cell-problem" id="assumed-problem" role="alert" ?hidden=${!problems.length}>${problems.join(" ")}</p>
  </div>`;
}

/** @param {string} place @param {string} value */
function changeAssumed(place, value) {
  const { draft } = store.state;
  const { [place]: _before, ...assumed } = draft.assumed;
  const { [ASSUMED_PREFIX + place]: _text, ...typed } = draft.typed;
  const text = value.trim();
  if (text && assumedProblem(text)) typed[ASSUMED_PREFIX + place] = value;
  else if (text) assumed[place] = Number(text);
  adjust({ assumed, typed });
}
