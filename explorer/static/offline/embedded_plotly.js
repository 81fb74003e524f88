/**
 * Plotly embedded in the offline file, in place of the package: decompressed and run when there is first
 * something to plot.
 *
 * The policy of the file names the script by its hash, so that nothing else can be run in this way.
 */
import { unpack } from "./embedded_data.js";

async function run() {
  document.head.append(
    Object.assign(document.createElement("script"), { text: await (await unpack("plotly")).text() }),
  );
  return (
    /** @type {{Plotly?: unknown}} */ (globalThis).Plotly ?? Promise.reject(new Error("Plotly did not run"))
  );
}

export default run();
