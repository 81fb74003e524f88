/**
 * The base class of the parts of the page of a comparison: drawn again when the comparison or the address has
 * changed.
 */
import { LitElement } from "lit";
import { follow } from "../core/pane.js";
import { isOver } from "../core/status.js";
import { store } from "../core/store.js";

export class ComparisonPart extends LitElement {
  constructor() {
    super();
    follow(this, ["comparison", "problem"], () => this.requestUpdate());
    const redraw = () => this.requestUpdate();
    this.addController({
      hostConnected: () => addEventListener("hashchange", redraw),
      hostDisconnected: () => removeEventListener("hashchange", redraw),
    });
  }

  /** The comparison; null: it is not there yet. */
  get comparison() {
    return store.state.comparison;
  }

  /** The ids of both results; null: they are not finished. @returns {[string, string] | null} */
  get finished() {
    const { comparison } = this;
    if (!comparison || !isOver(comparison.before) || !isOver(comparison.after)) return null;
    return [comparison.before.id, comparison.after.id];
  }

  /** The page's style sheet applies: there is no shadow root. @override */
  createRenderRoot() {
    return this;
  }

  /** @override */
  willUpdate() {
    this.hidden = !this.comparison;
  }
}
