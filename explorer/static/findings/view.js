/**
 * `<findings-view>`: what costs speed in the kernel, with its evidence, its cause and advice.
 *
 * @import { AnalysisAnswer } from "../core/types.js"
 */
import { api } from "../core/api.js";
import { grouped, plural } from "../core/format.js";
import { lineText } from "../core/line_words.js";
import { Loaded, Pane } from "../core/pane.js";
import { canCompile } from "../core/host.js";
import { choose } from "../launch/edit.js";
import { draftOf } from "../launch/draft.js";
import { comparisonUrl } from "../compare/address.js";
import { differencesOf, figuresOf } from "./differences.js";
import { applied, changesOf, keyOf, tryAll, verdictOf } from "./trials.js";
import { hover, pin, putCursor } from "../core/selection.js";
import { stageTitle } from "../core/stages.js";
import { store } from "../core/store.js";
import { html, nothing } from "../core/template.js";
import { marked } from "../glossary/marks.js";

/** @typedef {AnalysisAnswer<"findings">} Findings */
/** @typedef {Findings["findings"][number]} Finding */

const WAITING = "The findings are being computed.";

const VERDICTS = {
  waiting: "compiling",
  failed: "does not compile",
  stays: "the finding stays",
  partial: "the grid of the script does not follow",
  worse: "other findings appear",
  running: "the interpreter compares the results",
  other: "the kernel writes other results",
  proven: "proven in the compiler",
};

class FindingsView extends Pane {
  static properties = { paneId: {} };
  static slices = /** @type {(typeof Pane)["slices"]} */ (["result", "settled"]);
  /** The pane around it, which lights lines. */
  paneId = "";
  /** The trials of the result `tried`, by the keys of their changes. @type {Map<string, import("./trials.js").Trial>} */
  trials = new Map();
  tried = "";
  trying = new AbortController();
  answer = new Loaded(
    this,
    () => (store.state.settled ? [store.state.settled.id] : null),
    (id) => api.analysis(id, "findings"),
  );

  /** @override */
  render() {
    return this.answer.render({
      empty: WAITING,
      waiting: WAITING,
      ready: (answer) => html`<div class="findings">
        ${this.difference()} ${this.tryButton(answer)}
        ${
          answer.findings.length
            ? html`<ol>${answer.findings.map((each, index) => this.finding(each, answer.findings.slice(0, index)))}</ol>`
            : html`<p class="findings-none"><strong>${noneWords(answer)}</strong></p>`
        }
        ${checked(answer)}
      </div>`,
    });
  }

  /** @param {Finding} finding @param {Findings["findings"]} before */
  finding(finding, before) {
    const lines = finding.source_line ? [finding.source_line] : [];
    return html`<li class="finding is-${finding.severity}" @mouseenter=${() => hover(lines, this.paneId)}
        @mouseleave=${() => hover([], this.paneId)}>
      <h3>${marked(finding.text)} ${this.place(finding)}</h3>
      ${finding.cause ? html`<p>${marked(finding.cause)}</p>` : nothing}
      ${finding.advice ? html`<p class="finding-advice">${marked(finding.advice)}</p>` : nothing}
      <ul class="finding-facts finding-more">${finding.evidence.map(
        (each) => html`<li>${each.name}: <b>${amount(each.value, each.unit)}</b>, ${each.basis}</li>`,
      )}</ul>
      ${this.changes(finding, before)}
      <p class="finding-facts">${this.operation(finding)} ${cost(finding)}</p>
    </li>`;
  }

  /** The figures that have changed since the compilation before. */
  difference() {
    const { before, result } = store.state;
    const found =
      before && result ? differencesOf(figuresOf(before.document), figuresOf(result.document)) : [];
    if (!before || !result || !found.length) return nothing;
    return html`<p class="finding-facts finding-difference">${differenceWords(found)}<a class="link" href=${comparisonUrl(before.id, result.id)}>Compare</a></p>`;
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
    const tell = (/** @type {Map<string, import("./trials.js").Trial>} */ trials) => {
      this.trials = trials;
      this.requestUpdate();
    };
    await tryAll(result.document, changes, tell, this.trying.signal);
  }

