/**
 * How far a run is: its turn in the queue, what it does, since when, and a way to stop it.
 *
 * @import { RunResult } from "./run_result.js"
 */
import { NO_ANSWER } from "../api.js";
import { make, setText } from "../dom.js";
import { canCompile } from "../host.js";
import { cancelRun } from "./runner.js";
import { elapsed, runTitle, stateWords } from "./words.js";

const TICK_MS = 1000;

export class RunProgress {
  constructor() {
    this.words = make("span", { role: "status", class: "run-progress-words" });
    this.bar = make("progress", { "aria-label": "How far the run is" });
    this.time = make("span", { class: "run-elapsed" });
    this.cancel = make("button", { type: "button", class: "button small", onclick: () => this.stop() }, "Cancel");
    this.element = make("div", { class: "run-progress", hidden: true }, this.bar, this.words, this.time, this.cancel);
    /** @type {RunResult | null} */
    this.result = null;
    this.timer = 0;
  }

  /** @param {RunResult | null} result @param {boolean} isStarting it is being asked for */
  draw(result, isStarting) {
    this.result = result;
    this.element.hidden = !result && !isStarting;
    clearInterval(this.timer);
    if (this.element.hidden) return;
    this.cancel.hidden = !result || !canCompile;
    const progress = result?.document.progress;
    if (progress && progress.total > 0 && result.document.status === "running") {
      this.bar.max = progress.total;
      this.bar.value = progress.done;
    } else {
      this.bar.removeAttribute("value");
    }
    const words = result ? `${runTitle(result.document)}: ${result.isAlone ? NO_ANSWER : stateWords(result.document)}` : "Sending";
    setText(this.words, words);
    this.tick();
    this.timer = window.setInterval(() => this.tick(), TICK_MS);
  }

  tick() {
    if (!this.element.isConnected) return clearInterval(this.timer);
    const started = this.result?.started || Date.parse(this.result?.document.created ?? "");
    setText(this.time, Number.isFinite(started) ? elapsed(Date.now() - started) : "");
    return undefined;
  }

  stop() {
    if (!this.result) return;
    this.cancel.disabled = true;
    void cancelRun(this.result).finally(() => (this.cancel.disabled = false));
  }
}
