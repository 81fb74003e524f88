/** Asks a worker to lay out graphs; a layout that is not wanted any more is stopped with its worker. */
import { store } from "../store.js";

/** Nobody looks at a page for longer than this. */
const PATIENCE_MS = 60_000;

/** A graph could not be laid out; the message says why, and what to do. */
export class LayoutError extends Error {}

export class GraphLayout {
  /** @type {Worker | null} */
  worker = null;
  /** @type {((error: LayoutError) => void) | null} ends the layout that is under way */
  refuse = null;
  number = 0;

  /** Lay out a graph; ends the layout before, if that is still under way. @param {string} dot @returns {Promise<string>} SVG */
  layOut(dot) {
    this.cancel();
    const address = store.state.workers.graph_layout;
    if (!address) return Promise.reject(new LayoutError("Graphs are not drawn in a file: open the result on its server."));
    this.worker ??= new Worker(address, { type: "module" });
    const { worker } = this;
    this.number += 1;
    const { number } = this;
    return new Promise((resolve, reject) => {
      const patience = setTimeout(() => stop("The layout took more than a minute. Choose a part of the graph, or take the DOT and lay it out elsewhere."), PATIENCE_MS);
      const done = () => {
        clearTimeout(patience);
        this.refuse = null;
        worker.onmessage = worker.onerror = null;
      };
      const stop = (/** @type {string} */ words) => {
        done();
        worker.terminate();
        if (this.worker === worker) this.worker = null;
        reject(new LayoutError(words));
      };
      this.refuse = (error) => stop(error.message);
      worker.onmessage = ({ data }) => {
        if (data.number !== number) return;
        done();
        if (data.svg) resolve(data.svg);
        else reject(new LayoutError(`Graphviz could not lay this out: ${data.problem}`));
      };
      worker.postMessage({ number, dot });
      worker.onerror = (event) => stop(`The layout could not be started: ${event.message || "reload the page"}.`);
    });
  }

  /** Stop the layout that is under way. */
  cancel() {
    this.refuse?.(new LayoutError("The layout was cancelled. Choose a part, or another stage."));
  }

  /** Let the worker go. */
  close() {
    this.cancel();
    this.worker?.terminate();
    this.worker = null;
  }
}