  /**
   * The proposed changes, with the result of their compilation. A change is shown in the first finding that proposes it.
   * @param {Finding} finding @param {Findings["findings"]} before the findings above
   */
  changes(finding, before) {
    if (!finding.changes.length) return nothing;
    const isTried = this.tried === store.state.result?.id;
    const above = new Set(before.flatMap(({ changes }) => changes.map(keyOf)));
    const known = finding.changes.filter((change) => above.has(keyOf(change)));
    const own = finding.changes.filter((change) => !above.has(keyOf(change)));
    const words = (/** @type {Finding["changes"][number]} */ change) =>
      isTried ? `${change.text} (${VERDICTS[this.verdict(finding, change)]})` : change.text;
    if (!isTried)
      return html`<p class="finding-more">Changes to try: ${finding.changes.map(words).join("; ")}</p>`;
    return html`${
      own.length
        ? html`<ul class="finding-trials" aria-label="Changes that were tried">${own.map((change) => this.trial(finding, change))}</ul>`
        : nothing
    }${known.length ? html`<p class="finding-more">Changes above: ${known.map(words).join("; ")}</p>` : nothing}`;
  }

  /** @param {Finding} finding @param {Finding["changes"][number]} change */
  verdict(finding, change) {
    const trial = this.trials.get(keyOf(change));
    return trial ? verdictOf(finding, trial) : "waiting";
  }

  /** @param {Finding} finding @param {Finding["changes"][number]} change */
  trial(finding, change) {
    const cell = this.trials.get(keyOf(change))?.cell;
    const verdict = this.verdict(finding, change);
    const results = verdict === "proven" ? this.trials.get(keyOf(change))?.results?.words : "";
    const id = cell?.state === "complete" ? cell.id : null;
    const { result } = store.state;
    const figures = result && cell?.metrics ? differencesOf(figuresOf(result.document), cell.metrics) : [];
    return html`<li class="is-${verdict}"><b>${marked(change.text)}</b> <span class="finding-more">${VERDICTS[verdict]}${results ? `, ${results}` : ""}</span>
      ${
        verdict === "proven"
          ? html`<button type="button" class="button small" @click=${() => this.apply(change)}>Apply</button>`
          : nothing
      } ${id && result ? html`<a class="link" href=${comparisonUrl(result.id, id)}>Compare</a>` : nothing}
      ${figures.length ? html`<p class="finding-facts">${differenceWords(figures)}</p>` : nothing}</li>`;
  }

  /** Write a change into the source or the launch, and show its compilation. @param {Finding["changes"][number]} change */
  apply(change) {
    const { result } = store.state;
    if (result) choose(applied(draftOf(result.document), change));
  }

  /** A button that pins the source line. @param {Finding} finding */
  place({ source_line: line }) {
    if (!line) return nothing;
    return html`<button type="button" class="link" @click=${() => pin([line], this.paneId)}>${lineText(line)}</button>`;
  }

  /** A button that puts the cursor on the operation. @param {Finding} finding */
  operation({ ttgir_line: line }) {
    if (!line) return nothing;
    return html`<button type="button" class="link" @click=${() => putCursor("ttgir", line, this.paneId)}
      >${stageTitle("ttgir")} ${line}</button>`;
  }
}

/** @param {ReturnType<typeof differencesOf>} figures */
function differenceWords(figures) {
  return figures.map(({ title, before, after }) => html`<span>${title} ${before} → <b>${after}</b></span> `);
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

/** @param {Findings} answer without findings */
function noneWords({ checked: rules }) {
  const possible = rules.filter(({ reason }) => !reason).length;
  return possible === rules.length
    ? "No static problem found."
    : `No static problem found by the ${plural(possible, "check")} that this result allows.`;
}

/** The rules, and whether they were checked. @param {Findings} answer */
function checked({ checked: rules }) {
  const impossible = rules.filter(({ reason }) => reason).length;
  return html`<details class="finding-more"><summary>${rules.length} checks${impossible ? `, ${impossible} of them not possible` : ""}</summary>
    <ul>${rules.map(
      ({ title, findings, reason }) =>
        html`<li>${title}: ${reason ? `not checked. ${reason}` : findings ? `${findings} found` : "nothing found"}</li>`,
    )}</ul>
  </details>`;
}

customElements.define("findings-view", FindingsView);
