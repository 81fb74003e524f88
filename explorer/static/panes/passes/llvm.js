/**
 * LLVM's own passes over a result: a job that is started when they are first shown.
 *
 * @import { CompilationDocument } from "../../core/types.js"
 */
import { ApiError, api } from "../../core/api.js";
import { follow } from "../../core/events.js";
import { isOver } from "../../core/status.js";

/**
 * @typedef {object} Progress of the job
 * @property {"idle" | "running" | "done" | "failed"} state
 * @property {number} count passes that have arrived
 * @property {CompilationDocument | null} document of the finished job
 * @property {string} words why it failed
 */

export class LlvmPasses {
  /** @param {string} id of the result @param {() => void} changed called whenever `progress` has changed */
  constructor(id, changed) {
    this.id = id;
    this.changed = changed;
    /** @type {Progress} */
    this.progress = { state: "idle", count: 0, document: null, words: "" };
    this.job = "";
  }

  /** Start the job or join it. A stored result arrives at once. A failed job is started again. */
  async start() {
    if (this.progress.state === "running" || this.progress.state === "done") return;
    this.set({ state: "running", count: 0, document: null, words: "" });
    try {
      const ticket = await api.llvmPasses(this.id);
      this.job = ticket.id;
      if (!isOver(ticket))
        await follow(api.events(this.job), {
          on: { pass: () => this.set({ ...this.progress, count: this.progress.count + 1 }) },
          readDocument: async () => {
            const { passes, status } = await api.compilation(this.job);
            this.set({ ...this.progress, count: passes.length });
            return isOver({ status });
          },
        });
      await this.finish();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.set({
        ...this.progress,
        state: "failed",
        words: `${error.problem.title}. ${error.problem.detail}`,
      });
    }
  }

  async finish() {
    const document = await api.compilation(this.job);
    const error = document.diagnostics.find(({ severity }) => severity === "error");
    if (document.status === "complete")
      this.set({ state: "done", count: document.passes.length, document, words: "" });
    else
      this.set({
        ...this.progress,
        state: "failed",
        words: error ? [error.message, error.hint].filter(Boolean).join(" ") : "The job was canceled.",
      });
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
