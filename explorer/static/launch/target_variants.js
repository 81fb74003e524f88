/**
 * `<target-variants>`: the choice of several targets and Triton versions, and the table of their results.
 *
 * @import { Draft, Target } from "../core/types.js"
 * @import { Column, Row } from "./variant_rows.js"
 * @import { Variants } from "./variant_table.js"
 */
import { LitElement } from "lit";
import { configsOf, draftWithConfig } from "./config_variants.js";
import { kernelOf } from "./draft.js";
import { choose } from "./edit.js";
import { targetTitle } from "../core/format.js";
import { follow } from "../core/pane.js";
import { keep, kept } from "../core/storage.js";
import { store } from "../core/store.js";
import { html } from "../core/template.js";
import { chosenVersions, targetChoices } from "./target_choices.js";
import "./variant_table.js";
import { variantOf } from "./variants.js";

const TARGETS_KEY = "several-targets";

export class TargetVariants extends LitElement {
  static properties = { targets: { state: true }, tritons: { state: true } };

  constructor() {
    super();
    const saved = readSaved();
    /** The names of the targets that are chosen. @type {Set<string>} */
    this.targets = new Set(saved.targets);
    /** The Triton versions that are chosen. @type {Set<string>} */
    this.tritons = new Set(saved.tritons);
    follow(this, ["targets", "tritons", "draft", "inspection"], () => this.requestUpdate());
  }

  /** @override */
  createRenderRoot() {
    return this;
  }

  /** Move the focus to the choices; the present target is the first to be compared. */
  async begin() {
    if (!this.targets.size) this.targets = new Set([store.state.draft.target]);
    await this.updateComplete;
    this.querySelector("input")?.focus();
  }

  /** @override */
  render() {
    const variants = this.variants();
    return html`<section class="variants" aria-label="Several targets">
      <h3>Several targets</h3>
      ${targetChoices(this, ({ targets, tritons }) => {
        Object.assign(this, { targets, tritons });
        keep(TARGETS_KEY, JSON.stringify({ targets: [...targets], tritons: [...tritons] }));
      })}
      <p class="hint" ?hidden=${variants.rows.length > 1}>Choose the targets and Triton versions to compile for
        and compare.</p>
      <variant-table ?hidden=${variants.rows.length === 0} .variants=${variants}></variant-table>
    </section>`;
  }

  /** @returns {Variants} */
  variants() {
    const { draft, inspection, targets, tritons } = store.state;
    const present = draft.triton ?? tritons.default;
    const versions = chosenVersions(this, draft);
    const isOfSeveral = versions.length > 1;
    const rows = targets
      .filter(({ name }) => this.targets.has(name))
      .flatMap((target) =>
        versions.map((triton) =>
          rowOf(draft, target, triton, isOfSeveral, target.name === draft.target && triton === present),
        ),
      );
    /** @type {Column[]} */
    const columns = isOfSeveral
      ? [{ name: "triton", title: "Triton", words: "Triton version", isText: true }]
      : [];
    const configs = configsOf(draft, kernelOf(draft, inspection));
    const matrix = rows.flatMap((row) =>
      configs.length ? configs.map((config) => draftWithConfig(row.draft, config)) : row.draft,
    );
    return { kind: "targets", label: "Targets", subject: "target", columns, rows, matrix };
  }
}

/**
 * @param {Draft} draft
 * @param {Target} target
 * @param {string} triton
 * @param {boolean} severalTritons
 * @param {boolean} isShown
 * @returns {Row}
 */
function rowOf(draft, target, triton, severalTritons, isShown) {
  return {
    ...variantOf({ ...draft, target: target.name, triton }),
    title: targetTitle(target),
    words: severalTritons ? `${targetTitle(target)} by Triton ${triton}` : targetTitle(target),
    /** @type {Record<string, string>} */
    cells: severalTritons ? { triton } : {},
    isShown,
    open: () => choose({ target: target.name, triton }),
  };
}

/** @returns {{targets: string[], tritons: string[]}} */
function readSaved() {
  try {
    const { targets, tritons } = JSON.parse(kept(TARGETS_KEY) ?? "{}");
    return { targets: strings(targets), tritons: strings(tritons) };
  } catch {
    return { targets: [], tritons: [] };
  }
}

/** @param {unknown} value @returns {string[]} */
function strings(value) {
  return Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
}

customElements.define("target-variants", TargetVariants);
