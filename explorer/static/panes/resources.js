/**
 * `<pane-resources>`: the resources that the binary needs, the number of blocks that fit, and its instructions.
 *
 * @import { OccupancyDocument, Resources } from "../core/types.js"
 */
import { api } from "../core/api.js";
import { emptyPane, Loaded, Pane, whyEmpty } from "../core/pane.js";
import { FACTS, titleOfFact } from "../core/resource_facts.js";
import { store } from "../core/store.js";
import { html, nothing, styles } from "../core/template.js";
import { marked } from "../glossary/marks.js";
import { occupancyCurve } from "./resources/curve.js";
import { instructionMix } from "./resources/mix.js";
import "./resources/waves.js";

class ResourcesPane extends Pane {
  /** @override */
  static slices = /** @type {(typeof Pane)["slices"]} */ (["result", "heat"]);

  /** The answers that are computed from the binary. */
  occupancy = new Loaded(
    this,
    () => {
      const { result } = store.state;
      return result?.finished && result.document.resources ? [result.id] : null;
    },
    (id) => api.occupancy(id, {}),
  );

  /** @override */
  render() {
    const { result } = store.state;
    const resources = result?.document.resources;
    if (!resources) {
      const unfinished = result?.finished
        ? "The compilation stopped before there was a binary."
        : "The binary is not compiled yet.";
      return emptyPane(
        whyEmpty("Compile a kernel to see its registers, shared memory and occupancy.", unfinished),
      );
    }
    return html`<div class="resources">
      ${resources.occupancy === null ? nothing : occupancyCard(resources.occupancy, resources.limited_by)}
      <div class="resource-columns">${facts(resources)} ${this.computed(result.id)}</div>
    </div>`;
  }

  /** @param {string} id */
  computed(id) {
    return this.occupancy.render({
      ready: (document) => [
        limits(document),
        curves(document),
        html`<resources-waves .compilation=${id} .launched=${document}></resources-waves>`,
        instructionMix(document, store.state.heat),
      ],
      failed: ({ detail }) => html`<p class="hint" role="status">${detail}</p>`,
    });
  }
}

/** The facts that the tools report. @param {Resources} resources */
function facts(resources) {
  const rows = FACTS.flatMap((fact) => {
    const { name, show, warn, rare } = fact;
    const value = resources[name];
    if (typeof value !== "number" || (rare && value === 0)) return [];
    return row(titleOfFact(fact), show(value), warn?.(value));
  });
  if (resources.shared_bytes === null) rows.push(row("Dynamic shared memory per block", "not in the binary"));
  return html`<section>
    <h3>Resources of the binary</h3>
    <table><tbody>${rows}</tbody></table>
    <p class="source">From the assembler's report and the binary.</p>
  </section>`;
}

/** @param {string} title @param {string} value @param {boolean} [isWarning] */
function row(title, value, isWarning = false) {
  return html`<tr>
    <th scope="row">${marked(title)}</th>
    <td class=${isWarning ? "warning" : nothing}>${value}</td>
  </tr>`;
}

/** @param {number} occupancy 0 to 1 @param {string | null} limitedBy */
function occupancyCard(occupancy, limitedBy) {
  const percent = Math.round(occupancy * 100);
  const limited = limitedBy ? `, limited by ${limitedBy}` : "";
  return html`<div class="occupancy" role="img" aria-label=${`Occupancy ${percent} per cent${limited}`}>
    <div class="big">${percent} %<small>${`occupancy${limited}`}</small></div>
    <span class="track"><span class="bar" ${styles({ "--share": `${percent}%` })}></span></span>
  </div>`;
}

/** How many blocks each resource would leave room for. @param {OccupancyDocument} document */
function limits({ occupancy, warps_per_multiprocessor, device }) {
  const { limits: each, blocks_per_multiprocessor: blocks, active_warps: warps } = occupancy;
  /** @type {[string, number][]} */
  const rows = [
    ["warps", each.warps],
    ["registers", each.registers],
    ["shared memory", each.shared_memory],
    ["blocks", each.blocks],
  ];
  const binding = rows.filter(([, count]) => count === blocks).map(([name]) => name);
  return html`<section>
    <h3>Blocks on a multiprocessor: ${blocks}</h3>
    <table>
      <thead>
        <tr><th scope="col">limit by</th><th scope="col">blocks</th></tr>
      </thead>
      <tbody>
        ${rows.map(
          ([name, count]) =>
            html`<tr class=${count === blocks ? "is-limit" : nothing}>
              <th scope="row">${marked(name)}</th>
              <td>${count.toLocaleString("en")}</td>
            </tr>`,
        )}
      </tbody>
    </table>
    <p class="hint">
      ${warps} of ${warps_per_multiprocessor} warps can be active. The limit is set by ${binding.join(" and ")}.
    </p>
    <p class="source">Modelled by the allocation rules of ${device}.</p>
  </section>`;
}

/** @param {OccupancyDocument} document */
function curves({ curves: all }) {
  return html`<section>
    <h3>Occupancy by resource</h3>
    ${all.map(occupancyCurve)}
    <p class="source">Modelled; the dashed line is this kernel.</p>
  </section>`;
}

customElements.define("pane-resources", ResourcesPane);
