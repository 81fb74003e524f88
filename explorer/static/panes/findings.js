/**
 * `<pane-findings>`: what costs speed in the kernel, with its evidence, its cause and advice.
 *
 * @import { AnalysisAnswer } from "../core/types.js"
 */
import { api } from "../core/api.js";
import { grouped } from "../core/format.js";
import { lineText } from "../core/line_words.js";
import { Loaded, Pane } from "../core/pane.js";
import { hover, pin, putCursor } from "../core/selection.js";
import { stageTitle } from "../core/stages.js";
import { store } from "../core/store.js";
import { html, nothing } from "../core/template.js";
import { marked } from "../glossary/marks.js";

/** @typedef {AnalysisAnswer<"findings">} Findings */
/** @typedef {Findings["findings"][number]} Finding */

const WAITING = "The findings are known when the compilation is finished.";

class FindingsPane extends Pane {
  answer = new Loaded(
    this,
    () => (store.state.result?.finished ? [store.state.result.id] : null),
    (id) => api.analysis(id, "findings"),
  );

  /** @override */
  render() {
    return this.answer.render({
      empty: store.state.result ? WAITING : "Compile a kernel to see what costs speed in it.",
      waiting: WAITING,
      ready: (answer) => html`<div class="findings">
        ${
          answer.findings.length
            ? html`<ol>${answer.findings.map((each) => this.finding(each))}</ol>`
            : html`<p class="findings-none"><strong>No static problem found.</strong></p>`
        }
        ${checked(answer)}
      </div>`,
    });
  }

  /** @param {Finding} finding */
  finding(finding) {
    const lines = finding.source_line ? [finding.source_line] : [];
    return html`<li class="finding is-${finding.severity}" @mouseenter=${() => hover(lines, this.id)}
        @mouseleave=${() => hover([], this.id)}>
      <h3>${marked(finding.text)} ${this.place(finding)}</h3>
      ${finding.cause ? html`<p>${marked(finding.cause)}</p>` : nothing}
      ${finding.advice ? html`<p class="finding-advice">${marked(finding.advice)}</p>` : nothing}
      <ul class="finding-evidence">${finding.evidence.map(
        (each) => html`<li>${each.name}: <b>${amount(each.value, each.unit)}</b>, ${each.basis}</li>`,
      )}</ul>
      <p class="finding-links">${this.operation(finding)} ${cost(finding)}</p>
    </li>`;
  }

  /** A button that pins the source line. @param {Finding} finding */
  place({ source_line: line }) {
    if (!line) return nothing;
    return html`<button type="button" class="link" @click=${() => pin([line], this.id)}>${lineText(line)}</button>`;
  }

  /** A button that puts the cursor on the operation. @param {Finding} finding */
  operation({ ttgir_line: line }) {
    if (!line) return nothing;
    return html`<button type="button" class="link" @click=${() => putCursor("ttgir", line, this.id)}
      >${stageTitle("ttgir")} ${line}</button>`;
  }
}

/** @param {number} value @param {string} unit */
function amount(value, unit) {
  return unit === "%" ? `${Math.round(100 * value)} %` : unit ? `${grouped(value)} ${unit}` : grouped(value);
}

/** @param {Finding} finding */
function cost({ cost: found }) {
  if (!found) return html`<span class="facts">Cost: unknown</span>`;
  return html`<span class="facts">Cost: ${Math.round(100 * found.share)} % of the ${found.of}, ${found.basis}</span>`;
}

/** The rules that were checked. @param {Findings} answer */
function checked({ checked: rules }) {
  return html`<details class="findings-checked"><summary>${rules.length} checks</summary>
    <ul>${rules.map(
      ({ title, findings, reason }) =>
        html`<li>${title}: ${reason ? `not checked. ${reason}` : findings ? `${findings} found` : "nothing found"}</li>`,
    )}</ul>
  </details>`;
}

customElements.define("pane-findings", FindingsPane);
