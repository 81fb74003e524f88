/** The number of findings of the shown result, for the status bar. */
import { ApiError, api } from "../core/api.js";
import { store } from "../core/store.js";

/** Count the findings of each complete result that is shown. */
export function startCount() {
  store.watch(["result"], () => void count());
}

async function count() {
  const { result, findingCount } = store.state;
  if (!result?.finished || result.document.status !== "complete" || findingCount?.id === result.id) return;
  const { id } = result;
  try {
    const { findings } = await api.analysis(id, "findings");
    if (store.state.result?.id === id) store.update({ findingCount: { id, count: findings.length } });
  } catch (error) {
    // The pane says why there is no answer.
    if (!(error instanceof ApiError)) throw error;
  }
}
