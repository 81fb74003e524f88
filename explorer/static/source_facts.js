/**
 * The foot of the editor: how many operations or instructions a source line became in each stage, and which
 * share of all of that stage this is.
 *
 * The line is the one under the mouse, in whichever pane; else the pinned one; else that of the cursor.
 */
import { make, setText } from "./dom.js";
import { short } from "./format.js";
import { heatWords, sampleShare } from "./roofline/stall_words.js";
import { hueClass } from "./stages.js";
import { store } from "./store.js";

export class SourceFacts {
  cursor = 0;
  frame = 0;

  constructor() {
    this.line = make("span", { class: "source-line" });
    this.stages = make("div", { class: "source-stages" });
    this.element = make("div", { class: "source-facts", role: "group", "aria-label": "What the source line became" }, this.line, this.stages);
    store.watch(["hovered", "pinned", "result", "heat"], () => this.update());
  }

  /** @param {number} line the source line that the cursor is on; 0: none */
  setCursor(line) {
    this.cursor = line;
    this.update();
  }

  /** In the next frame: the mouse passes many lines. */
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
    setText(this.line, line ? `line ${line}${others > 0 ? ` +${others}` : ""}` : "");
    const contents = result.document.stages.map(({ name }) => result.content(name)).filter((content) => content !== null);
    if (!line) {
      this.stages.replaceChildren(make("span", { class: "hint" }, "Point at a line to see what it became."));
      return;
    }
    for (const content of contents) {
      if (!content.locations) void content.loadLocations().then(() => content.locations && this.update());
    }
    const counted = contents.filter(({ locations }) => locations?.operations);
    if (counted.length && counted.every(({ operationCounts }) => !operationCounts.get(line))) {
      this.stages.replaceChildren(make("span", { class: "hint" }, "No operation comes from it."));
      return;
    }
    const cells = counted.map(({ row, locations, operationCounts }) => {
      const count = operationCounts.get(line) ?? 0;
      const share = count / (locations?.operations || 1);
      const percent = count === 0 ? "–" : share < 0.01 ? "<1 %" : `${Math.round(100 * share)} %`;
      const title = `${count.toLocaleString("en")} of ${locations?.operations.toLocaleString("en")} operations of ${row.title}`;
      return make("span", { class: `source-stage ${hueClass(row.name)}${count ? "" : " is-none"}`, title },
        make("small", {}, row.title), make("b", {}, short(count)), make("span", {}, percent));
    });
    const heat = store.state.heat?.source.find((each) => each.line === line);
    if (heat) cells.push(make("span", { class: "source-stage is-heat", title: heatWords(heat) }, make("small", {}, "Samples"), make("b", {}, sampleShare(heat.share))));
    this.stages.replaceChildren(...cells);
  }
}
