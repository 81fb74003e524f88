/** Live compilation: whether it is switched on, and for how long nothing must be typed before it. */
import { keep, kept } from "../core/storage.js";
import { store } from "../core/store.js";

const KEY = "live";
/** As long as between the keys of somebody who types slowly. */
const LEAST_PAUSE_MS = 160;
/** A source that took longer than this to compile waits as long as it took. */
const SLOW_MS = 1000;
const LONGEST_PAUSE_MS = 5000;

/** How long the last compilation of each kernel took that ended on this page. @type {Map<string, number>} */
const lastMilliseconds = new Map();

export function startLive() {
  store.update({ live: kept(KEY) !== "off" });
  store.watch(["result", "liveFailure"], () => {
    for (const result of [store.state.result, store.state.liveFailure]) {
      if (!result?.finished) continue;
      const { kernel, milliseconds } = result.document;
      lastMilliseconds.set(kernel ?? "", milliseconds ?? 0);
    }
  });
}

/** @param {boolean} live */
export function keepLive(live) {
  keep(KEY, live ? null : "off");
  store.update({ live });
}

/** The pause in typing before the draft is compiled, in milliseconds. */
export function pauseBefore() {
  return pauseAfter(lastMilliseconds.get(store.state.result?.document.kernel ?? "") ?? 0);
}

/** @param {number} milliseconds that the last compilation took */
export function pauseAfter(milliseconds) {
  return milliseconds > SLOW_MS ? Math.min(milliseconds, LONGEST_PAUSE_MS) : LEAST_PAUSE_MS;
}
