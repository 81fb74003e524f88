/**
 * The arguments of the launch: shown as found or guessed, or edited by hand. The name of an argument opens
 * what is known of it, and why.
 *
 * @import { Argument, Draft } from "./types.js"
 * @import { Field } from "./argument_checks.js"
 * @import { Origin } from "./argument_words.js"
 */
import { assumedOf, assumptionsOf, cellProblem, integerBits, isPointer, readValue, typeProblem, unitOf, valueProblem } from "./argument_checks.js";
import { argumentSentences } from "./argument_words.js";
import { make, setText, setValue } from "./dom.js";
import { adjust } from "./edit.js";
import { literal, specializationTitle } from "./format.js";
import { store } from "./store.js";
import { visible } from "./visible.js";

const HEADS = ["argument", "type", "specialised", "value"];

/** Names whose explanation is open. @type {Set<string>} */
const opened = new Set();

/**
 * A table of arguments, those that are the same but for their name in one row.
 * @param {Argument[]} shown @param {Origin} origin
 */
export function argumentTable(shown, origin) {
  /** @type {Map<string, Argument[]>} */
  const rows = new Map();
  for (const argument of shown) {
    const isConstant = argument.specialization === "constexpr";
    const key = JSON.stringify([argument.type, argument.specialization, argument.strides, isConstant ? [unitOf(argument), argument.value] : valueText(argument)]);
    rows.set(key, [...(rows.get(key) ?? []), argument]);
  }
  const bodies = [...rows.values()].map((members) => {
    const first = /** @type {Argument} */ (members[0]);
    const names = members.map(({ name }) => name).join(", ");
    const unit = unitOf(first);
    const value = make("td", {}, valueText(first), ...(unit ? [" ", make("span", { class: "unit" }, unit)] : []));
    if (first.strides?.length) value.append(make("small", { class: "strides" }, `strides ${first.strides.join(", ")}`));
    const cells = [make("td", { title: first.type }, first.type), make("td", { class: "words" }, specializationTitle(first)), value];
    return new ExplainedRow(first.name, cells).explain(names, first, origin).body;
  });
  return make("table", { "aria-label": "Arguments" }, head(), ...bodies);
}

/** @param {Argument} argument */
function valueText({ shape, value, type }) {
  if (shape) return shape.length ? shape.join("\u00a0×\u00a0") : "scalar";
  return value === null && type !== "constexpr" ? "" : literal(value);
}

function head() {
  return make("thead", {}, make("tr", {}, ...HEADS.map((title) => make("th", { scope: "col" }, title))));
}

/** A row whose name opens a second one with what is known of the argument. */
class ExplainedRow {
  /** @param {string} name @param {HTMLElement[]} cells */
  constructor(name, cells) {
    const isOpen = opened.has(name);
    this.about = make("td", { colspan: String(HEADS.length) });
    const line = make("tr", { class: "about", id: `about-${name}`, hidden: !isOpen }, this.about);
    this.button = make("button", {
      type: "button", class: "argument-name", "aria-expanded": String(isOpen), "aria-controls": line.id,
      onclick: () => {
        line.hidden = !line.hidden;
        if (line.hidden) opened.delete(name);
        else opened.add(name);
        this.button.setAttribute("aria-expanded", String(!line.hidden));
      },
    });
    this.body = make("tbody", {}, make("tr", {}, make("th", { scope: "row" }, this.button), ...cells), line);
  }

  /** @param {string} names @param {Argument} argument @param {Origin} origin */
  explain(names, argument, origin) {
    const sentences = argumentSentences(argument, origin).join(" ");
    setText(this.button, names);
    setText(this.about, sentences);
    this.button.title = visible(sentences);
    return this;
  }
}

/** The arguments by hand: a row of controls each. */
export class ArgumentForm {
  constructor() {
    this.table = make("table", { class: "form", "aria-label": "Arguments by hand" }, head());
    this.key = "";
    /** @type {ArgumentRow[]} */
    this.rows = [];
  }

  /** @param {Draft} draft */
  draw(draft) {
    const key = JSON.stringify([draft.kernel, draft.arguments.map(({ name }) => name)]);
    if (key !== this.key) {
      this.key = key;
      this.rows = draft.arguments.map((_, index) => new ArgumentRow(index));
      this.table.replaceChildren(head(), ...this.rows.map(({ body }) => body));
    }
    for (const row of this.rows) row.draw(draft);
  }
}

