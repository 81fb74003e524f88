/**
 * A button at the end of the line of the cursor: the way from an operation to its lineage. It is for the mouse; the
 * key and the button below the text do the same.
 *
 * @import { StagePane } from "../stage.js"
 * @import { Lineage } from "./lineage.js"
 */
import { make } from "../../core/dom.js";
import { languageFacts } from "../../core/languages.js";

export class LineageLink {
  /** @param {StagePane} pane @param {Lineage} lineage */
  constructor(pane, lineage) {
    this.pane = pane;
    this.lineage = lineage;
    this.button = make("button", {
      type: "button",
      tabindex: "-1",
      "aria-label": "Why is this here?",
      title: "The passes and the operations that this comes from, and what became of it (O)",
    });
    // Short: it lies over the end of the line.
    this.button.textContent = "Why?";
    this.element = make("span", { class: "lineage-link" }, this.button);
    // A click here is none on the line.
    for (const type of ["pointerdown", "dblclick"])
      this.element.addEventListener(type, (event) => event.stopPropagation());
    this.element.addEventListener("click", (event) => {
      event.stopPropagation();
      this.lineage.show(this.pane.text.cursor);
    });
  }

  /** Move it to the line of the cursor, if an operation is there whose lineage is not shown. */
  place() {
    const { content, text } = this.pane;
    const row = text.rows.get(text.cursor);
    const { word } = languageFacts(content?.row.language ?? "");
    const isOffered =
      this.lineage.isOffered &&
      !this.lineage.line &&
      new RegExp(word || "^  [^;]").test(this.pane.lines[text.cursor - 1] ?? "");
    if (!row || !isOffered) return this.element.remove();
    if (this.element.parentElement !== row) row.append(this.element);
    return undefined;
  }
}
