/**
 * `<pane-resources>`: what the binary needs of the machine, how many blocks of it fit, and what it consists of.
 *
 * @import { OccupancyDocument, Resources } from "../types.js"
 */
import { ApiError, api } from "../api.js";
import { make } from "../dom.js";
import { FACTS } from "../resource_facts.js";
import { curveOf } from "../resources/curve.js";
import { mixTable } from "../resources/mix.js";
import { WavesForm } from "../resources/waves.js";
import { store } from "../store.js";

class ResourcesPane extends HTMLElement {
  paneState = "";
  /** @type {(() => void)[]} */
  watches = [];
  /** the compilation whose occupancy is shown, or asked for */
  shown = "";

  connectedCallback() {
    this.watches = [store.watch(["result"], () => this.draw())];
  }

  disconnectedCallback() {
    for (const end of this.watches) end();
    this.shown = "";
  }

  draw() {
    const { result } = store.state;
    const resources = result?.document.resources;
    if (!resources) {
      const words =
        !result ? "Compile a kernel to see what it needs."
        : !result.finished ? "The binary is on its way."
        : "The compilation stopped before there was a binary.";
      this.shown = "";
      this.replaceChildren(make("div", { class: "empty" }, make("p", {}, words)));
      return;
    }
    const key = `${result.id} ${result.finished}`;
    if (this.shown === key) return;
    this.shown = key;
    this.parts = make("div", { class: "resource-columns" }, facts(resources));
    this.replaceChildren(make("div", { class: "resources" }, typeof resources.occupancy === "number" ? occupancyCard(resources.occupancy, resources.limiter) : null, this.parts));
    if (result.finished) void this.load(key, result.id);
  }

  /** What has to be worked out. @param {string} key @param {string} id */
  async load(key, id) {
    try {
      const document = await api.occupancy(id, {});
      if (this.shown !== key || !this.parts) return;
      const parameters = new WavesForm(document, (asked) => api.occupancy(id, asked));
      this.parts.append(limits(document), curves(document), parameters.element, mixTable(document));
    } catch (error) {
      if (this.shown !== key) return;
      const words = error instanceof ApiError ? error.problem.detail : String(error);
      this.parts?.append(make("p", { class: "hint", role: "status" }, words));
    }
  }
}

/** What the tools say. @param {Resources} resources */
function facts(resources) {
  const rows = FACTS.flatMap(({ name, title, show, warn, rare }) => {
    const value = resources[name];
    if (typeof value !== "number" || (rare && value === 0)) return [];
    return [make("tr", {}, make("th", { scope: "row" }, title), make("td", { class: warn?.(value) ? "warning" : null }, show(value)))];
  });
  return make(
    "section",
    {},
    make("h3", {}, "What it needs"),
    make("table", {}, make("tbody", {}, ...rows)),
    make("p", { class: "source" }, "From the assembler's report and the binary."),
  );
}

/** @param {number} occupancy 0 to 1 @param {unknown} limiter */
function occupancyCard(occupancy, limiter) {
  const percent = Math.round(occupancy * 100);
  const bar = make("span", { class: "bar" });
  bar.style.setProperty("--share", `${percent}%`);
  return make(
    "div",
    { class: "occupancy", role: "img", "aria-label": `Occupancy ${percent} per cent${limiter ? `, limited by ${limiter}` : ""}` },
    make("div", { class: "big" }, `${percent} %`, make("small", {}, limiter ? `occupancy, limited by ${limiter}` : "occupancy")),
    make("span", { class: "track" }, bar),
  );
}

/** How many blocks each resource would leave room for. @param {OccupancyDocument} document */
function limits({ occupancy, warps_per_multiprocessor, device }) {
  const { limits: each, blocks_per_multiprocessor: blocks, active_warps: warps } = occupancy;
  const rows = /** @type {const} */ ([["warps", each.warps], ["registers", each.registers], ["shared memory", each.shared_memory], ["blocks", each.blocks]]);
  return make(
    "section",
    {},
    make("h3", {}, `Blocks on a multiprocessor: ${blocks}`),
    make(
      "table",
      {},
      make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "if it were limited only by"), make("th", { scope: "col" }, "blocks"))),
      make("tbody", {}, ...rows.map(([name, count]) =>
        make("tr", { class: count === blocks ? "is-limit" : null }, make("th", { scope: "row" }, name), make("td", {}, count.toLocaleString("en"))))),
    ),
    make("p", { class: "hint" }, `${warps} of ${warps_per_multiprocessor} warps can be active; ${rows.filter(([, count]) => count === blocks).map(([name]) => name).join(" and ")} would not be enough for another block.`),
    make("p", { class: "source" }, `Modelled by the allocation rules of ${device}.`),
  );
}

/** @param {OccupancyDocument} document */
function curves({ curves: all }) {
  return make(
    "section",
    {},
    make("h3", {}, "Occupancy, if one thing were different"),
    ...all.map(curveOf),
    make("p", { class: "source" }, "Modelled; the dashed line is this kernel."),
  );
}

customElements.define("pane-resources", ResourcesPane);
