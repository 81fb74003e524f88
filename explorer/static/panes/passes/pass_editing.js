/**
 * Changes of the pipeline at the selected pass: it is left out, or an option gets another value.
 *
 * @import { PassesPane } from "../passes.js"
 */
import { canCompile } from "../../core/host.js";
import { isLeftOut, ownName, toggledPass, withPassOption } from "../../core/pass_edits.js";
import { store } from "../../core/store.js";
import { html, live, nothing } from "../../core/template.js";
import { choose } from "../../launch/edit.js";
import { LLVM } from "./pass_view.js";
import { toolButton } from "./tool_button.js";

export class PassEditing {
  /** @param {PassesPane} pane */
  constructor(pane) {
    this.pane = pane;
  }

  /** The name of the selected pass in a request; "": it cannot be changed here. */
  get ownName() {
    const { subject, selected, view } = this.pane;
    if (!subject || !selected || !canCompile || view.stage === LLVM) return "";
    return ownName(subject.passes, selected);
  }

  /** An option of the selected pass, with an input for another value. @param {string} option */
  option(option) {
    const { ownName } = this;
    const [, name = "", value = ""] = /^([\w-]+)=([\w.:-]*)$/.exec(option) ?? [];
    if (!ownName || !name) return html`<span class="chip quiet">${option}</span>`;
    const change = (/** @type {{target: HTMLInputElement}} */ { target }) => {
      const { draft } = store.state;
      choose({
        edits: withPassOption(draft.edits, ownName, name, target.value === value ? "" : target.value),
      });
    };
    return html`<label class="chip quiet pass-option">${name}=<input
      type="text"
      size=${Math.max(3, value.length)}
      aria-label=${`${name} of ${this.pane.selected?.name}`}
      title="Compiles with another value"
      autocomplete="off"
      spellcheck="false"
      .value=${live(value)}
      @change=${change}
    ></label>`;
  }

  /** The button that leaves the selected pass out, or lets it run again. */
  leaveOut() {
    const { ownName } = this;
    const { edits } = store.state.draft;
    if (!ownName) return nothing;
    return toolButton(
      "Leave out",
      "Leave out: compile without this pass",
      () => choose({ edits: toggledPass(store.state.draft.edits, ownName) }),
      isLeftOut(edits, ownName),
    );
  }
}
