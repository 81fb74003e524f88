/**
 * Where the cursor of a stage pane is, or the first line in sight: function › loop › block, each a way there.
 *
 * @import { StagePane } from "../panes/stage.js"
 */
import { make } from "../dom.js";
import { stageTitle } from "../stages.js";

export class Breadcrumb {
  /** @param {StagePane} pane */
  constructor(pane) {
    this.pane = pane;
    this.shown = "";
    this.frame = 0;
    this.element = make("nav", { class: "breadcrumb", "aria-label": "Where this is" });
  }

  /** Follow the cursor in the next frame: it moves often. */
  update() {
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      this.draw();
    });
  }

  draw() {
    const { outline } = this.pane;
    const path = outline?.path(this.line) ?? [];
    const shown = path.map(({ first }) => first).join();
    if (shown === this.shown && this.element.childElementCount && outline) return;
    this.shown = shown;
    this.element.setAttribute("aria-label", `Where this is in ${stageTitle(this.pane.content?.row.name ?? "")}`);
    this.element.replaceChildren(
      ...path.flatMap((region, depth) => [
        depth ? make("span", { class: "crumb-then", "aria-hidden": "true" }, "›") : null,
        make("button", { type: "button", class: "crumb", title: `Line ${region.first.toLocaleString("en")}: ${region.title}`, onclick: () => this.goTo(region.first) }, region.title),
      ]).filter((each) => each !== null),
    );
    // Its height is kept where there is nothing to say: nothing may jump.
    if (outline && path.length === 0) this.element.append(make("span", { class: "crumb" }, "top of the file"));
  }

  /** @param {number} line */
  goTo(line) {
    this.pane.goToLine(line);
    this.pane.text.scroller.focus();
  }

  /** The cursor's line while it is in sight, else the first in sight. */
  get line() {
    const { text } = this.pane;
    return text.isInSight(text.cursor) ? text.cursor : text.topLine;
  }
}
