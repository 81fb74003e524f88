/**
 * Compare again whenever one of two running compilations has got further, until both are done.
 *
 * @import { ComparisonDocument } from "../core/types.js"
 */
import { ApiError, api } from "../core/api.js";
import { follow as followEvents } from "../core/events.js";
import { isOver } from "../core/status.js";
import { store } from "../core/store.js";

/** Stages come in quick succession: they are compared together. */
const PAUSE_MS = 200;

/** @param {ComparisonDocument} first */
export async function follow(first) {
  const running = [
    ...new Map(
      [first.before, first.after].filter((side) => !isOver(side)).map((side) => [side.id, side]),
    ).values(),
  ];
  if (running.length === 0) return;
  let isAsking = false;
  let isAskedAgain = false;
  const ask = async () => {
    if (isAsking) {
      isAskedAgain = true;
      return;
    }
    isAsking = true;
    do {
      isAskedAgain = false;
      try {
        store.update({ comparison: await api.comparison(first.before.id, first.after.id), problem: null });
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        // What is shown stays; the next event asks again.
      }
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    } while (isAskedAgain);
    isAsking = false;
  };
  await Promise.all(running.map(({ id }) => listen(id, () => void ask())));
  void ask();
}

/**
 * Call `changed` when something of a compilation has come, until it is done.
 * @param {string} id
 * @param {() => void} changed
 */
function listen(id, changed) {
  return followEvents(api.events(id), {
    on: { specialized: changed, stage: changed, resources: changed, diagnostic: changed },
    ask: async () => {
      const compilation = await api.compilation(id);
      changed();
      return isOver(compilation);
    },
  });
}
