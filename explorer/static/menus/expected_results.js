/** The submitted results that are not in the history yet. The history is loaded when one of them has arrived. */
import { loadLater } from "../core/modules.js";
import { keep, kept } from "../core/storage.js";
import { store } from "../core/store.js";

const STORAGE_KEY = "history-expected";
const MOST_RESULTS = 20;

/** Add this result to the history when it has arrived, on any page. @param {string} id */
export function expectOwn(id) {
  keep(STORAGE_KEY, [id, ...expected().filter((other) => other !== id)].slice(0, MOST_RESULTS).join(" "));
}

function expected() {
  return (kept(STORAGE_KEY) ?? "").split(" ").filter(Boolean);
}

/** Whether a result belongs into the history and is not there yet. @param {string} id */
export function isExpected(id) {
  return expected().includes(id);
}

/** A result is in the history. @param {string} id */
export function received(id) {
  const others = expected().filter((each) => each !== id);
  keep(STORAGE_KEY, others.join(" ") || null);
}

/** Put every submitted result into the history as soon as it has arrived. */
export function startHistory() {
  store.watch(["result", "failure"], () => {
    const latest = store.state.failure ?? store.state.result;
    if (!latest?.finished || !(latest.isLive || isExpected(latest.id))) return;
    void loadLater(
      () => import("./history.js"),
      ({ record }) => record(latest.document, latest.isLive),
    );
  });
}
