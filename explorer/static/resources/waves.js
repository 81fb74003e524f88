/**
 * How a grid fills the GPU; grid and GPU can be changed to see.
 *
 * @import { OccupancyDocument } from "../types.js"
 */
import { ApiError } from "../api.js";
import { make } from "../dom.js";
import { plural } from "../format.js";
import { percent } from "./curve.js";

const MOST_DRAWN = 60;

export class WavesForm {
  /** @param {OccupancyDocument} document @param {(asked: Record<string, string>) => Promise<OccupancyDocument>} ask */
  constructor(document, ask) {
    this.ask = ask;
    this.grid = make("input", { type: "text", value: (document.grid ?? []).join(" × "), placeholder: "256 × 1 × 1", spellcheck: "false", onchange: () => void this.change() });
    this.count = make("input", { type: "text", inputmode: "numeric", class: "is-short", value: String(document.multiprocessors), onchange: () => void this.change() });
    this.body = make("div", { role: "status" });
    this.element = make(
      "section",
      {},
      make("h3", {}, "Waves of the grid"),
      make("div", { class: "wave-form" }, make("label", {}, "grid", this.grid), make("label", {}, "multiprocessors", this.count)),
      this.body,
      make("p", { class: "source" }, `Modelled: blocks that all take the same time. ${document.device} has ${document.multiprocessors} multiprocessors.`),
    );
    this.draw(document);
  }

  async change() {
    const grid = this.grid.value.split(/[^\d]+/).filter(Boolean).join(",");
    try {
      this.draw(await this.ask({ ...(grid ? { grid } : {}), ...(this.count.value ? { multiprocessors: this.count.value } : {}) }));
    } catch (error) {
      this.body.replaceChildren(make("p", { class: "hint" }, error instanceof ApiError ? error.problem.detail : String(error)));
    }
  }

  /** @param {OccupancyDocument} document */
  draw({ waves, grid, blocks_per_program: perProgram }) {
    if (!waves) {
      this.body.replaceChildren(make("p", { class: "hint" }, grid ? "Not even one block fits on a multiprocessor." : "The launch has no grid that is known: type one."));
      return;
    }
    const { blocks, at_once: atOnce, waves: count, tail, used_share: used } = waves;
    const programs = perProgram > 1 ? ` (${perProgram} a program)` : "";
    const words = `${plural(blocks, "block")}${programs}, ${atOnce.toLocaleString("en")} at once: ${plural(count, "wave")}. ${count > 1 ? `The last has ${plural(tail, "block")}, so that ` : ""}${percent(used)} of the places are used.`;
    const drawn = Math.min(count, MOST_DRAWN);
    const bars = Array.from({ length: drawn }, (_, index) => {
      const bar = make("span", { class: index === drawn - 1 ? "tail" : null });
      if (index === drawn - 1) bar.style.setProperty("--share", `${(100 * tail) / atOnce}%`);
      return bar;
    });
    this.body.replaceChildren(make("div", { class: "waves-bar", "aria-hidden": "true" }, ...bars), make("p", { class: "hint" }, words));
  }
}
