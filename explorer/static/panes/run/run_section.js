/**
 * `<run-section>`: one measurement of a run, fetched when the run has it.
 *
 * @import { PropertyDeclarations } from "lit"
 * @import { Measurements, ProfileFiles } from "../../core/types.js"
 * @import { RunResult } from "../../runs/run_result.js"
 */
import { LitElement } from "lit";
import { api } from "../../core/api.js";
import { size } from "../../core/format.js";
import { Loaded } from "../../core/pane.js";
import { html, nothing } from "../../core/template.js";
import { countsSection } from "../../runs/counts.js";
import { countersSection, environmentSection, launchSection, roofsSection } from "../../runs/facts.js";
import { checkSection } from "./check.js";
import { fieldsOf } from "./fields_of_document.js";
import { timingsSection } from "./timings.js";

/**
 * @typedef {object} Context
 * @property {RunResult} run
 * @property {string[]} source the lines of the source that was run
 * @property {string} origin the pane, as the origin of its selections
 *
 * @typedef {(document: any, context: Context) => unknown} Section
 */

/**
 * The sections with a display of their own, in the order of the page. Plots come with a library that other
 * sections do without.
 * @type {{[Name in keyof Measurements]?: () => Section | Promise<Section>}}
 */
const SECTIONS = {
  check:
    () =>
    (check, { run }) =>
      checkSection(
        check,
        run.document.diagnostics.some(({ severity }) => severity === "error"),
      ),
  timings:
    () =>
    (timings, { run }) =>
      timingsSection(timings, run.document.run.device === "interpreter"),
  sweep: async () => {
    const { sweepSection } = await import("./sweep.js");
    return (sweep, { run }) => sweepSection(sweep, run.id);
  },
  autotuning: async () => {
    const { autotuningSection } = await import("./autotuning.js");
    return (autotuning, { run }) => autotuningSection(autotuning, run.id);
  },
  counts:
    () =>
    (counts, { source, origin }) =>
      countsSection(counts, source, origin),
  counters: () => countersSection,
  roofs: () => roofsSection,
  launch: () => launchSection,
  environment: () => environmentSection,
  files:
    () =>
    ({ files }, { run }) =>
      filesSection(files, run.id),
};

/** The Roofline pane shows these. */
const ELSEWHERE = ["samples", "timeline"];
/** The sections that take the whole width. */
export const WIDE = ["check", "sweep", "autotuning", "counts"];

/** The measurements of a run that have a section, in the order of the page. @param {RunResult} run */
export function sectionsOf({ document }) {
  const names = document.measurements.map(({ name }) => name);
  const known = Object.keys(SECTIONS);
  const isOther = (/** @type {string} */ name) => !known.includes(name) && !ELSEWHERE.includes(name);
  return [...known.filter((name) => names.includes(name)), ...names.filter(isOther)];
}

class RunSection extends LitElement {
  /** @type {PropertyDeclarations} */
  static properties = {
    name: { attribute: false },
    run: { attribute: false },
    source: { attribute: false },
    origin: { attribute: false },
  };

  section = new Loaded(
    this,
    () => (this.run ? /** @type {const} */ ([this.run, this.name]) : null),
    async (run, name) => {
      const [document, section] = await Promise.all([
        run.measurement(/** @type {keyof Measurements} */ (name)),
        SECTIONS[/** @type {keyof Measurements} */ (name)]?.() ?? otherSection(name),
      ]);
      return { document, section };
    },
  );

  constructor() {
    super();
    this.name = "";
    /** @type {RunResult | null} */
    this.run = null;
    /** @type {string[]} */
    this.source = [];
    this.origin = "";
  }

  /** @override */
  createRenderRoot() {
    return this;
  }

  /** @override */
  render() {
    const { run, source, origin } = this;
    if (!run) return nothing;
    return this.section.render({
      ready: ({ document, section }) => (document ? section(document, { run, source, origin }) : nothing),
      failed: ({ title, detail }) =>
        html`<p class="warning">${title}. ${detail}
          <button type="button" class="link" @click=${() => this.section.retry()}>Try again</button></p>`,
    });
  }
}

/** The fields of a document that has no display of its own. @param {string} name @returns {Section} */
function otherSection(name) {
  return (document) => {
    const rows = fieldsOf(document);
    return html`<section>
      <h3>${name}</h3>
      <table class="run-facts" aria-label=${name}><tbody>${rows.map(
        ([field, value]) => html`<tr><th scope="row">${field}</th><td>${value}</td></tr>`,
      )}</tbody></table>
    </section>`;
  };
}

/** @param {ProfileFiles["files"]} files @param {string} id */
function filesSection(files, id) {
  if (files.length === 0) return nothing;
  const address = (/** @type {string} */ name) => api.runUrl(id, `files/${encodeURIComponent(name)}`);
  return html`<section>
    <h3>Files</h3>
    <p class="run-files">${files.map(
      ({ name, bytes }) =>
        html`<a class="button small" href=${address(name)} download=${name}>${name}<span
          class="hint">${size(bytes)}</span></a>`,
    )}</p>
  </section>`;
}

customElements.define("run-section", RunSection);
