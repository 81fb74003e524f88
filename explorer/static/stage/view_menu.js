/**
 * The menu in the foot of a stage pane: what is shown of the text, folding, copying.
 *
 * @import { StagePane } from "../panes/stage.js"
 */
import { make } from "../dom.js";
import { filtersOf, isOn } from "./filters.js";

const GAP_PX = 6;
let count = 0;

export class ViewMenu {
  /** @param {StagePane} pane */
  constructor(pane) {
    this.pane = pane;
    count += 1;
    const id = `stage-view-${count}`;
    this.menu = make("div", { class: "menu view-menu", id, popover: true, role: "dialog", "aria-label": "View" });
    this.button = make("button", { type: "button", class: "toggle view-button", popovertarget: id, "aria-haspopup": "dialog" }, "view");
    this.menu.addEventListener("beforetoggle", (event) => {
      if (/** @type {ToggleEvent} */ (event).newState === "open") this.draw();
    });
    this.menu.addEventListener("toggle", (event) => {
      if (/** @type {ToggleEvent} */ (event).newState !== "open") return;
      const { top, right } = this.button.getBoundingClientRect();
      const { width, height } = this.menu.getBoundingClientRect();
      this.menu.style.top = `${Math.max(GAP_PX, top - height - GAP_PX)}px`;
      this.menu.style.left = `${Math.max(GAP_PX, right - width)}px`;
      /** @type {HTMLElement | null} */ (this.menu.querySelector("input, button"))?.focus();
    });
  }

  draw() {
    const { pane } = this;
    const language = pane.content?.row.language ?? "";
    const act = (/** @type {string} */ title, /** @type {() => void} */ run) =>
      make("button", { type: "button", class: "entry", onclick: () => { this.menu.hidePopover(); run(); } }, make("span", {}, title));
    this.menu.replaceChildren(
      ...filtersOf(language).map((filter) => {
        const box = make("input", { type: "checkbox", onchange: () => pane.setFilter(filter, box.checked) });
        box.checked = isOn(filter, pane.view);
        return make("label", { class: "entry check" }, box, filter.title);
      }),
      make("hr"),
      act("Fold all", () => void pane.foldAll(true)),
      act("Unfold all", () => void pane.foldAll(false)),
      make("hr"),
      act("Copy", () => void pane.range.copy(false)),
      act("Copy with line numbers", () => void pane.range.copy(true)),
      act("Copy all", () => void pane.range.copyAll()),
    );
  }

  /** Say whether something is left out or added. @param {boolean} isChanged */
  mark(isChanged) {
    this.button.classList.toggle("is-changed", isChanged);
  }
}
