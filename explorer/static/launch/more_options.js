/**
 * The compiler options that few kernels need, as fields of the launch panel, except the numeric options.
 *
 * @import { Scalar } from "../core/types.js"
 */
import { typedText } from "./arguments.js";
import { chosenValue } from "../core/dom.js";
import { adjust } from "./edit.js";
import { store } from "../core/store.js";
import { html, live, nothing } from "../core/template.js";

const CHOICES = [
  { value: "", words: "auto" },
  { value: "on", words: "on" },
  { value: "off", words: "off" },
];

export function moreOptions() {
  return html`${fusion()}${assembler()}`;
}

/** Whether multiplications and additions are fused. */
function fusion() {
  const { enable_fp_fusion: fused } = store.state.draft.options;
  const chosen = fused === undefined ? "" : fused ? "on" : "off";
  return html`<label class="option"
    ><span>fp fusion</span
    ><select
      aria-label="Fused multiply-add (enable_fp_fusion)"
      @change=${(/** @type {Event} */ event) => {
        const value = chosenValue(event);
        setOption("enable_fp_fusion", value === "" ? null : value === "on");
      }}
    >
      ${CHOICES.map(
        ({ value, words }) =>
          html`<option value=${value} .selected=${live(value === chosen)}>${words}</option>`,
      )}
    </select></label
  >`;
}

/** The options of ptxas, where it is the assembler or has some. */
function assembler() {
  const { draft, targets } = store.state;
  const { ptx_options: options = "" } = draft.options;
  const isNvidia = targets.find(({ name }) => name === draft.target)?.vendor === "NVIDIA";
  if (!isNvidia && !options) return nothing;
  return html`<label class="option"
    ><span>ptxas</span
    ><input
      type="text"
      class="ptxas-options"
      aria-label="Options of ptxas (ptx_options)"
      placeholder="none"
      autocomplete="off"
      spellcheck="false"
      .value=${live(typedText("ptx-options", String(options)))}
      id="ptx-options"
      @change=${(/** @type {Event} */ event) => setOption("ptx_options", chosenValue(event).trim() || null)}
  /></label>`;
}

/** @param {string} name @param {Scalar} value null: the default */
function setOption(name, value) {
  const { [name]: _before, ...options } = store.state.draft.options;
  adjust({ options: value === null ? options : { ...options, [name]: value } });
}
