/** Tables that may be wider than the pane. */
import { marked } from "../glossary/marks.js";
import { html, nothing } from "./template.js";

/**
 * A table that scrolls separately from the pane, also by keyboard.
 * @param {string} label
 * @param {unknown} content the parts of the table
 */
export function scrolled(label, content) {
  return html`<div class="run-scroll" tabindex="0" role="group" aria-label=${label}>
    <table aria-label=${label}>${content}</table>
  </div>`;
}

/**
 * The head row of a table.
 * @param {readonly string[]} titles "": a column without a head
 * @param {(title: string) => string} [classOf] the class of a head
 */
export function heads(titles, classOf = () => "") {
  return html`<thead><tr>${titles.map((title) =>
    title ? html`<th scope="col" class=${classOf(title) || nothing}>${marked(title)}</th>` : html`<td></td>`,
  )}</tr></thead>`;
}
