/** The titles of metrics, as the server defines them. */
import { store } from "./store.js";

/**
 * The title of a metric, and its title in narrow tables and in lines of text.
 * @param {string} name @returns {import("./types.js").MetricTitles}
 */
export function metric(name) {
  return store.state.metrics[name] ?? { title: name, short: name };
}
