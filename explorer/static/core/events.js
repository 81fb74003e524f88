/**
 * Follow a compilation or a run by its event stream. If the server refuses or ends the stream, poll the document.
 */
import { ApiError, pause } from "./api.js";

/** Interval at which to poll changes that no event reports. */
export const POLL_MS = 1500;

/**
 * @typedef {object} Followed
 * @property {Record<string, (data: any) => void>} on the handler for the data of each kind of event
 * @property {() => Promise<boolean>} readDocument read the document and apply it; return whether it is finished
 * @property {(isAlone: boolean) => void} [alone] called with whether the connection is lost
 * @property {AbortSignal} [signal] stops following
 */

/**
 * Follow events until the one called `done`.
 * @param {string} address the address of the event stream
 * @param {Followed} followed
 */
export async function follow(address, followed) {
  const { readDocument, alone, signal } = followed;
  if (await listen(address, followed)) return;
  while (!signal?.aborted) {
    try {
      if (await readDocument()) return;
      alone?.(false);
    } catch (error) {
      if (!isPassing(error)) throw error;
      alone?.(true);
    }
    await pause(POLL_MS);
  }
}

/**
 * Apply the events of a stream. Return true after the last event, and false if the server refused the stream.
 * @param {string} address @param {Followed} followed
 * @returns {Promise<boolean>}
 */
function listen(address, { on, alone, signal }) {
  return new Promise((resolve) => {
    const stream = new EventSource(address);
    /** @param {boolean} isOver */
    const close = (isOver) => {
      stream.close();
      resolve(isOver);
    };
    signal?.addEventListener("abort", () => close(true));
    for (const [kind, handle] of Object.entries(on))
      stream.addEventListener(kind, (event) => {
        if (!signal?.aborted) handle(JSON.parse(event.data));
      });
    stream.addEventListener("done", () => close(true));
    stream.addEventListener("open", () => alone?.(false));
    stream.addEventListener("error", () => {
      if (signal?.aborted) return;
      // The browser reconnects unless the server has refused the connection. A refusal also means that no event is
      // left.
      if (stream.readyState === EventSource.CLOSED) close(false);
      else alone?.(true);
    });
  });
}

/** Whether the server may answer later. @param {unknown} error */
function isPassing(error) {
  return error instanceof ApiError && (error.status === 0 || error.status === 429 || error.status >= 500);
}
