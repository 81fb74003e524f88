/**
 * Repeat the comparison after each new stage of the two compilations, until both are done.
 *
 * @import { ComparisonDocument } from "../core/types.js"
 */
import { ApiError, api } from "../core/api.js";
import { follow as followEvents } from "../core/events.js";
import { isOver } from "../core/status.js";
import { store } from "../core/store.js";

/** Stages arrive in quick succession: one comparison covers several. */
const PAUSE_MS = 200;

/** @param {ComparisonDocument} first */
export async function follow(first) {
  const running = [
    ...new Map(
      [first.before, first.after].filter((side) => !isOver(side)).map((side) => [side.id, side]),
    ).values(),
  ];
  if (running.length === 0) return;
  let isRefreshing = false;
  let isDueAgain = false;
  const refresh = async () => {
    if (isRefreshing) {
      isDueAgain = true;
      return;
    }
    isRefreshing = true;
    do {
      isDueAgain = false;
      try {
        store.update({ comparison: await api.comparison(first.before.id, first.after.id), problem: null });
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        // Keep the shown comparison; the next event fetches it again.
      }
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    } while (isDueAgain);
    isRefreshing = false;
  };
  await Promise.all(running.map(({ id }) => listen(id, () => void refresh())));
  void refresh();
}

/**
 * Call `changed` after each event of a compilation, until the compilation is done.
 * @param {string} id
 * @param {() => void} changed
 */
function listen(id, changed) {
  return followEvents(api.events(id), {
    on: { specialized: changed, stage: changed, resources: changed, diagnostic: changed },
    readDocument: async () => {
      const compilation = await api.compilation(id);
      changed();
      return isOver(compilation);
    },
  });
}
