/**
 * Lays out graphs by Graphviz, compiled to WebAssembly, off the page's own thread.
 *
 * In: `{number, dot}`. Out: `{number, svg}`, or `{number, problem}`. Graphviz recurses along a path: a path of 5,000
 * nodes may exceed the stack of a worker.
 */
import { Graphviz } from "@hpcc-js/wasm-graphviz";

addEventListener("message", async ({ data: { number, dot } }) => {
  try {
    const graphviz = await Graphviz.load();
    postMessage({ number, svg: graphviz.dot(dot) });
  } catch (error) {
    const words = error instanceof Error ? error.message : String(error);
    postMessage({
      number,
      problem: words.includes("call stack") ? "its longest path has too many nodes" : words,
    });
    // A program that was stopped in the middle cannot be called again.
    Graphviz.unload();
  }
});
