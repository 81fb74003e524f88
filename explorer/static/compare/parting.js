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
            ${show ? html`<a href=${`#${show}`}>${wordsOf(show)}</a>` : nothing}
          </li>`,
        )}</ul>
      </section>`,
    });
  }
}

/** @param {string} show the view */
function wordsOf(show) {
  if (show === "source") return "Show the sources";
  if (show === "passes") return "Show the passes";
  return show.startsWith("stage=pass-") ? "Show both modules" : "Show the stage";
}

customElements.define("comparison-parting", ComparisonParting);