/** One argument's controls. What cannot be taken stays in its cell, and a word below says why. */
class ArgumentRow {
  /** @param {number} index */
  constructor(index) {
    this.index = index;
    const name = store.state.draft.arguments[index]?.name ?? "";
    this.type = make("input", {
      type: "text", "aria-label": `Type of ${name}`, list: "argument-types", autocomplete: "off", spellcheck: "false",
      oninput: () => this.typeChanged(),
    });
    this.specialization = make("select", { "aria-label": `Specialisation of ${name}`, onchange: () => this.specializationChanged() });
    this.value = make("input", {
      type: "text", "aria-label": `Value of ${name}`, autocomplete: "off", spellcheck: "false", oninput: () => this.valueChanged(),
    });
    this.unit = make("span", { class: "unit" });
    this.problem = make("span", { id: `problem-${name}`, role: "alert" });
    this.problemLine = make("tr", { class: "cell-problem" }, make("td", { colspan: String(HEADS.length) }, this.problem));
    const cells = [this.type, this.specialization, make("span", { class: "with-unit" }, this.value, this.unit)];
    this.row = new ExplainedRow(name, cells.map((control) => make("td", {}, control)));
    this.row.body.append(this.problemLine);
  }

  get body() {
    return this.row.body;
  }

  /** @param {Draft} draft */
  draw(draft) {
    const argument = draft.arguments[this.index];
    if (!argument) return;
    const { name, type, value, specialization, shape } = argument;
    this.row.explain(name, argument, "form");
    setValue(this.type, draft.typed[`${name}.type`] ?? type);
    // What is being typed means the value already, though it may be written in another way.
    if (document.activeElement !== this.value) setValue(this.value, draft.typed[`${name}.value`] ?? (value === null && type !== "constexpr" ? "" : literal(value)));
    const choices = assumptionsOf(type);
    // An assumption that the type does not allow is shown as long as it stands.
    const offered = choices.includes(specialization) || type === "constexpr" ? choices : [...choices, specialization];
    const key = `${type} ${offered.join()}`;
    if (this.specialization.dataset.key !== key) {
      this.specialization.dataset.key = key;
      this.specialization.replaceChildren(...offered.map((choice) => make("option", { value: choice }, specializationTitle({ type, specialization: choice }) || "none")));
    }
    this.specialization.value = type === "constexpr" ? "" : specialization;
    this.specialization.disabled = offered.length === 1;
    const takesValue = type === "constexpr" || integerBits(type) !== null;
    this.value.disabled = !takesValue;
    this.value.placeholder = isPointer(type) ? (shape?.join(" × ") ?? "") : takesValue && type !== "constexpr" ? "any" : "";
    setText(this.unit, unitOf(argument));
    const problems = [
      [this.type, cellProblem(draft, argument, "type")],
      [this.value, cellProblem(draft, argument, "value")],
      [this.specialization, cellProblem(draft, argument, "specialization")],
    ];
    for (const [control, problem] of /** @type {[HTMLElement, string][]} */ (problems)) {
      control.setAttribute("aria-invalid", String(Boolean(problem)));
      if (problem) control.setAttribute("aria-describedby", this.problem.id);
      else control.removeAttribute("aria-describedby");
    }
    const words = problems.map(([, problem]) => problem).filter(Boolean).join(" ");
    this.problemLine.hidden = !words;
    setText(this.problem, words);
  }

  /**
   * Take what is good, keep what is not as it was typed.
   * @param {Field} field @param {string} text @param {string} problem @param {(argument: Argument) => Argument} apply
   */
  take(field, text, problem, apply) {
    const { draft } = store.state;
    const argument = draft.arguments[this.index];
    if (!argument) return;
    const typed = { ...draft.typed };
    const cell = `${argument.name}.${field}`;
    if (problem) typed[cell] = text;
    else delete typed[cell];
    adjust({ typed, ...(problem ? {} : { arguments: draft.arguments.map((each) => (each === argument ? apply(each) : each)) }) });
  }

  typeChanged() {
    const type = this.type.value.trim();
    this.take("type", this.type.value, typeProblem(type), (argument) => {
      if (type === argument.type) return argument;
      const value = type === "constexpr" || integerBits(type) !== null ? argument.value : null;
      const kept = assumptionsOf(type).includes(argument.specialization) ? argument.specialization : assumedOf(type, value);
      return { ...argument, type, value, specialization: type === "constexpr" ? "constexpr" : kept, shape: null, strides: null };
    });
  }

  valueChanged() {
    const text = this.value.value;
    const type = store.state.draft.arguments[this.index]?.type ?? "";
    this.take("value", text, valueProblem(text, type), (argument) => {
      const value = readValue(text);
      return { ...argument, value, specialization: type === "constexpr" || value === null ? argument.specialization : assumedOf(type, value) };
    });
  }

  specializationChanged() {
    this.take("specialization", "", "", (argument) => ({ ...argument, specialization: this.specialization.value }));
  }
}
