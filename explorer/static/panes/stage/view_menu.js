/**
 * The menu in the foot of a stage pane: filters, folding, copying.
 *
 * @import { StagePane } from "../stage.js"
 */
import { html } from "../../core/template.js";
import { CODES, filtersOf, isOn } from "./filters.js";

const GAP_PX = 6;
let count = 0;

export class ViewMenu {
  /** @param {StagePane} pane */
  constructor(pane) {
    this.pane = pane;
    count += 1;
    this.id = `stage-view-${count}`;
  }

  button() {
    const { hide, show } = this.pane.view;
    const isChanged = hide.size + show.size > 0;
    return html`<button
      type="button"
      class="toggle view-button ${isChanged ? "is-changed" : ""}"
      popovertarget=${this.id}
      aria-haspopup="dialog"
    >view</button>`;
  }

  /** The button that shows or hides control codes and addresses. */
  codes() {
    const { pane } = this;
    const isShown = CODES.some((filter) => isOn(filter, pane.view));
    return html`<button
      type="button"
      class="toggle view-button"
      aria-pressed=${String(isShown)}
      title="Control codes and addresses"
      @click=${() => CODES.forEach((filter) => pane.setFilter(filter, !isShown))}
    >codes</button>`;
  }

  menu() {
    const { pane } = this;
    const filters = pane.content ? filtersOf(pane.content.syntax) : [];
    return html`<div
      class="menu view-menu"
      id=${this.id}
      popover
      role="dialog"
      aria-label="View"
      @toggle=${(/** @type {ToggleEvent} */ event) => this.place(event)}
    >
      ${filters.map(
        (filter) => html`<label class="entry check"><input
          type="checkbox"
          .checked=${isOn(filter, pane.view)}
          @change=${(/** @type {{target: HTMLInputElement}} */ { target }) =>
            pane.setFilter(filter, target.checked)}
        >${filter.title}</label>`,
      )}
      <hr>
      ${this.entry("Fold all", () => pane.folds.foldAll(true))}
      ${this.entry("Unfold all", () => pane.folds.foldAll(false))}
      <hr>
      ${this.entry("Copy", () => pane.range.copy(false))}
      ${this.entry("Copy with line numbers", () => pane.range.copy(true))}
      ${this.entry("Copy all", () => pane.range.copyAll())}
    </div>`;
  }

  /** @param {string} title @param {() => Promise<void>} act */
  entry(title, act) {
    const run = () => {
      document.getElementById(this.id)?.hidePopover();
      void act();
    };
    return html`<button type="button" class="entry" @click=${run}><span>${title}</span></button>`;
  }

  /** Put the menu above its button, and the focus into it. @param {ToggleEvent} event */
  place({ newState, target }) {
    const button = this.pane.querySelector(".view-button");
    if (newState !== "open" || !(target instanceof HTMLElement) || !button) return;
    const { top, right } = button.getBoundingClientRect();
    const { width, height } = target.getBoundingClientRect();
    target.style.top = `${Math.max(GAP_PX, top - height - GAP_PX)}px`;
    target.style.left = `${Math.max(GAP_PX, right - width)}px`;
    /** @type {HTMLElement | null} */ (target.querySelector("input, button"))?.focus();
  }
}
