/**
 * `<comparison-findings>`: the findings that only one of two complete results has.
 *
 * @import { CompilationDocument, FindingChanges } from "../core/types.js"
 */
import { api } from "../core/api.js";
import { Loaded } from "../core/pane.js";
import { lineWords } from "../core/source_files.js";
import { html, nothing } from "../core/template.js";
import { marked } from "../glossary/marks.js";
import { ComparisonPart } from "./part.js";

class ComparisonFindings extends ComparisonPart {
  changes = new Loaded(
    this,
    () => this.finished,
    (before, after) =>
      Promise.all([api.findingChanges(before, after), api.compilation(before), api.compilation(after)]),
  );

  /** @override */
  render() {
    return html`<section aria-labelledby="findings-title">
      <h2 id="findings-title">Findings</h2>
      ${this.changes.render({
        waiting: () => html`<p class="hint">Comparing the findings …</p>`,
        ready: ([{ appeared, vanished, worse, fixed }, before, after]) => html`
          ${
            appeared.length || vanished.length
              ? html`<ul class="findings">
                  ${appeared.map((each) => finding(each, "appeared", after))}
                  ${vanished.map((each) => finding(each, "vanished", before))}
                </ul>`
              : html`<p class="hint">No finding appeared or vanished.</p>`
          }
          ${worse.length ? html`<p class="hint">Found in both, and more costly after: ${worse.join(", ")}.</p>` : nothing}
          ${
            fixed.length
              ? html`<p class="hint">The grid does not follow ${fixed.join(", ")}: the second result does other work.</p>`
              : nothing
          }`,
      })}
    </section>`;
  }
}

/**
 * @param {FindingChanges["appeared"][number]} finding @param {"appeared" | "vanished"} change
 * @param {CompilationDocument} document of the result that has it
 */
function finding({ severity, text, source_line: line }, change, { id, request }) {
  return html`<li class="finding is-${severity}"><span>
    <b>${change}</b> ${marked(text)} <small class="finding-more">${severity}</small>
    ${line ? html`<a href=${`/k/${id}#panes=findings&pin=${line}`}>${lineWords(request, line)}</a>` : nothing}
  </span></li>`;
}

customElements.define("comparison-findings", ComparisonFindings);
