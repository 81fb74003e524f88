/**
 * The foot of the editor: the number of operations or instructions that come from a source line in each stage, and
 * their share of the stage.
 *
 * The line is the line under the mouse in any pane, else the pinned line, else the line of the cursor.
 *
 * @import { StageContent } from "../core/result.js"
 */
import { lineText } from "../core/line_words.js";
import { make, setText } from "../core/dom.js";
import { grouped, short } from "../core/format.js";
import { html, nothing, render } from "../core/template.js";
import { sampleShare } from "../runs/samples.js";
import { hueClass } from "../core/stages.js";
import { store } from "../core/store.js";

export class SourceFacts {
  cursor = 0;
  frame = 0;

  constructor() {
    this.line = make("span", { class: "source-line" });
    this.stages = make("div", { class: "source-stages" });
    this.element = make(
      "div",
      { class: "source-facts", role: "group", "aria-label": "Operations of the source line" },
      make("div", { class: "source-counts" }, make("div", {}, this.line, this.stages)),
    );
    store.watch(["hovered", "pinned", "result", "heat"], () => this.update());
  }

  /** @param {number} line the source line that the cursor is on; 0: none */
  setCursor(line) {
    this.cursor = line;
    this.update();
  }

  /** Draw in the next frame: the mouse passes many lines. */
  update() {
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      this.draw();
    });
  }

  draw() {
    const { hovered, pinned, result } = store.state;
    const line = hovered[0] ?? pinned[0] ?? this.cursor;
    const others = (hovered.length || pinned.length) - 1;
    this.element.hidden = !result;
    if (!result) return;
    setText(this.line, line ? `${lineText(line)}${others > 0 ? ` +${others}` : ""}` : "");
    const contents = result.document.stages
      .map(({ name }) => result.content(name))
      .filter((content) => content !== null);
    render(
      line ? this.counts(line, contents) : hint("Point at a line to see its operations in each stage."),
      this.stages,
    );
  }

  /** @param {number} line @param {StageContent[]} contents */
  counts(line, contents) {
    for (const content of contents) {
      if (!content.locations) void content.loadLocations().then(() => content.locations && this.update());
    }
    const counted = contents.filter(({ locations }) => locations?.operations);
    if (counted.length && counted.every(({ operationCounts }) => !operationCounts.get(line)))
      return hint("No operation comes from this line.");
    const heat = store.state.heat?.source.find((each) => each.line === line);
    return html`${counted.map(({ row, locations, operationCounts }) => {
      const count = operationCounts.get(line) ?? 0;
      const share = count / (locations?.operations || 1);
      const percent = count === 0 ? "–" : share < 0.01 ? "<1 %" : `${Math.round(100 * share)} %`;
      const all = grouped(locations?.operations ?? 0);
      return html`<span
        class="source-stage ${hueClass(row.name)}${count ? "" : " is-none"}"
        title="${grouped(count)} of ${all} operations of ${row.title}"
      ><small>${row.title}</small><b>${short(count)}</b><span>${percent}</span></span>`;
    })}${
      heat
        ? html`<span class="source-stage is-heat" title=${store.state.heatWords(heat)}
            ><small>Samples</small><b>${sampleShare(heat.share)}</b></span>`
        : nothing
    }`;
  }
}

/** @param {string} words */
function hint(words) {
  return html`<span class="hint">${words}</span>`;
}
