/**
 * Follow a compilation or a run by its event stream. If the server refuses or ends the stream, poll the document.
 *
 * All tabs of a browser share the few connections to a server. So a hidden tab holds no stream: it polls whether the
 * job has ended, and goes on after the last event when it is seen again.
 */
import { ApiError, api, pause } from "./api.js";
import { isOver } from "./status.js";

/** Interval at which to poll changes that no event reports. */
export const POLL_MS = 1500;
/** Interval at which a hidden tab polls. */
const HIDDEN_POLL_MS = 5000;

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
  /** @type {Heard} */
  let heard = { last: "", end: "hidden" };
  while (heard.end === "hidden")
    heard = (await endsUnseen(address, signal))
      ? { ...heard, end: "refused" }
      : await listen(address, heard.last, followed);
  if (heard.end === "over") return;
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
 * Wait until the tab is seen. Return whether the job has ended meanwhile.
 * @param {string} address @param {AbortSignal} [signal]
 */
async function endsUnseen(address, signal) {
  while (document.hidden && !signal?.aborted) {
    const job = await api.followed(address).catch(() => null);
    if (job && isOver(job)) return true;
    await Promise.race([
      pause(HIDDEN_POLL_MS),
      new Promise((seen) => document.addEventListener("visibilitychange", seen, { once: true })),
    ]);
  }
  return false;
}

/**
 * @typedef {object} Heard
 * @property {string} last the ID of the last event
 * @property {"over" | "refused" | "hidden"} end why the stream was closed
 */

/**
 * Apply the events of a stream, until the last event or until the tab is hidden.
 * @param {string} address @param {string} last the ID of the last event that was applied @param {Followed} followed
 * @returns {Promise<Heard>}
 */
function listen(address, last, { on, alone, signal }) {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve({ last, end: "over" });
    const stream = new EventSource(last ? `${address}&last=${last}` : address);
    const hide = () => document.hidden && close("hidden");
    /** @param {Heard["end"]} end */
    const close = (end) => {
      stream.close();
      document.removeEventListener("visibilitychange", hide);
      resolve({ last, end });
    };
    document.addEventListener("visibilitychange", hide);
    signal?.addEventListener("abort", () => close("over"));
    for (const [kind, handle] of Object.entries(on))
      stream.addEventListener(kind, (event) => {
        if (signal?.aborted) return;
        last = event.lastEventId;
        handle(JSON.parse(event.data));
      });
    stream.addEventListener("done", () => close("over"));
    stream.addEventListener("open", () => alone?.(false));
    stream.addEventListener("error", () => {
      if (signal?.aborted) return;
      // The browser reconnects unless the server has refused the connection. A refusal also means that no event is
      // left.
      if (stream.readyState === EventSource.CLOSED) close("refused");
      else alone?.(true);
    });
  });
}

/** Whether the server may answer later. @param {unknown} error */
function isPassing(error) {
  return error instanceof ApiError && (error.status === 0 || error.status === 429 || error.status >= 500);
}
