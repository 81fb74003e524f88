/**
 * `<run-progress>`: the progress of a run: its place in the queue, its current step with the time, and a button to
 * cancel.
 *
 * @import { PropertyDeclarations } from "lit"
 * @import { RunResult } from "./run_result.js"
 */
import { LitElement } from "lit";
import { NO_ANSWER } from "../core/api.js";
import { canCompile } from "../core/host.js";
import { html, nothing } from "../core/template.js";
import { cancelRun } from "./runner.js";
import { elapsed, runTitle, stateWords } from "./words.js";

const TICK_MS = 1000;

class RunProgress extends LitElement {
  /** @type {PropertyDeclarations} */
  static properties = {
    // A run that is followed changes in place.
    run: { attribute: false, hasChanged: () => true },
    isStarting: { attribute: false },
    isStopping: { state: true },
  };

  constructor() {
    super();
    /** @type {RunResult | null} */
    this.run = null;
    /** The server has not answered yet. */
    this.isStarting = false;
    this.isStopping = false;
    this.timer = 0;
  }

  /** @override */
  createRenderRoot() {
    return this;
  }

  /** @override */
  connectedCallback() {
    super.connectedCallback();
    this.timer = window.setInterval(() => (this.run || this.isStarting) && this.requestUpdate(), TICK_MS);
  }

  /** @override */
  disconnectedCallback() {
    super.disconnectedCallback();
    clearInterval(this.timer);
  }

  /** @override */
  render() {
    const { run } = this;
    if (!run && !this.isStarting) return nothing;
    const progress = run?.document.status === "running" ? run.document.progress : null;
    const bar =
      progress && progress.total > 0
        ? html`<progress aria-label="Progress of the run" max=${progress.total} value=${progress.done}></progress>`
        : html`<progress aria-label="Progress of the run"></progress>`;
    const started = run?.started || Date.parse(run?.document.created ?? "");
    const words = run
      ? `${runTitle(run.document)}: ${run.isAlone ? NO_ANSWER : stateWords(run.document)}`
      : "Sending";
    return html`<div class="run-progress">
      ${bar}
      <span role="status" class="run-progress-words">${words}</span>
      <span class="run-elapsed">${Number.isFinite(started) ? elapsed(Date.now() - started) : nothing}</span>
      ${
        run && canCompile
          ? html`<button type="button" class="button small" ?disabled=${this.isStopping}
              @click=${() => this.stop(run)}>Cancel</button>`
          : nothing
      }
    </div>`;
  }

  /** @param {RunResult} run */
  async stop(run) {
    this.isStopping = true;
    await cancelRun(run);
    this.isStopping = false;
  }
}

customElements.define("run-progress", RunProgress);
