/**
 * One run: its head, its diagnostics, a section for each measurement, and its output.
 *
 * @import { Diagnostic, RunDocument, Status } from "../../core/types.js"
 * @import { RunResult } from "../../runs/run_result.js"
 */
import { lineText } from "../../core/line_words.js";
import { repeat } from "lit/directives/repeat.js";
import { duration } from "../../core/format.js";
import { pin } from "../../core/selection.js";
import { store } from "../../core/store.js";
import { html, nothing } from "../../core/template.js";
import { compileAlike } from "../../runs/compile_alike.js";
import { differenceWords, INTERPRETED, runFacts, runMoment, runTitle } from "../../runs/words.js";
import { sectionsOf, WIDE } from "./run_section.js";

const MOST_COMMAND_CHARACTERS = 48;
/** The measurements from which the Roofline pane draws something. */
const OF_ROOFLINE = ["timings", "counters", "counts", "roofs"];
/** @type {Partial<Record<Status, string>>} */
const STATES = { failed: "✗ failed", queued: "waiting", running: "running" };

/** @param {RunResult} run @param {string[]} source the lines of the source that was run @param {string} origin the pane */
export function resultView(run, source, origin) {
  const { document } = run;
  const hasError = document.diagnostics.some(({ severity }) => severity === "error");
  const isStopped = document.status === "failed" && !hasError;
  return html`<article class="run-result" aria-label="Result of the run">
    ${head(run, hasError)}
    <div class="run-messages">
      ${document.diagnostics.map((each) => diagnostic(each, origin))}
      ${
        isStopped
          ? html`<p class="warning">
              The run ended early without an error message: it was canceled or stopped externally. Run it again.
            </p>`
          : nothing
      }
    </div>
    <div class="run-sections">${repeat(
      sectionsOf(run),
      (name) => `${run.id} ${name}`,
      (name) =>
        html`<run-section class=${WIDE.includes(name) ? "run-section is-wide" : "run-section"}
          data-measurement=${name} .name=${name} .run=${run} .source=${source} .origin=${origin}></run-section>`,
    )}</div>
    ${log(document)}
  </article>`;
}

const IMPORTED = "Sent from another machine. This server has not measured it.";

/** The head of a run, with its actions. @param {RunResult} run @param {boolean} hasError */
function head({ document, id, finished }, hasError) {
  const { recorded, imported, run, status } = document;
  const difference = differenceWords(document, store.state.result?.document.triton ?? "");
  // A run that ended may have computed a wrong result.
  const isWrong = status === "complete" && (document.matches === false || hasError);
  const state = status === "complete" ? (isWrong ? "✗ ran, with errors" : "✓ ran") : STATES[status];
  const hasRoofline =
    document.measurements.some(({ name }) => OF_ROOFLINE.includes(name)) &&
    store.state.paneKinds.some(({ name }) => name === "roofline");
  const open = (/** @type {Event} */ { currentTarget }) =>
    currentTarget?.dispatchEvent(new CustomEvent("pane-beside", { bubbles: true, detail: `roofline:${id}` }));
  return html`<header class="run-head">
    <div class="run-head-line">
      <h2 class=${recorded || imported ? "" : "of-arguments"}>${runTitle(document)}${recorded ? ", recorded" : nothing}</h2>
      <span class=${`run-state is-${status}${isWrong ? " is-wrong" : ""}`}>${state}</span>
      <span class="hint">${[
        runFacts(document),
        runMoment(document),
        !recorded && duration(document.milliseconds),
      ]
        .filter(Boolean)
        .join(" · ")}</span>
      ${
        hasRoofline && finished
          ? html`<button type="button" class="button small" @click=${open}>Open in the Roofline pane</button>`
          : nothing
      }
    </div>
    ${recorded ? origin(recorded) : nothing}
    ${imported ? html`<p class="run-label-note">${IMPORTED}</p>` : nothing}
    ${!recorded && run.device === "interpreter" ? html`<p class="run-label-note">${INTERPRETED}</p>` : nothing}
    ${difference ? html`<p class="warning">${difference} ${compileAlike(document)}</p>` : nothing}
  </header>`;
}

/** @param {NonNullable<RunDocument["recorded"]>} recorded */
function origin({ gpu, driver, triton, torch, date, command }) {
  const isLong = command.length > MOST_COMMAND_CHARACTERS;
  const shown = isLong ? `${command.slice(0, MOST_COMMAND_CHARACTERS).trimEnd()} …` : command;
  return html`<p class="run-label-note" title=${command}>
    Recorded on ${gpu}, driver ${driver}, Triton ${triton}, torch ${torch}, ${date.slice(0, 10)}, by ${shown}.
  </p>`;
}

/** @param {Diagnostic} diagnostic @param {string} origin */
function diagnostic({ severity, message, hint, line }, origin) {
  const button = () =>
    html`<button type="button" class="place" @click=${() => pin([line], origin)}>${lineText(line)}</button>`;
  return html`<article class=${`diagnostic is-${severity}`}>
    <header><b>${severity}</b>${line > 0 ? button() : nothing}</header>
    <pre>${message}</pre>
    ${hint ? html`<p class="hint">${hint}</p>` : nothing}
  </article>`;
}

/** @param {RunDocument} document */
function log({ log: entries }) {
  const texts = entries.filter(({ text }) => text.trim());
  if (texts.length === 0) return nothing;
  return html`<details class="run-log">
    <summary>Output</summary>
    ${texts.map(({ source, text }) => html`<div><b>${source}</b><pre tabindex="0">${text.trimEnd()}</pre></div>`)}
  </details>`;
}
