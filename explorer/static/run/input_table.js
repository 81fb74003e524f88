/**
 * The arguments that the form makes: shape and distribution of tensors, values of scalars.
 *
 * @import { Distribution } from "./documents.js"
 * @import { FieldProblem, TypedInput } from "./form_state.js"
 */
import { make, setText, setValue } from "../dom.js";
import { store } from "../store.js";
import { drawControl } from "./field.js";
import { changeForm } from "./start.js";

/** @type {[Distribution, string][]} */
const DISTRIBUTIONS = [["normal", "normal"], ["uniform", "uniform, 0 to 1"], ["integers", "integers"], ["ascending", "ascending"], ["ones", "ones"]];
const HEADS = ["argument", "type", "shape or value", "filled with"];

export class InputTable {
  constructor() {
    this.table = make("table", { class: "run-inputs", "aria-label": "Inputs to make" });
    this.constants = make("p", { class: "hint" });
    this.element = make("div", { class: "run-made" }, this.table, this.constants);
    this.key = "";
    /** @type {(InputRow | null)[]} null: it is compiled in */
    this.rows = [];
  }

  /** @param {TypedInput[]} inputs @param {FieldProblem[]} problems */
  draw(inputs, problems) {
    const key = JSON.stringify(inputs.map(({ name, type, shape }) => [name, type, shape === null]));
    if (key !== this.key) {
      this.key = key;
      this.rows = inputs.map((input, index) => (input.type === "constexpr" ? null : new InputRow(input, index)));
      this.table.replaceChildren(
        make("thead", {}, make("tr", {}, ...HEADS.map((head) => make("th", { scope: "col" }, head)))),
        ...this.rows.flatMap((row) => (row ? [row.body] : [])),
      );
    }
    const constants = inputs.filter(({ type }) => type === "constexpr").map(({ name, value }) => `${name} = ${value}`).join(", ");
    setText(this.constants, constants && `Compiled in: ${constants}`);
    this.constants.hidden = !constants;
    inputs.forEach((input, index) => this.rows[index]?.draw(input, problems.find(({ field }) => field === `input.${input.name}`)?.words ?? ""));
  }
}

class InputRow {
  /** @param {TypedInput} input @param {number} index */
  constructor({ name, type, shape }, index) {
    this.index = index;
    this.isTensor = shape !== null;
    this.value = make("input", {
      type: "text", "aria-label": `${this.isTensor ? "Shape" : "Value"} of ${name}`, autocomplete: "off", spellcheck: "false",
      "aria-describedby": `run-input-${name}-problem`, oninput: () => this.change(this.isTensor ? { shape: this.value.value } : { value: this.value.value }),
    });
    this.distribution = make("select", {
      "aria-label": `Distribution of ${name}`,
      onchange: () => this.change({ distribution: /** @type {Distribution} */ (this.distribution.value) }),
    }, ...DISTRIBUTIONS.map(([value, words]) => make("option", { value }, words)));
    this.problem = make("span", { id: `run-input-${name}-problem`, role: "alert" });
    this.problemLine = make("tr", { class: "run-problem" }, make("td", { colspan: String(HEADS.length) }, this.problem));
    this.body = make("tbody", {},
      make("tr", {},
        make("th", { scope: "row" }, name), make("td", { class: "type" }, type), make("td", {}, this.value),
        make("td", {}, this.isTensor && this.distribution)),
      this.problemLine);
  }

  /** @param {Partial<TypedInput>} changes */
  change(changes) {
    changeForm({ inputs: store.state.runForm.inputs.map((input, index) => (index === this.index ? { ...input, ...changes } : input)) });
  }

  /** @param {TypedInput} input @param {string} words */
  draw(input, words) {
    drawControl(this.value, this.problem, input.shape ?? input.value, words);
    setValue(this.distribution, input.distribution);
    this.problemLine.hidden = !words;
  }
}
