/**
 * LLVM's own passes over a result: a job that is started when somebody wants to see them.
 *
 * @import { CompilationDocument } from "../types.js"
 */
import { ApiError, api } from "../api.js";

/** What is known of the job; `count` passes have been told so far. @typedef {{state: "idle" | "running" | "done" | "failed", count: number, document: CompilationDocument | null, words: string}} Progress */

export class LlvmPasses {
  /** @param {string} id of the result @param {() => void} changed called whenever `progress` has changed */
  constructor(id, changed) {
    this.id = id;
    this.changed = changed;
    /** @type {Progress} */
    this.progress = { state: "idle", count: 0, document: null, words: "" };
    /** @type {EventSource | null} */
    this.source = null;
    this.job = "";
  }

  /** Start the job, or take part in it; what is stored is there at once. */
  async start() {
    if (this.progress.state === "running" || this.progress.state === "done") return;
    this.set({ state: "running", count: 0, document: null, words: "" });
    try {
      const ticket = await api.llvmPasses(this.id);
      this.job = ticket.id;
      if (ticket.status === "complete" || ticket.status === "failed") await this.finish();
      else this.follow();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.set({ ...this.progress, state: "failed", words: `${error.problem.title}. ${error.problem.detail}` });
    }
  }

  follow() {
    this.source = new EventSource(api.url(this.job, "events"));
    this.source.addEventListener("pass", () => this.set({ ...this.progress, count: this.progress.count + 1 }));
    this.source.addEventListener("done", () => {
      this.source?.close();
      void this.finish();
    });
  }

  async finish() {
    const document = await api.compilation(this.job);
    const error = document.diagnostics.find(({ severity }) => severity === "error");
    if (document.status === "complete") this.set({ state: "done", count: document.passes.length, document, words: "" });
    else this.set({ ...this.progress, state: "failed", words: error ? [error.message, error.hint].filter(Boolean).join(" ") : "It stopped." });
  }

  cancel() {
    void api.cancel(this.job).catch(() => undefined);
  }

  /** @param {Progress} progress */
  set(progress) {
    this.progress = progress;
    this.changed();
  }
}
