/**
 * Searches texts in a worker, one after the other. A search that takes too long is stopped with its worker.
 *
 * @import { Query } from "../text/text_search.js"
 * @import { Found } from "./found_lines.js"
 */

/** A search of one text that takes longer is stopped. The time begins when the worker has the text. */
const LONGEST_MS = 3000;

/** The search of a text took too long. */
export class TooLong extends Error {}

/** The worker failed, or its script could not be loaded. */
export class Failed extends Error {}

/** The search was canceled. */
export class Closed extends Error {}

export class TextWorker {
  /** @type {Worker | null} */
  worker = null;
  /** The texts that the worker has. @type {Set<string>} */
  sent = new Set();
  /** Ends the search that is under way. @type {((error: Error) => void) | null} */
  stop = null;
  /** Counts the cancellations. */
  turn = 0;

  /** @param {() => Promise<string>} address of the script @param {number} [longest_ms] */
  constructor(address, longest_ms = LONGEST_MS) {
    this.address = address;
    this.longest_ms = longest_ms;
  }

  /**
   * Search a text. Call it again after the answer only.
   * @param {string} key of the text
   * @param {() => Promise<string[] | null>} read returns the lines; it is called if the worker does not have them
   * @param {Query} query
   * @param {number} columns the width of the list of lines
   * @returns {Promise<Found | null>} null: the text cannot be read
   */
  async find(key, read, query, columns) {
    const { turn } = this;
    const address = await this.address();
    const worker = (this.worker ??= this.started(address));
    const lines = this.sent.has(key) ? undefined : await read();
    if (lines === null) return null;
    if (turn !== this.turn) throw new Closed();
    if (worker !== this.worker) throw new Failed();
    return new Promise((resolve, reject) => {
      /** @type {ReturnType<typeof setTimeout> | undefined} */
      let timer;
      const done = () => {
        clearTimeout(timer);
        this.stop = null;
      };
      this.stop = (error) => {
        done();
        this.close();
        reject(error);
      };
      worker.onmessage = ({ data }) => {
        if (data === null) {
          timer = setTimeout(() => this.stop?.(new TooLong()), this.longest_ms);
          return;
        }
        done();
        resolve(data);
      };
      worker.postMessage({ key, lines, query, columns });
      this.sent.add(key);
    });
  }

  /** @param {string} address */
  started(address) {
    const worker = new Worker(address);
    worker.onerror = () => {
      if (worker !== this.worker) return;
      this.close();
      this.stop?.(new Failed());
    };
    return worker;
  }

  /** Cancel the search that is under way. */
  cancel() {
    this.turn += 1;
    this.stop?.(new Closed());
  }

  /** Terminate the worker. The next search starts a worker again. */
  close() {
    this.worker?.terminate();
    this.worker = null;
    this.sent.clear();
  }
}
