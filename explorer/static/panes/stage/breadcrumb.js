/**
 * The regions around a line of a stage pane: function › loop › block. Each is a button that goes to its header.
 *
 * @import { Outline } from "../../text/outline.js"
 */
import { grouped } from "../../core/format.js";
import { html, nothing } from "../../core/template.js";

/**
 * @param {Outline | null} outline null: the text is not there yet
 * @param {number} line
 * @param {string} title of the stage
 * @param {(line: number) => void} goTo
 */
export function breadcrumb(outline, line, title, goTo) {
  const path = outline?.path(line) ?? [];
  return html`<nav class="breadcrumb" aria-label="Where this is in ${title}">${path.map(
    (region, depth) => html`${
      depth ? html`<span class="crumb-then" aria-hidden="true">›</span>` : nothing
    }<button
      type="button"
      class="crumb"
      title="${title} line ${grouped(region.first)}: ${region.title}"
      @click=${() => goTo(region.first)}
    >${region.title}</button>`,
  )}${outline && path.length === 0 ? html`<span class="crumb">top of the file</span>` : nothing}</nav>`;
}
