/** `<pane-resources>`: what the binary needs of the machine. */
import { make } from "../dom.js";
import { FACTS } from "../resource_facts.js";
import { store } from "../store.js";

class ResourcesPane extends HTMLElement {
  paneState = "";
  /** @type {(() => void)[]} */
  watches = [];

  connectedCallback() {
    this.watches = [store.watch(["result"], () => this.draw())];
  }

  disconnectedCallback() {
    for (const end of this.watches) end();
  }

  draw() {
    const { result } = store.state;
    const resources = result?.document.resources;
    if (!resources) {
      const words =
        !result ? "Compile a kernel to see what it needs."
        : !result.finished ? "The binary is on its way."
        : "The compilation stopped before there was a binary.";
      this.replaceChildren(make("div", { class: "empty" }, make("p", {}, words)));
      return;
    }
    const { occupancy, limiter } = resources;
    const rows = FACTS.flatMap(({ name, title, show, warn, rare }) => {
      const value = resources[name];
      if (typeof value !== "number" || (rare && value === 0)) return [];
      return [make("tr", {}, make("th", { scope: "row" }, title), make("td", { class: warn?.(value) ? "warning" : null }, show(value)))];
    });
    const { specialization } = result.document;
    const grid = specialization?.grid;
    this.replaceChildren(
      make(
        "div",
        { class: "resources" },
        typeof occupancy === "number" ? occupancyCard(occupancy, limiter) : null,
        make("table", {}, make("tbody", {}, ...rows, grid ? make("tr", {}, make("th", { scope: "row" }, "Grid of the launch"), make("td", {}, grid.join(" × "))) : null)),
        make("p", { class: "hint" }, "Registers, spills and memory as the assembler and the binary say; occupancy is the most the hardware allows for one block after another."),
      ),
    );
  }
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

customElements.define("pane-resources", ResourcesPane);
