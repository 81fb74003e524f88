/**
 * One run, complete or in progress. Its document is in memory; its measurements are fetched when they are shown.
 *
 * @import { Measurements, RunDocument } from "../core/types.js"
 */
import { api } from "../core/api.js";
import { isOver } from "../core/status.js";

export class RunResult {
  /** @param {RunDocument} document @param {string} compilation the compilation that shows it */
  constructor(document, compilation) {
    this.document = document;
    this.compilation = compilation;
    /** when this page asked for it; 0: it was there already */
    this.started = 0;
    /** the server has gone while it ran; the browser asks for it again and again */
    this.isAlone = false;
    /** @type {Map<string, Promise<unknown>>} */
    this.measurements = new Map();
  }

  get id() {
    return this.document.id;
  }

  get finished() {
    return isOver(this.document);
  }

  /** @param {keyof Measurements | "samples" | "timeline"} name */
  has(name) {
    return this.document.measurements.some((row) => row.name === name);
  }

  /**
   * A measurement, or null where the run has none (yet).
   * @template {keyof Measurements} Name
   * @param {Name} name
   * @returns {Promise<Measurements[Name] | null>}
   */
  async measurement(name) {
    if (!this.has(name)) return null;
    let asked = this.measurements.get(name);
    if (!asked) {
      asked = name === "files" ? api.runFiles(this.id) : api.measurement(this.id, name);
      // A failed request is repeated.
      asked.catch(() => this.measurements.delete(name));
      this.measurements.set(name, asked);
    }
    return /** @type {Promise<Measurements[Name]>} */ (asked);
  }
}
