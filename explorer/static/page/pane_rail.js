/** `<pane-rail>`: the panes by name, below the path of the stages. Each opens its pane. */
import { LitElement } from "lit";
import { follow } from "../core/pane.js";
import { scrollSideways } from "../core/dom.js";
import { store } from "../core/store.js";
import { html } from "../core/template.js";

class PaneRail extends LitElement {
  constructor() {
    super();
    follow(this, ["paneKinds", "inFront"], () => this.requestUpdate());
  }

  /** @override */
  createRenderRoot() {
    return this;
  }

  /** @override */
  connectedCallback() {
    super.connectedCallback();
    this.setAttribute("role", "navigation");
    this.setAttribute("aria-label", "Panes");
  }

  /** @override */
  render() {
    const { paneKinds, inFront } = store.state;
    return paneKinds
      .filter(({ per_stage }) => !per_stage)
      .map(
        ({ name, title, summary }) => html`<button type="button" class="rail-pane"
          aria-pressed=${String(inFront.includes(name))} title=${summary}
          @click=${() => this.open(name)}>${title}</button>`,
      );
  }

  /** In a narrow window, the rail shows the pane in front. @override */
  updated() {
    const pressed = this.querySelector("[aria-pressed=true]");
    if (pressed) scrollSideways(this, pressed);
  }

  /** @param {string} name */
  open(name) {
    this.dispatchEvent(new CustomEvent("pane-open", { bubbles: true, detail: name }));
  }
}

customElements.define("pane-rail", PaneRail);
