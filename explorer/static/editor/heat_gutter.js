/**
 * Samples beside the lines of the source: a gutter of the editor, loaded with the first samples.
 *
 * @import { LineHeat } from "../core/types.js"
 */
import { GutterMarker, gutter } from "@codemirror/view";
import { LEAST_SHARE, heatLabel } from "../runs/samples.js";
import { heatWords } from "../runs/stall_words.js";
import { sourceLineAt } from "./source_lines.js";

class HeatMarker extends GutterMarker {
  /** @param {LineHeat} heat @param {number} most the largest share */
  constructor(heat, most) {
    super();
    this.heat = heat;
    this.most = most;
  }

  /** @param {HeatMarker} other */
  eq(other) {
    return other.heat === this.heat;
  }

  toDOM() {
    const element = document.createElement("div");
    element.className = "heat";
    element.textContent = heatLabel(this.heat.share);
    element.title = heatWords(this.heat);
    element.style.setProperty("--heat-share", `${Math.round((100 * this.heat.share) / this.most)}%`);
    return element;
  }
}

/** @param {LineHeat[]} lines of the compiled source */
export function heatGutter(lines) {
  const most = Math.max(...lines.map(({ share }) => share));
  const markers = new Map(
    lines.filter(({ share }) => share >= LEAST_SHARE).map((heat) => [heat.line, new HeatMarker(heat, most)]),
  );
  return gutter({
    class: "cm-heat",
    lineMarker: (view, block) => markers.get(sourceLineAt(view.state, block.from, block.to)) ?? null,
    lineMarkerChange: (update) => update.docChanged,
  });
}
