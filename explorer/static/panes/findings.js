/**
 * `<pane-findings>`: what costs speed in the kernel, with its evidence, its cause and advice.
 *
 * @import { AnalysisAnswer } from "../core/types.js"
 */
import { api } from "../core/api.js";
import { grouped } from "../core/format.js";
import { lineText } from "../core/line_words.js";
import { Loaded, Pane } from "../core/pane.js";
import { canCompile } from "../core/host.js";
import { choose } from "../launch/edit.js";
import { draftOf } from "../launch/draft.js";
import { comparisonUrl } from "../compare/address.js";
import { differencesOf } from "../findings/differences.js";
import { applied, changesOf, keyOf, tryAll, verdictOf } from "../findings/trials.js";
import { hover, pin, putCursor } from "../core/selection.js";
import { stageTitle } from "../core/stages.js";
import { store } from "../core/store.js";
import { html, nothing } from "../core/template.js";
import { marked } from "../glossary/marks.js";

/** @typedef {AnalysisAnswer<"findings">} Findings */
/** @typedef {Findings["findings"][number]} Finding */

const WAITING = "The findings are known when the compilation is finished.";

/** The columns of the trials: a metric and its head. @type {[keyof NonNullable<import("../core/types.js").MatrixCell["metrics"]>, string][]} */
const COLUMNS = [
  ["registers", "registers"],
  ["spills", "spills"],
  ["shared_bytes", "shared"],
  ["occupancy", "occupancy"],
];
const VERDICTS = {
  waiting: "",
  failed: "does not compile",
  stays: "the finding stays",
  partial: "the grid of the script does not follow",
  worse: "other findings appear",
  proven: "proven in the compiler",
};

class FindingsPane extends Pane {
  /** The trials of the result `tried`, by the keys of their changes. @type {Map<string, import("../findings/trials.js").Trial>} */
  trials = new Map();
  tried = "";
  trying = new AbortController();
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
        ${this.difference()} ${this.tryButton(answer)}
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
      ${this.changes(finding)}
      <p class="finding-links">${this.operation(finding)} ${cost(finding)}</p>
    </li>`;
  }

  /** The figures that have changed since the compilation before. */
  difference() {
    const { before, result } = store.state;
    const found = before && result ? differencesOf(before.document, result.document) : [];
    if (!before || !result || !found.length) return nothing;
    return html`<p class="finding-difference">${found.map(
      ({ title, before: old, after }) => html`<span>${title} ${old} → <b>${after}</b></span>`,
    )} <a class="link" href=${comparisonUrl(before.id, result.id)}>Compare</a></p>`;
  }

  /** A button that compiles all proposed changes. @param {Findings} answer */
  tryButton({ findings }) {
    const changes = changesOf(findings);
    if (!canCompile || !changes.length) return nothing;
    const isTried = this.tried === store.state.result?.id;
    return html`<p><button type="button" class="button small" ?disabled=${isTried}
      @click=${() => this.tryAll(changes)}>${isTried ? "Tried" : changes.length > 1 ? `Try all ${changes.length} changes` : "Try the change"}</button></p>`;
  }

  /** @param {ReturnType<typeof changesOf>} changes */
  async tryAll(changes) {
    const { result } = store.state;
    if (!result) return;
    this.trying.abort();
    this.trying = new AbortController();
    this.tried = result.id;
    const tell = (/** @type {Map<string, import("../findings/trials.js").Trial>} */ trials) => {
      this.trials = trials;
      this.requestUpdate();
    };
    await tryAll(result.document, changes, tell, this.trying.signal);
  }

  /** The proposed changes, with what their compilation has shown. @param {Finding} finding */
  changes(finding) {
    if (!finding.changes.length) return nothing;
    const isTried = this.tried === store.state.result?.id;
    if (!isTried)
      return html`<p class="finding-changes">Changes to try: ${finding.changes.map(({ text }) => text).join("; ")}</p>`;
    return html`<table class="finding-trials" aria-label="Changes that were tried">
      <thead><tr><th scope="col">change</th>${COLUMNS.map(([, head]) => html`<th scope="col">${head}</th>`)}<th scope="col">result</th></tr></thead>
      <tbody>${finding.changes.map((change) => this.trial(finding, change))}</tbody>
    </table>`;
  }

  /** @param {Finding} finding @param {Finding["changes"][number]} change */
  trial(finding, change) {
    const trial = this.trials.get(keyOf(change));
    const verdict = trial ? verdictOf(finding, trial) : "waiting";
    const id = trial?.cell?.state === "complete" ? trial.cell.id : null;
    const metrics = trial?.cell?.metrics;
    const shown = store.state.result?.id;
    return html`<tr class="is-${verdict}"><th scope="row">${change.text}</th>
      ${COLUMNS.map(([name]) => html`<td>${metrics ? shownMetric(name, metrics[name]) : nothing}</td>`)}
      <td>${VERDICTS[verdict]} ${
        verdict === "proven"
          ? html`<button type="button" class="link" @click=${() => this.apply(change)}>Apply</button>`
          : nothing
      } ${id && shown ? html`<a class="link" href=${comparisonUrl(shown, id)}>Compare</a>` : nothing}</td></tr>`;
  }

  /** Write a change into the source or the launch, and show its compilation. @param {Finding["changes"][number]} change */
  apply(change) {
    const { result } = store.state;
    if (result) choose(applied(draftOf(result.document), change));
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

/** @param {string} name @param {number | null | undefined} value */
function shownMetric(name, value) {
  if (value === null || value === undefined) return "";
  return name === "occupancy" ? `${Math.round(100 * value)} %` : grouped(value);
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
