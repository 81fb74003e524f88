/**
 * `<value-variants>`: lists of values for compiler options and constexpr arguments, and the table of the results of
 * all combinations.
 *
 * @import { Draft, Scalar } from "../core/types.js"
 * @import { Choice, Place } from "./target_choices.js"
 * @import { Field, Settings } from "./value_lists.js"
 * @import { Column, Row } from "./variant_rows.js"
 * @import { Variants } from "./variant_table.js"
 */
import { LitElement } from "lit";
import { literal, targetTitle } from "../core/format.js";
import { follow } from "../core/pane.js";
import { store } from "../core/store.js";
import { html, live, nothing } from "../core/template.js";
import { OPTION_COLUMNS } from "./config_variants.js";
import { withSettings } from "./draft.js";
import { choose } from "./edit.js";
import { chosenVersions, targetChoices } from "./target_choices.js";
import { combinationsOf, countWords, fieldsOf, readList } from "./value_lists.js";
import "./variant_table.js";
import { variantOf } from "./variants.js";

/** The key of the list of an option that has no field. */
const OTHER = "other";

export class ValueVariants extends LitElement {
  static properties = {
    inherited: { attribute: false },
    texts: { state: true },
    otherName: { state: true },
    choice: { state: true },
  };

  constructor() {
    super();
    /** The options that hold where the draft sets none. @type {Record<string, Scalar | undefined>} */
    this.inherited = {};
    /** The lists as they were typed. @type {Map<string, string>} */
    this.texts = new Map();
    /** The name of an option that has no field. */
    this.otherName = "";
    /** @type {Choice} */
    this.choice = { targets: new Set(), tritons: new Set() };
    follow(this, ["targets", "tritons", "draft", "inspection"], () => this.requestUpdate());
  }

  /** @override */
  createRenderRoot() {
    return this;
  }

  async begin() {
    await this.updateComplete;
    this.querySelector("input")?.focus();
  }

  /** @override */
  render() {
    const { draft, inspection, mostCells } = store.state;
    const other = this.otherName.trim();
    const fields = fieldsOf(draft, inspection, this.inherited).filter(
      ({ kind, name }) => kind === "constants" || name !== other,
    );
    const lists = [
      ...fields.map((field) => this.read(field, `${field.kind}:${field.name}`)),
      this.readOther(other),
    ];
    const filled = lists.filter(({ values }) => values.length);
    const places = this.places(draft);
    const { words, problem } = countWords(
      filled.map(({ values }) => values.length),
      this.choice.targets.size || 1,
      chosenVersions(this.choice, draft).length,
      mostCells,
    );
    const isReadable = lists.every((list) => !list.problem);
    const variants =
      filled.length && isReadable && !problem
        ? this.variants(
            draft,
            filled.map(({ field }) => field),
            combinationsOf(filled),
            places,
          )
        : null;
    return html`<section class="variants" aria-label="Lists of values">
      <h3>Try values</h3>
      <div class="value-lists">${lists.map((list) => this.field(list))}</div>
      ${
        problem
          ? html`<p class="cell-problem" role="alert">${problem}</p>`
          : html`<p class="hint" ?hidden=${!isReadable}>${
              filled.length
                ? `${words}.`
                : "Enter values, separated by commas: every combination is compiled."
            }</p>`
      }
      ${this.targets(draft, places)}
      ${variants ? html`<variant-table .variants=${variants}></variant-table>` : nothing}
    </section>`;
  }

  /** @param {Field} field @param {string} key */
  read(field, key) {
    const text = this.texts.get(key) ?? "";
    return { field, key, text, ...readList(text, field) };
  }

  /** Read the list of an option that has no field of its own. @param {string} name */
  readOther(name) {
    const list = this.read({ kind: "options", name, present: undefined }, OTHER);
    if (list.problem || !(list.values.length || name)) return list;
    const problem = !name
      ? "The name of the option is missing."
      : !/^\w+$/.test(name)
        ? `${name} is not the name of an option.`
        : "";
    return { ...list, problem };
  }

