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
 * Where Plotly puts its rules: it takes an element that is there, and ours is one that the policy of the page
 * allows.
 */
const RULES = "plotly.js-style-global";
/**
 * The style sheet of maps in this version, which is put in although the package has no maps: not if it is
 * there.
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
  // In a file of its own it is on its way.
  return /** @type {Plotly | Promise<Plotly>} */ (plotly);
}
