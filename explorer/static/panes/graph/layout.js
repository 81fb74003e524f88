/** Asks a worker to lay out graphs. To cancel a layout terminates the worker. */
import { workerAddress } from "../../core/worker_script.js";

/** A layout that takes longer is stopped. */
const LONGEST_MS = 60_000;

/** A graph could not be laid out; the message says why, and what to do. */
export class LayoutError extends Error {}

export class LayoutCanceled extends LayoutError {
  constructor() {
    super("The layout was canceled. Choose a part of the graph, or another stage.");
  }
}

export class GraphLayout {
  /** @type {Worker | null} */
  worker = null;
  /** Ends the layout that has not ended. @type {((error: LayoutError) => void) | null} */
  refuse = null;
  number = 0;

  /**
   * Lay out a graph. An earlier layout that has not ended is canceled.
   * @param {string} dot
   * @returns {Promise<string>} SVG
   */
  async layOut(dot) {
    this.cancel();
    const { number } = this;
    const address = await workerAddress("graph_layout");
    if (number !== this.number) throw new LayoutCanceled();
    const worker = (this.worker ??= new Worker(address));
    return new Promise((resolve, reject) => {
      const patience = setTimeout(
        () =>
          stop(
            new LayoutError(
              "The layout took more than a minute. Choose a part of the graph, or download the graph as DOT and lay it out with Graphviz.",
            ),
          ),
        LONGEST_MS,
      );
      const done = () => {
        clearTimeout(patience);
        this.refuse = null;
        worker.onmessage = worker.onerror = null;
      };
      const stop = (/** @type {LayoutError} */ error) => {
        done();
        worker.terminate();
        if (this.worker === worker) this.worker = null;
        reject(error);
      };
      this.refuse = stop;
      worker.onmessage = ({ data }) => {
        if (data.number !== number) return;
        done();
        if (data.svg) resolve(data.svg);
        else
          reject(
            new LayoutError(
              `Graphviz could not lay out the graph: ${data.problem}. Choose a part of the graph.`,
            ),
          );
      };
      worker.postMessage({ number, dot });
      worker.onerror = (event) =>
        stop(
          new LayoutError(`The worker that lays out graphs failed: ${event.message || "reload the page"}.`),
        );
    });
  }

  /** Cancel the layout that has not ended. */
  cancel() {
    this.number += 1;
    this.refuse?.(new LayoutCanceled());
  }

  /** Cancel, and terminate the worker. */
  close() {
    this.cancel();
    this.worker?.terminate();
    this.worker = null;
  }
}