  /** @param {ReturnType<ValueVariants["read"]>} list */
  field({ field, key, text, problem }) {
    const { kind, name, present } = field;
    const isOther = key === OTHER;
    const isAuto = kind === "options" && (present ?? null) === null;
    const id = `values-${key.replace(":", "-")}`;
    const change = (/** @type {{target: HTMLInputElement}} */ { target }) =>
      (this.texts = new Map(this.texts).set(key, target.value));
    return html`<div class=${isOther ? "value-list is-other" : "value-list"}>
      ${
        isOther
          ? html`<input type="text" aria-label="Name of another compiler option" placeholder="another option"
              autocomplete="off" spellcheck="false" .value=${live(this.otherName)}
              @input=${(/** @type {{target: HTMLInputElement}} */ { target }) => (this.otherName = target.value)}>`
          : html`<label for=${id}>${name}</label>`
      }
      <input type="text" id=${id} autocomplete="off" spellcheck="false"
        aria-label=${isOther ? "Values of the other option" : `Values of ${name}`}
        aria-invalid=${String(Boolean(problem))} aria-describedby="${id}-problem"
        placeholder=${isOther ? "its values" : isAuto ? "auto" : present === undefined ? "" : literal(present)}
        .value=${live(text)} @input=${change}>
      <p class="cell-problem" id="${id}-problem" role="alert" ?hidden=${!problem}>${problem}</p>
    </div>`;
  }

  /** @param {Draft} draft @param {Place[]} places */
  targets(draft, places) {
    const names = [...new Set(places.map(({ target }) => target.architecture))].join(", ");
    const begin = (/** @type {{target: HTMLDetailsElement}} */ { target }) => {
      if (!target.open || this.choice.targets.size) return;
      this.choice = {
        targets: new Set([draft.target]),
        tritons: new Set(chosenVersions(this.choice, draft)),
      };
    };
    return html`<details class="value-targets" @toggle=${begin}>
      <summary>For ${names}, Triton ${chosenVersions(this.choice, draft).join(", ")}</summary>
      ${targetChoices(this.choice, (choice) => (this.choice = choice))}
    </details>`;
  }

  /** @param {Draft} draft @returns {Place[]} */
  places(draft) {
    const { targets } = store.state;
    const chosen = this.choice.targets;
    const versions = chosenVersions(this.choice, draft);
    return targets
      .filter(({ name }) => (chosen.size ? chosen.has(name) : name === draft.target))
      .flatMap((target) => versions.map((triton) => ({ target, triton })));
  }

  /** @param {Draft} draft @param {Field[]} fields @param {Settings[]} combinations @param {Place[]} places @returns {Variants} */
  variants(draft, fields, combinations, places) {
    const differ = (/** @type {(place: Place) => string} */ read) => new Set(places.map(read)).size > 1;
    /** @type {Column[]} */
    const columns = [
      ...fields.map(({ kind, name }) => ({
        name: `${kind}-${name}`,
        title: OPTION_COLUMNS.find((option) => kind === "options" && option.name === name)?.title ?? name,
        words: name,
      })),
      ...(differ(({ target }) => target.name)
        ? [{ name: "target", title: "target", words: "Target", isText: true }]
        : []),
      ...(differ(({ triton }) => triton)
        ? [{ name: "triton", title: "Triton", words: "Triton version", isText: true }]
        : []),
    ];
    const present = variantOf({ ...draft, triton: draft.triton ?? store.state.tritons.default }).key;
    const rows = combinations
      .flatMap((settings) => places.map((place) => ({ settings, place })))
      .map((each, index) => rowOf(draft, each.settings, each.place, index + 1, present));
    return { kind: "values", label: "Combinations of values", subject: "no.", columns, rows };
  }
}

/**
 * @param {Draft} draft @param {Settings} settings @param {Place} place @param {number} number
 * @param {string} present the key of the draft @returns {Row}
 */
function rowOf(draft, settings, { target, triton }, number, present) {
  const values = /** @type {const} */ (["constants", "options"]).flatMap((kind) =>
    Object.entries(settings[kind]).map(([name, value]) => ({ kind, name, value })),
  );
  const changes = { ...withSettings(draft, settings), target: target.name, triton };
  const variant = variantOf({ ...draft, ...changes });
  return {
    ...variant,
    title: String(number),
    words: [
      ...values.map(({ name, value }) => `${name}=${literal(value)}`),
      targetTitle(target),
      `Triton ${triton}`,
    ].join(", "),
    cells: {
      ...Object.fromEntries(
        values.map(({ kind, name, value }) => [
          `${kind}-${name}`,
          typeof value === "number" ? value : literal(value),
        ]),
      ),
      target: target.architecture,
      triton,
    },
    isShown: variant.key === present,
    open: () => choose(changes),
  };
}

customElements.define("value-variants", ValueVariants);
