/**
 * The card under the mouse: the explanation of the operation of a line, and its source lines with their text. Inlined
 * code has the calls that led there. Its text is written by `./card_text.js`, which is loaded when the mouse is first
 * on a line.
 *
 * @import { StagePane } from "../stage.js"
 */
import { explanations } from "../../core/explanations.js";
import { languageFacts } from "../../core/languages.js";
import { html, nothing } from "../../core/template.js";
import { LINE_HEIGHT_PX } from "../../text/virtual_text.js";

const DELAY_MS = 380;
const GAP_PX = 4;

export class LocationCard {
  timer = 0;
  /** The line under the mouse; 0: none. */
  line = 0;
  /** The line of the card that is open; 0: it is closed. */
  openLine = 0;
  /** The vocabulary of the stage's language. @type {Map<string, string>} */
  words = new Map();
  /** How far the text was scrolled when the card was asked for. */
  scrollTop = 0;
  scrollLeft = 0;
  /** The module that writes the card; null: not loaded yet. @type {typeof import("./card_text.js") | null} */
  text = null;

  /** @param {StagePane} pane */
  constructor(pane) {
    this.pane = pane;
  }

  /** Open the card of a line soon, or at once. @param {number} line 0: close it @param {boolean} [now] */
  point(line, now = false) {
    clearTimeout(this.timer);
    this.close();
    this.line = line;
    if (!line) return;
    ({ scrollTop: this.scrollTop, scrollLeft: this.scrollLeft } = this.pane.text.scroller);
    void this.learn(line);
    if (now) void this.open();
    else this.timer = window.setTimeout(() => void this.open(), DELAY_MS);
  }

  /** Fetch the vocabulary. A card that is open already shows it, too. @param {number} line */
  async learn(line) {
    const { vocabulary } = languageFacts(this.pane.content?.row.language ?? "");
    this.words = vocabulary ? await explanations(vocabulary).catch(() => new Map()) : new Map();
    this.text ??= await import("./card_text.js").catch(() => null);
    if (this.openLine === line) this.refresh();
  }

  /** Add data that has arrived since the card was opened. */
  refresh() {
    if (this.openLine) void this.open();
  }

  /** Close the card where the text has moved since. The browser may report a scroll after the key that follows it. */
  scrolled() {
    const { scrollLeft, scrollTop } = this.pane.text.scroller;
    if (scrollTop !== this.scrollTop || scrollLeft !== this.scrollLeft) this.point(0);
  }

  close() {
    if (!this.openLine) return;
    this.openLine = 0;
    if (this.element?.matches(":popover-open")) this.element.hidePopover();
  }

  get element() {
    return /** @type {HTMLElement | null} */ (this.pane.querySelector(".location-card"));
  }

  async open() {
    const { line, pane } = this;
    this.openLine = line;
    pane.requestUpdate();
    await pane.updateComplete;
    const { element } = this;
    const row = pane.text.rows.get(line);
    if (this.openLine !== line || !element?.childElementCount || !row || !pane.isConnected) return;
    // One at a time, whichever pane it is about.
    for (const other of document.querySelectorAll(".location-card:popover-open")) {
      if (other instanceof HTMLElement && other !== element) other.hidePopover();
    }
    element.showPopover();
    const { top } = row.getBoundingClientRect();
    const { left, right } = pane.getBoundingClientRect();
    const { width, height } = element.getBoundingClientRect();
    const below = top + LINE_HEIGHT_PX + GAP_PX;
    const isBelow = below + height < innerHeight - GAP_PX;
    const y = isBelow ? below : Math.max(GAP_PX, top - height - GAP_PX);
    const x = Math.max(GAP_PX, Math.min(left + 56, right - width - GAP_PX, innerWidth - width - GAP_PX));
    element.style.top = `${Math.round(y)}px`;
    element.style.left = `${Math.round(x)}px`;
  }

  render() {
    return html`<div
      class="location-card"
      role="status"
      popover="manual"
      aria-label="Explanation and source of the line"
    >${this.openLine ? this.parts() : nothing}</div>`;
  }

  parts() {
    const { openLine, pane, text, words } = this;
    const heat = pane.heat.words(openLine);
    const { content, lines } = pane;
    return [
      text?.explanation(lines[openLine - 1] ?? "", content?.row.language ?? "", words) ?? nothing,
      text?.controlCode(lines, openLine, content?.row.language ?? "", pane.scoreboards.board) ?? nothing,
      heat ? html`<p class="heat-words">${heat}</p>` : nothing,
      (content?.locations && text?.places(content.locations, openLine)) ?? nothing,
    ];
  }
}
