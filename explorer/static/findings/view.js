/**
 * `<findings-view>`: what costs speed in the kernel, with its evidence, its cause and advice.
 *
 * @import { Result } from "../core/result.js"
 * @import { Change, Finding } from "./trials.js"
 * @import { Findings } from "./work.js"
 */
import { grouped, plural } from "../core/format.js";
import { lineText } from "../core/line_words.js";
import { Loaded, Pane } from "../core/pane.js";
import { canCompile } from "../core/host.js";
import { choose } from "../launch/edit.js";
import { draftOf } from "../launch/draft.js";
import { comparisonUrl } from "../compare/address.js";
import { differencesOf, figuresOf } from "./differences.js";
import { differenceWords, improvement } from "./improvement.js";
import { applied, keyOf, proposalsOf, tryAll } from "./trials.js";
import { SECONDS, Work, settled } from "./work.js";
import { hover, pin, putCursor } from "../core/selection.js";
import { stageTitle } from "../core/stages.js";
import { store } from "../core/store.js";
import { html, nothing, prose } from "../core/template.js";
import { marked } from "../glossary/marks.js";

const WAITING = "The findings are being computed.";

class FindingsView extends Pane {
  static properties = { paneId: {} };
  static slices = /** @type {(typeof Pane)["slices"]} */ (["result", "settled"]);
  /** The pane around it, which lights lines. */
  paneId = "";
  work = new Work(() => this.requestUpdate());
  answer = new Loaded(
    this,
    () => {
      const result = settled();
      return result && [result];
    },
    (result) => this.work.load(result),
  );

  /** @override */
  disconnectedCallback() {
    super.disconnectedCallback();
    // The work goes on while a different tab covers the pane.
    if (!this.closest("pane-findings")?.parentElement) this.work.end();
  }

  /** @override */
  render() {
    return this.answer.render({
      empty: WAITING,
      waiting: WAITING,
      ready: (answer) => html`<div class="findings">
        ${this.difference(answer.of)} ${this.buttons(answer)} ${this.improvement(answer)}
        ${
          answer.findings.length
            ? html`<ol>${answer.findings.map((each, index) => this.finding(each, answer.findings.slice(0, index), answer.of))}</ol>`
            : html`<p class="findings-none"><strong>${noneWords(answer)}</strong></p>`
        }
        ${checked(answer)}
      </div>`,
    });
  }

  /** @param {Finding} finding @param {Finding[]} before @param {Result} of */
  finding(finding, before, of) {
    const lines = finding.source_line ? [finding.source_line] : [];
    return html`<li class="finding is-${finding.severity}" @mouseenter=${() => hover(lines, this.paneId)}
        @mouseleave=${() => hover([], this.paneId)}>
      <h3>${marked(finding.text)} ${this.place(finding)}</h3>
      ${finding.cause ? html`<p>${marked(finding.cause)}</p>` : nothing}
      ${finding.advice ? html`<p class="finding-advice">${marked(finding.advice)}</p>` : nothing}
      <ul class="finding-facts finding-more">${finding.evidence.map(
        (each) => html`<li>${each.name}: <b>${amount(each.value, each.unit)}</b>, ${each.basis}</li>`,
      )}</ul>
      ${this.changes(finding, before, of)}
      <p class="finding-facts">${this.operation(finding)} ${cost(finding)}</p>
    </li>`;
  }

  /** The figures that have changed since the compilation before. @param {Result} of */
  difference(of) {
    const { before } = store.state;
    const found = before ? differencesOf(figuresOf(before.document), figuresOf(of.document)) : [];
    if (!before || !found.length) return nothing;
    return html`<p class="finding-facts finding-difference">${differenceWords(found)}<a class="link" href=${comparisonUrl(before.id, of.id)}>Compare</a></p>`;
  }

