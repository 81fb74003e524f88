/**
 * Lays out graphs by Graphviz, compiled to WebAssembly, off the page's own thread.
 *
 * In: `{number, dot}`. Out: `{number, svg}`, or `{number, problem}`.
 */
import { Graphviz } from "@hpcc-js/wasm-graphviz";

addEventListener("message", async ({ data: { number, dot } }) => {
  try {
    const graphviz = await Graphviz.load();
    postMessage({ number, svg: graphviz.dot(dot) });
  } catch (error) {
    postMessage({ number, problem: error instanceof Error ? error.message : String(error) });
  }
});
