/**
 * `<why-here>`: why an operation, buffer, barrier or instruction is there, in statements that name who says them.
 *
 * @import { PropertyDeclarations } from "lit"
 * @import { WhyDocument, WhyFact, WhyLink } from "../core/types.js"
 * @import { Operation } from "./operation_lineage.js"
 */
import { LitElement } from "lit";
import { api } from "../core/api.js";
import { isFile } from "../core/host.js";
import { Loaded } from "../core/pane.js";
import { html, nothing } from "../core/template.js";
import { marked } from "../glossary/marks.js";

const BASES = {
  observed: "Reported by the compiler or one of its tools.",
  modelled: "Computed from the compiler's output by the compiler's rules.",
  inferred: "Concluded from locations, or from the order of a text.",
};

class WhyHere extends LitElement {
  /** @type {PropertyDeclarations} */
  static properties = { operation: { attribute: false } };

  why = new Loaded(
    this,
    () => {
      const { id, line, pass = 0, stage = "" } = this.operation ?? {};
      return id && line ? [id, line, pass, stage] : null;
    },
    (id, line, pass, stage) => api.analysis(id, "why", stage ? { stage, line } : { pass, line }),
  );

  constructor() {
    super();
    /** @type {Operation | null} */
    this.operation = null;
    /** Goes to a line of the module after a pass. @type {(index: number, line: number) => void} */
    this.go = () => undefined;
    /** Goes to a line of a stage. @type {(stage: string, line: number) => void} */
    this.showStage = () => undefined;
  }

  /** @override */
  createRenderRoot() {
    return this;
  }

  /** @override */
  render() {
    return this.why.render({
      waiting: () => {
        const { last } = this.why;
        return last ? this.content(last) : html`<p class="hint" role="status">Finding out why …</p>`;
      },
      ready: (document) => this.content(document),
      failed: ({ detail }) => html`<p class="hint">${detail}</p>`,
    });
  }

  /** @param {WhyDocument} document */
  content({ facts, way, terms, tours }) {
    return html`${facts.length ? html`<h3>Why is this here?</h3>${this.list(facts)}` : nothing}
      <details ?open=${facts.length === 0}>
        <summary>Pass by pass</summary>
        ${this.list(way)}
      </details>
      ${
        isFile
          ? nothing
          : html`<p class="hint">Glossary: ${terms.map(
              ({ name, title }, at) =>
                html`${at ? ", " : ""}<a href=${`/glossary#${name}`} target="_blank" rel="noopener">${title}</a>`,
            )}${tours.map(
              ({ tour, step, title }, at) =>
                html`${at ? ", " : ". Tour: "}<a href=${`/#tour=${tour}.${step}`} target="_blank" rel="noopener">${title}</a>`,
            )}</p>`
      }`;
  }

  /** @param {WhyFact[]} facts */
  list(facts) {
    return html`<ul class="why-facts">${facts.map(
      ({ text, basis, source, links }) => html`<li class=${`is-${basis}`}>
        ${marked(text)}
        <small class="from" title=${`${BASES[basis]} Source: ${source}.`}>${basis}</small>
        ${links.map((link) => this.link(link))}
      </li>`,
    )}</ul>`;
  }

  /** @param {WhyLink} link */
  link({ label, stage, pass_index: index, line }) {
    const go = () => (index === null ? this.showStage(stage, line) : this.go(index, line));
    return html`<button type="button" class="link" @click=${go}>${label}</button> `;
  }
}

customElements.define("why-here", WhyHere);
