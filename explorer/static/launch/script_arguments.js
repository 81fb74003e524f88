/** The arguments of a script that reads some, as a field of the launch panel. */
import { typedText } from "./arguments.js";
import { chosenValue } from "../core/dom.js";
import { takesArguments } from "./draft.js";
import { adjust } from "./edit.js";
import { store } from "../core/store.js";
import { html, live, nothing } from "../core/template.js";

export function scriptArguments() {
  const { draft } = store.state;
  if (!takesArguments(draft)) return nothing;
  return html`<label class="option script-arguments"
    ><span>script arguments</span
    ><input
      type="text"
      id="script-arguments"
      placeholder="such as --rows 64"
      autocomplete="off"
      spellcheck="false"
      .value=${live(typedText("script-arguments", draft.scriptArguments))}
      @change=${(/** @type {Event} */ event) => adjust({ scriptArguments: chosenValue(event).trim() })}
  /></label>`;
}
