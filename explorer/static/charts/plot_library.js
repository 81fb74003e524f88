/**
 * Plotly, fetched when it is first needed.
 *
 * @typedef {object} Plotly the part that is used
 * @property {(element: HTMLElement, traces: Record<string, unknown>[], layout: Record<string, unknown>,
 *   config: Record<string, unknown>) => Promise<unknown>} react
 * @property {(element: HTMLElement, options: {format: "svg", width: number, height: number}) =>
 *   Promise<string>} toImage a data: address
 * @property {(element: HTMLElement) => void} purge
 */
import { make } from "../core/dom.js";

/**
 * The style element for Plotly's rules. Plotly uses an existing element, and the page's policy allows this one.
 */
const RULES = "plotly.js-style-global";
/**
 * The style sheet for maps. This version of Plotly inserts it, although the package has no maps, unless an element with
 * this ID exists.
 */
const RULES_OF_MAPS = "9f215cf04c5486422605d13261cb87401f4e7763b6296af81e98efbc0130da53";

/** @type {Promise<Plotly> | null} */
let loading = null;

/** @returns {Promise<Plotly>} */
export function loadPlotly() {
  loading ??= load();
  loading.catch(() => (loading = null));
  return loading;
}

async function load() {
  const nonce = document.querySelector("meta[name=csp-nonce]")?.getAttribute("content") ?? "";
  if (!document.getElementById(RULES))
    document.head.append(make("style", { id: RULES, nonce }), make("style", { id: RULES_OF_MAPS, nonce }));
  // @ts-expect-error: the package has no types
  const { default: plotly } = await import("plotly.js-basic-dist-min");
  // In a saved page, the default export is a promise (`offline/embedded_plotly.js`).
  return /** @type {Plotly | Promise<Plotly>} */ (plotly);
}
