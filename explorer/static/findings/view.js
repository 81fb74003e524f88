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
import { SECONDS, improve } from "./improve.js";
import { differenceWords, improvement } from "./improvement.js";
import { applied, findTrials, keyOf, proposalsOf, tryAll, verdictOf } from "./trials.js";
import { hover, pin, putCursor } from "../core/selection.js";
import { stageTitle } from "../core/stages.js";
import { store } from "../core/store.js";
import { html, nothing } from "../core/template.js";
import { marked } from "../glossary/marks.js";

/** @typedef {AnalysisAnswer<"findings">} Findings */
/** @typedef {Findings["findings"][number]} Finding */

const WAITING = "The findings are being computed.";

class FindingsView extends Pane {
  static properties = { paneId: {} };
  static slices = /** @type {(typeof Pane)["slices"]} */ (["result", "settled"]);
  /** The pane around it, which lights lines. */
  paneId = "";
  /** The trials of the result `tried`, by the keys of their changes. @type {import("./trials.js").Trials} */
  trials = new Map();
  tried = "";
  trying = new AbortController();
  /** @type {import("./improve.js").Search | null} */
  search = null;
  searching = new AbortController();
  answer = new Loaded(
    this,
    () => (store.state.settled ? [store.state.settled.id] : null),
    async (id) => {
      const answer = await api.analysis(id, "findings");
      void this.tryWith(findTrials, answer);
      return answer;
    },
  );

  /** @override */
  render() {
    return this.answer.render({
      empty: WAITING,
      waiting: WAITING,
      ready: (answer) => html`<div class="findings">
        ${this.difference()} ${this.buttons(answer)} ${this.improvement(answer)}
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

  /** Buttons that compile the proposed changes: all of them, or the proven ones one after another. @param {Findings} answer */
  buttons(answer) {
    const { length } = proposalsOf(answer.findings);
    if (!canCompile || !length) return nothing;
    const isLeft = [...this.trials.values()].some(({ cell }) => cell?.state === "missing");
    const isTried = this.isTried && !isLeft;
    const isSearching = this.isSearched && !this.search?.isOver;
    return html`<p class="finding-buttons"><button type="button" class="button small" ?disabled=${isTried}
        @click=${() => this.tryWith(tryAll, answer)}>${isTried ? "Tried" : length > 1 ? `Try all ${length} changes` : "Try the change"}</button>
      ${
        isSearching
          ? html`<button type="button" class="button small" @click=${() => this.searching.abort()}>Stop</button>`
          : html`<button type="button" class="button small" title=${`Take the proven changes one after another, for at most ${SECONDS} seconds`}
              @click=${() => this.improve()}>Improve</button>`
      }</p>`;
  }

  get isTried() {
    return this.tried === store.state.result?.id;
  }

  get isSearched() {
    return this.search?.first.id === store.state.result?.id;
  }

  /** Try all changes, or show earlier trials. @param {typeof tryAll | typeof findTrials} start @param {Findings} answer */
  async tryWith(start, { findings }) {
    const { result } = store.state;
    const proposals = proposalsOf(findings);
    if (!result || !canCompile || !proposals.length) return;
    this.trying.abort();
    this.trying = new AbortController();
    const tell = (/** @type {import("./trials.js").Trials} */ trials) => {
      this.tried = result.id;
      this.trials = trials;
      this.requestUpdate();
    };
    await start(result.document, proposals, tell, this.trying.signal);
  }

  async improve() {
    const { result } = store.state;
    if (!result) return;
    this.searching.abort();
    this.searching = new AbortController();
    const { signal } = this.searching;
    const tell = (/** @type {import("./improve.js").Search} */ search) => {
      // Another kernel is shown, or another search has begun.
      if (store.state.result?.id !== result.id) this.searching.abort();
      if (signal === this.searching.signal) this.search = search;
      this.requestUpdate();
    };
    await improve(result.document, tell, AbortSignal.any([signal, AbortSignal.timeout(1000 * SECONDS)]));
  }

  /** The search of the shown result. @param {Findings} answer */
  improvement({ checked }) {
    const { search } = this;
    if (!search || !this.isSearched) return nothing;
    const titles = new Map(checked.map(({ rule, title }) => [rule, title]));
    const taken = search.taken.map(({ change }) => change);
    return improvement(search, titles, () => this.apply(taken));
  }

  /**
   * The proposed changes, with the result of their compilation. A change is shown in the first finding that proposes it.
   * @param {Finding} finding @param {Findings["findings"]} before the findings above
   */
  changes(finding, before) {
    const index = before.length;
    if (!finding.changes.length) return nothing;
    const above = new Set(before.flatMap(({ changes }) => changes.map(keyOf)));
    const known = finding.changes.filter((change) => above.has(keyOf(change)));
    const own = finding.changes.filter((change) => !above.has(keyOf(change)));
    const words = (/** @type {Finding["changes"][number]} */ change) =>
      this.isTried ? `${change.text} (${this.verdict(index, change).words})` : change.text;
    if (!this.isTried)
      return html`<p class="finding-more">Changes to try: ${finding.changes.map(words).join("; ")}</p>`;
    return html`${
      own.length
        ? html`<ul class="finding-trials" aria-label="Changes that were tried">${own.map((change) => this.trial(index, change))}</ul>`
        : nothing
    }${known.length ? html`<p class="finding-more">Changes above: ${known.map(words).join("; ")}</p>` : nothing}`;
  }

  /** @param {number} index of the finding @param {Finding["changes"][number]} change */
  verdict(index, change) {
    const trial = this.trials.get(keyOf(change));
    return verdictOf(trial ?? { verdicts: null }, index);
  }

  /** @param {number} index of the finding @param {Finding["changes"][number]} change */
  trial(index, change) {
    const cell = this.trials.get(keyOf(change))?.cell;
    const { kind, words } = this.verdict(index, change);
    const id = cell?.state === "complete" ? cell.id : null;
    const { result } = store.state;
    const figures = result && cell?.metrics ? differencesOf(figuresOf(result.document), cell.metrics) : [];
    return html`<li class="is-${kind}"><b>${marked(change.text)}</b> <span class="finding-more">${words}</span>
      ${
        kind === "proven"
          ? html`<button type="button" class="button small" @click=${() => this.apply([change])}>Apply</button>`
          : nothing
      } ${id && result ? html`<a class="link" href=${comparisonUrl(result.id, id)}>Compare</a>` : nothing}
      ${figures.length ? html`<p class="finding-facts">${differenceWords(figures)}</p>` : nothing}</li>`;
  }

  /** Write changes into the source or the launch, and show their compilation. @param {Finding["changes"]} changes */
  apply(changes) {
    const { result } = store.state;
    if (result) choose(applied(draftOf(result.document), changes));
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
