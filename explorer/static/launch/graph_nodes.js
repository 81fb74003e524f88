/**
 * The nodes of PyTorch's graph that a kernel computes, with the lines of the program that they come from.
 *
 * @import { TorchNode } from "../core/types.js"
 */
import { pin } from "../core/selection.js";
import { lineWords } from "../core/source_files.js";
import { store } from "../core/store.js";
import { html, nothing } from "../core/template.js";

/** The graph nodes of a kernel of `torch.compile`. @param {TorchNode[]} nodes */
export function graphNodes(nodes) {
  if (nodes.length === 0) return nothing;
  const graph = nodes[0]?.is_backward ? "graph of the backward pass" : "graph";
  const rows = nodes.map(
    ({ name, operation, original, output, line }) => html`<tr>
      <th scope="row">${name}</th>
      <td>${line ? lineLink(line) : nothing}</td>
      <td>${operation}</td>
      <td>${original === operation ? nothing : original}</td>
      <td>${output}</td>
    </tr>`,
  );
  return html`<details class="graph-nodes">
    <summary>Graph nodes (${nodes.length})</summary>
    <p class="hint">The kernel computes these nodes of PyTorch’s ${graph}.</p>
    <div class="scroller"><table aria-label="Graph nodes">
      <thead>
        <tr>
          <th scope="col">Node</th>
          <th scope="col">Program</th>
          <th scope="col">Operation</th>
          <th scope="col">Decomposed from</th>
          <th scope="col">Output</th>
        </tr>
      </thead>
      <tbody>${rows}</tbody>
    </table></div>
  </details>`;
}

/** @param {number} line */
function lineLink(line) {
  const words = lineWords(store.state.draft, line);
  return html`<button type="button" class="link" title="Show the line" @click=${() => pin([line], "launch")}
    >${words}</button
  >`;
}
