/**
 * The parts of a pane that dockview shows: its element in a group, and its tab.
 *
 * @import { IContentRenderer, IDockviewPanel, ITabRenderer } from "dockview-core"
 * @import { Dock } from "./dock.js"
 */
import { make, setText } from "../core/dom.js";
import { hueClass, shownStage } from "../core/stages.js";
import { addressOf, kindOf, titleOf } from "./pane_address.js";
import { isUse } from "./preview.js";

const PREVIEW = "Preview: the next pane replaces it; a double click keeps it";

/** The pane's element, after its module is loaded. @implements {IContentRenderer} */
export class PaneContent {
  /** @param {Dock} dock @param {string} id */
  constructor(dock, id) {
    this.dock = dock;
    this.id = id;
    this.element = make("div", { class: "pane-frame" });
    /** @type {import("../core/pane.js").Pane | null} */
    this.pane = null;
    /**
     * The element with the focus when the pane was told to take it: the pane takes it from no other element.
     * @type {Element | null}
     */
    this.focused = null;
    /** @type {{name: string, state: string} | undefined} */
    this.params = undefined;
    /** @type {IDockviewPanel["api"] | null} */
    this.panelApi = null;
    this.isPreview = false;
    /** @type {{dispose(): void} | null} */
    this.shown = null;
  }

  /** @param {Parameters<IContentRenderer["init"]>[0]} parameters */
  init({ params, api }) {
    this.panelApi = api;
    this.params = { name: String(params.name), state: String(params.state) };
    this.isPreview = params.isPreview === true;
    this.element.addEventListener("pane-state", (event) =>
      this.setState(/** @type {CustomEvent<string>} */ (event).detail),
    );
    this.element.addEventListener("pane-wide", (event) => {
      const isWide = /** @type {CustomEvent<boolean>} */ (event).detail;
      if (isWide) api.maximize();
      else api.exitMaximized();
    });
    const keep = () => this.isPreview && api.updateParameters({ isPreview: false });
    this.element.addEventListener("pointerdown", keep);
    this.element.addEventListener("keydown", (event) => isUse(event) && keep());
    // A pane's code is fetched when the pane is first visible. While a layout is built, every pane is briefly visible.
    this.shown = api.onDidVisibilityChange(() => queueMicrotask(() => this.loadIfVisible()));
    queueMicrotask(() => this.loadIfVisible());
  }

  loadIfVisible() {
    if (!this.shown || !this.panelApi?.isVisible) return;
    this.shown.dispose();
    this.shown = null;
    void this.load();
  }

  async load() {
    const { name, state } = this.params ?? { name: "", state: "" };
    const kind = kindOf(name);
    if (!kind) return;
    const tag = `pane-${name.replaceAll("_", "-")}`;
    try {
      // A saved page contains all panes.
      if (!customElements.get(tag)) await import(kind.module);
    } catch {
      this.element.append(
        make(
          "div",
          { class: "empty" },
          make("p", {}, `The pane “${kind.title}” could not be loaded. Reload the page.`),
        ),
      );
      return;
    }
    this.pane = /** @type {import("../core/pane.js").Pane} */ (document.createElement(tag));
    this.pane.paneState = state;
    this.pane.id = `${this.id}-content`;
    this.element.append(this.pane);
    await this.pane.updateComplete;
    const { activeElement } = document;
    if (this.focused && (activeElement === this.focused || activeElement === document.body)) this.focus();
  }

  /** Put the focus into the pane, or do that when it is loaded. */
  focus() {
    const target = /** @type {HTMLElement | null} */ (this.element.querySelector("[tabindex='0']"));
    target?.focus();
    this.focused = target ? null : document.activeElement;
  }

  /** @param {string} state */
  setState(state) {
    if (!this.params || this.params.state === state) return;
    const before = addressOf(this.params);
    this.params.state = state;
    this.dock.readdress(before, addressOf(this.params));
    this.panelApi?.updateParameters({ state });
    this.panelApi?.setTitle(titleOf(this.params.name, state));
    if (this.pane && this.pane.paneState !== state) this.pane.paneState = state;
    this.dock.updateVisible();
    this.dock.changed();
  }

  /** @param {Parameters<NonNullable<IContentRenderer["update"]>>[0]} event */
  update({ params }) {
    this.isPreview = params.isPreview === true;
  }

  dispose() {
    this.shown?.dispose();
    this.shown = null;
    this.dock.contents.delete(this.id);
    this.pane?.remove();
  }
}

/** A tab in the hue of its stage. @implements {ITabRenderer} */
export class PaneTab {
  /**
   * @param {() => {name: string, state: string} | undefined} current what the pane shows
   * @param {() => unknown} isHidden whether its group hides the tab, so that no list of tabs shows it
   */
  constructor(current, isHidden) {
    this.current = current;
    this.isHidden = isHidden;
    this.label = make("span", { class: "tab-label" });
    this.element = make("div", { class: "tab" }, this.label);
  }

  /** @param {Parameters<ITabRenderer["init"]>[0]} parameters */
  init({ title, params, api, tabLocation }) {
    const refresh = () => {
      const { name, state } = this.current() ?? /** @type {{name: string, state: string}} */ (params);
      this.element.className = kindOf(name)?.per_stage ? `tab ${hueClass(shownStage(state))}` : "tab";
      this.element.classList.toggle("is-preview", this.isPreview);
    };
    setText(this.label, title);
    // Only the mouse uses this button, since no element inside a tab may take the focus. The Delete key closes the tab,
    // too.
    const close = make(
      "span",
      { class: "tab-close", "aria-hidden": "true", title: "Close", onclick: () => api.close() },
      "×",
    );
    close.addEventListener("pointerdown", (event) => event.stopPropagation());
    this.element.append(close);
    this.element.addEventListener("auxclick", (event) => {
      if (event.button === 1) api.close();
    });
    this.element.addEventListener("dblclick", () => api.updateParameters({ isPreview: false }));
    this.update({ params });
    if (tabLocation === "headerOverflow") this.element.hidden = Boolean(this.isHidden());
    refresh();
    this.titles = api.onDidTitleChange((event) => {
      setText(this.label, event.title);
      refresh();
    });
  }

  dispose() {
    this.titles?.dispose();
  }

  /** @param {Parameters<NonNullable<ITabRenderer["update"]>>[0]} event */
  update({ params }) {
    this.isPreview = params.isPreview === true;
    this.element.classList.toggle("is-preview", this.isPreview);
    this.element.title = this.isPreview ? PREVIEW : "";
  }
}
