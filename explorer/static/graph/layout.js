/** Asks a worker to lay out graphs; a layout that is not wanted any more is stopped with its worker. */
import { api } from "../api.js";
import { isFile } from "../host.js";
import { store } from "../store.js";

/** Nobody looks at a page for longer than this. */
const PATIENCE_MS = 60_000;

/** @type {Promise<string> | null} where the script is that a file has brought along */
let unpacked = null;

/** The address of the worker's script. @returns {Promise<string>} */
async function scriptAddress() {
  const address = store.state.workers.graph_layout ?? "";
  if (!isFile) return address;
  unpacked ??= api.script(address).then((script) => URL.createObjectURL(script));
  unpacked.catch(() => (unpacked = null));
  return unpacked;
}

/** A graph could not be laid out; the message says why, and what to do. */
export class LayoutError extends Error {}

export class LayoutCancelled extends LayoutError {
  constructor() {
    super("The layout was cancelled. Choose a part, or another stage.");
  }
}

export class GraphLayout {
  /** @type {Worker | null} */
  worker = null;
  /** @type {((error: LayoutError) => void) | null} ends the layout that is under way */
  refuse = null;
  number = 0;

  /** Lay out a graph; ends the layout before, if that is still under way. @param {string} dot @returns {Promise<string>} SVG */
  async layOut(dot) {
    this.cancel();
    const { number } = this;
    const address = await scriptAddress();
    if (number !== this.number) throw new LayoutCancelled();
    const worker = (this.worker ??= new Worker(address));
    return new Promise((resolve, reject) => {
      const patience = setTimeout(() => stop(new LayoutError("The layout took more than a minute. Choose a part of the graph, or take the DOT and lay it out elsewhere.")), PATIENCE_MS);
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
        else reject(new LayoutError(`Graphviz could not lay this out: ${data.problem}. Choose a part of the graph, or take the DOT and lay it out elsewhere.`));
      };
      worker.postMessage({ number, dot });
      worker.onerror = (event) => stop(new LayoutError(`The layout could not be started: ${event.message || "reload the page"}.`));
    });
  }

  /** Stop the layout that is under way. */
  cancel() {
    this.number += 1;
    this.refuse?.(new LayoutCancelled());
  }

  /** Let the worker go. */
  close() {
    this.cancel();
    this.worker?.terminate();
    this.worker = null;
  }
}
