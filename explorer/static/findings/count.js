/** The number of findings of the shown result, for the status bar, and the result that was shown before. */
import { ApiError, api } from "../core/api.js";
import { store } from "../core/store.js";

/** The complete result that was shown last. @type {import("../core/result.js").Result | null} */
let last = null;

/** Count the findings of each complete result that is shown. */
export function startCount() {
  store.watch(["result"], () => void count());
}

async function count() {
  const { result, findingCount } = store.state;
  if (!result?.finished || result.document.status !== "complete" || findingCount?.id === result.id) return;
  const { id } = result;
  if (last && last !== result)
    store.update({ before: last.document.kernel === result.document.kernel ? last : null });
  last = result;
  try {
    const { findings } = await api.analysis(id, "findings");
    if (store.state.result?.id === id) store.update({ findingCount: { id, count: findings.length } });
  } catch (error) {
    // The pane says why there is no answer.
    if (!(error instanceof ApiError)) throw error;
  }
}
