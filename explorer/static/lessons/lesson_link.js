/**
 * `<lesson-link>`: a link to the step of a tour that teaches what `topic` names, a pass, a kind of layout or a
 * hint. Empty where no step does.
 *
 * @import { PropertyDeclarations } from "lit"
 * @import { TourRow } from "../core/types.js"
 */
import { LitElement } from "lit";
import { canCompile } from "../core/host.js";
import { store } from "../core/store.js";
import { html, nothing } from "../core/template.js";
import { tourRows } from "./tour_rows.js";

class LessonLink extends LitElement {
  /** @type {PropertyDeclarations} */
  static properties = { topic: {}, rows: { state: true } };

  constructor() {
    super();
    this.topic = "";
    /** @type {TourRow[]} */
    this.rows = [];
  }

  /** @override */
  createRenderRoot() {
    return this;
  }

  /** @override */
  connectedCallback() {
    super.connectedCallback();
    void tourRows().then((rows) => {
      this.rows = rows;
    });
  }

  /** @override */
  render() {
    const row = this.rows.find(({ teaches }) => this.topic in teaches);
    if (!row) return nothing;
    const number = row.teaches[this.topic];
    const lesson = `tour=${row.name}.${number}`;
    const open = (/** @type {MouseEvent} */ event) => {
      if (!canCompile || event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      store.update({ lesson });
    };
    return html`<a class="link" href="/#${lesson}" target=${canCompile ? nothing : "_blank"} rel="noopener" @click=${open}
      >Tour: ${row.title}, step ${number}</a>`;
  }
}

customElements.define("lesson-link", LessonLink);
