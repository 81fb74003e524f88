/**
 * `<comparison-parting>`: the explanation of why two compilations differ, above the summary of the differences.
 *
 * @import { ExplanationDocument } from "../core/types.js"
 */
import { get } from "../core/api.js";
import { Loaded } from "../core/pane.js";
import { html, nothing } from "../core/template.js";
import { marked } from "../glossary/marks.js";
import { ComparisonPart } from "./part.js";

class ComparisonParting extends ComparisonPart {
  explanation = new Loaded(
    this,
    () => this.finished,
    /** @returns {Promise<ExplanationDocument>} */
    (before, after) => get(`/compilations/${before}/compare/${after}/explanation`),
  );

  /** @override */
  render() {
    return this.explanation.render({
      waiting: () => html`<p class="hint">Looking for the pass that parted them …</p>`,
      // Too large a kernel to be compared: the tables below stand alone.
      failed: () => nothing,
      ready: ({ facts }) => html`<section aria-labelledby="parting-title">
        <h2 id="parting-title">Why they differ</h2>
        <ul class="why-facts">${facts.map(
          ({ text, basis, show }) => html`<li class=${`is-${basis}`}>
            ${marked(text)} <small class="from">${basis}</small>
            ${show ? html`<a href=${`#${show}`}>${WORDS[/** @type {keyof typeof WORDS} */ (show)] ?? "Show the stage"}</a>` : nothing}
          </li>`,
        )}</ul>
      </section>`,
    });
  }
}

const WORDS = { source: "Show the sources", passes: "Show the passes" };

customElements.define("comparison-parting", ComparisonParting);