  /** Buttons that compile the proposed changes: all of them, or the proven ones one after another. @param {Findings} answer */
  buttons(answer) {
    const { work } = this;
    const { of, findings } = answer;
    const { length } = proposalsOf(findings);
    if (!canCompile || !length || of !== store.state.result) return nothing;
    const isTrying = work.following === tryAll;
    const isSearching = work.searchOf(of)?.isOver === false;
    const isTried = work.isComplete(answer);
    const all = length > 1 ? `Try all ${length} changes` : "Try the change";
    return html`<p class="finding-buttons">${workButton({
      words: isTried ? "Tried" : all,
      isDisabled: isTried || isSearching,
      start: () => this.work.tryWith(tryAll, answer),
      stop: isTrying ? work.trying : null,
    })}
      ${workButton({
        words: "Improve",
        title: `Take the proven changes one after another, for at most ${SECONDS} seconds`,
        isDisabled: isTrying,
        start: () => this.work.improve(of),
        stop: isSearching ? work.searching : null,
      })}</p>`;
  }

  /** The search of the shown result. @param {Findings} answer */
  improvement({ checked, of }) {
    const search = this.work.searchOf(of);
    if (!search) return nothing;
    const titles = new Map(checked.map(({ rule, title }) => [rule, title]));
    const taken = search.taken.map(({ change }) => change);
    return improvement(search, titles, of === store.state.result ? () => apply(of, taken) : null);
  }

  /**
   * The proposed changes, with the result of their compilation. A change is shown in the first finding that proposes it.
   * @param {Finding} finding @param {Finding[]} before the findings above @param {Result} of
   */
  changes(finding, before, of) {
    const index = before.length;
    if (!finding.changes.length) return nothing;
    const above = new Set(before.flatMap(({ changes }) => changes.map(keyOf)));
    const known = finding.changes.filter((change) => above.has(keyOf(change)));
    const own = finding.changes.filter((change) => !above.has(keyOf(change)));
    const isTried = this.work.isTried(of);
    const listed = (/** @type {Change[]} */ changes) =>
      changes.map((change, at) => {
        const verdict = isTried ? ` (${this.work.verdict(of, index, change).words})` : "";
        return html`${at ? "; " : ""}${prose(change.text + verdict)}`;
      });
    if (!isTried) return html`<p class="finding-more">Changes to try: ${listed(finding.changes)}</p>`;
    // Rows do not move while changes are tried.
    if (!this.work.following)
      own.sort((one, other) => this.rank(of, index, one) - this.rank(of, index, other));
    return html`${
      own.length
        ? html`<ul class="finding-trials" aria-label="Changes that were tried">${own.map((change) => this.trial(index, change, of))}</ul>`
        : nothing
    }${known.length ? html`<p class="finding-more">Changes above: ${listed(known)}</p>` : nothing}`;
  }

  /** Proven changes come first. @param {Result} of @param {number} index of the finding @param {Change} change */
  rank(of, index, change) {
    return this.work.verdict(of, index, change).kind === "proven" ? 0 : 1;
  }

  /** @param {number} index of the finding @param {Change} change @param {Result} of */
  trial(index, change, of) {
    const { cell } = this.work.trial(of, change);
    const { kind, words, details } = this.work.verdict(of, index, change);
    const id = cell?.state === "complete" ? cell.id : null;
    const figures = cell?.metrics ? differencesOf(figuresOf(of.document), cell.metrics) : [];
    return html`<li class="is-${kind}"><b>${marked(change.text)}</b> <span class="finding-more" title=${details || nothing}>${marked(words)}</span>
      ${
        kind === "proven" && of === store.state.result
          ? html`<button type="button" class="button small" @click=${() => apply(of, [change])}>Apply</button>`
          : nothing
      } ${id ? html`<a class="link" href=${comparisonUrl(of.id, id)}>Compare</a>` : nothing}
      ${figures.length ? html`<p class="finding-facts">${differenceWords(figures)}</p>` : nothing}</li>`;
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

/** Write changes into the source or the launch of a result, and show their compilation. @param {Result} of @param {Change[]} changes */
function apply({ document }, changes) {
  choose(applied(draftOf(document), changes));
}

/**
 * A button that starts work, or stops it while it is under way. It stays the same element, so that it keeps the focus.
 * @param {{words: string, title?: string, isDisabled: boolean, start: () => void, stop: AbortController | null}} state
 */
function workButton({ words, title = "", isDisabled, start, stop }) {
  const act = stop ? () => stop.abort() : isDisabled ? null : start;
  return html`<button type="button" class="button small" title=${stop ? "" : title} aria-disabled=${!act}
    @click=${act}>${stop ? "Stop" : words}</button>`;
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
