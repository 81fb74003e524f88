/**
 * Terms of the glossary in texts of the page: an unobtrusive mark, and a card that explains the term.
 *
 * `<term-text>` draws a text of the page and marks each term once. A mark opens the card when the mouse rests on it or
 * when it gets the focus; Enter or a click moves the focus into the card. Modules of the first load do not import this
 * one.
 *
 * @import { PropertyDeclarations } from "lit"
 * @import { GlossaryTerm } from "../core/types.js"
 */
import { LitElement } from "lit";
import { get } from "../core/api.js";
import { isFile } from "../core/host.js";
import { html, nothing, prose, render } from "../core/template.js";
import { allTerms, pieces, useTerms } from "./pieces.js";

const CARD = "term-card";
const OPEN_DELAY_MS = 250;
const CLOSE_DELAY_MS = 200;
const GAP_PX = 4;

/** @type {Promise<void> | null} */
let loading = null;

/** Fetch the glossary once. Without it, texts have no marks. */
export function loadTerms() {
  loading ??= get("/glossary").then(
    (/** @type {GlossaryTerm[]} */ found) => useTerms(found),
    () => {
      loading = null;
    },
  );
  return loading;
}

/** Draw a text of the page with its terms marked; names between backticks are code. @param {string} text */
export function marked(text) {
  return html`<term-text .text=${text}></term-text>`;
}

class TermText extends LitElement {
  /** @type {PropertyDeclarations} */
  static properties = { text: { attribute: false } };

  constructor() {
    super();
    this.text = "";
  }

  /** @override */
  createRenderRoot() {
    return this;
  }

  /** @override */
  connectedCallback() {
    super.connectedCallback();
    if (!allTerms().length) void loadTerms().then(() => this.requestUpdate());
  }

  /** @override */
  render() {
    const seen = /** @type {Set<string>} */ (new Set());
    const parts = this.text.split("`");
    return parts.map((part, index) => {
      const drawn = drawnPieces(pieces(part, seen, parts.length === 1));
      return index % 2 ? html`<code>${drawn}</code>` : drawn;
    });
  }
}

/** A line may break before and behind a mark, but not before the rest of its word. */
const END_OF_WORD = /^[^\s\w(]\S*/;

/** @param {ReturnType<typeof pieces>} found */
function drawnPieces(found) {
  return found.map((piece, index) => {
    if (typeof piece === "string")
      return typeof found[index - 1] === "object" ? piece.replace(END_OF_WORD, "") : piece;
    const next = found[index + 1];
    const end = typeof next === "string" && next.match(END_OF_WORD)?.[0];
    return end ? html`<span class="term-end">${mark(piece)}${end}</span>` : mark(piece);
  });
}

customElements.define("term-text", TermText);

/** @param {{text: string, term: GlossaryTerm}} piece */
function mark({ text, term }) {
  return html`<button
    type="button"
    class="term"
    aria-description="Term of the glossary"
    @pointermove=${(/** @type {PointerEvent} */ event) =>
      event.pointerType === "mouse" && openSoon(event, term)}
    @pointerleave=${closeSoon}
    @focus=${(/** @type {FocusEvent} */ event) => open(event, term)}
    @blur=${closeSoon}
    @click=${(/** @type {MouseEvent} */ event) => enter(event, term)}
    @keydown=${closeByKey}
  >${text}</button>`;
}

let timer = 0;
/** The mark that the card belongs to. @type {HTMLElement | null} */
let owner = null;

/**
 * Open the card when the mouse rests on a mark. A mark that appears under a resting mouse does not open the card.
 * @param {Event} event @param {GlossaryTerm} term
 */
function openSoon({ currentTarget }, term) {
  clearTimeout(timer);
  if (owner === currentTarget) return;
  timer = window.setTimeout(() => show(/** @type {HTMLElement} */ (currentTarget), term), OPEN_DELAY_MS);
}

/** @param {Event} event @param {GlossaryTerm} term */
function open({ currentTarget }, term) {
  show(/** @type {HTMLElement} */ (currentTarget), term);
}

/** Open the card and move the focus into it. @param {Event} event @param {GlossaryTerm} term */
function enter(event, term) {
  open(event, term);
  // The element around the text has commands for these events.
  event.stopPropagation();
  card().querySelector("a")?.focus();
}

function closeSoon() {
  clearTimeout(timer);
  timer = window.setTimeout(() => {
    const element = card();
    if (!element.matches(":hover") && !element.contains(document.activeElement)) hide();
  }, CLOSE_DELAY_MS);
}

/** @param {KeyboardEvent} event */
function closeByKey(event) {
  if (event.key !== "Escape" || !card().matches(":popover-open")) return;
  event.stopPropagation();
  if (card().contains(document.activeElement)) owner?.focus();
  hide();
}

function hide() {
  clearTimeout(timer);
  card().hidePopover();
  owner?.removeAttribute("aria-describedby");
  owner = null;
}

/** The only card, at the end of the document. @returns {HTMLElement} */
function card() {
  const known = document.getElementById(CARD);
  if (known) return known;
  const element = document.createElement("div");
  element.id = CARD;
  element.className = CARD;
  element.popover = "manual";
  element.setAttribute("role", "dialog");
  element.setAttribute("aria-label", "Glossary");
  element.addEventListener("pointerenter", () => clearTimeout(timer));
  element.addEventListener("pointerleave", closeSoon);
  element.addEventListener("focusout", closeSoon);
  element.addEventListener("keydown", closeByKey);
  document.addEventListener("scroll", () => owner && !element.contains(document.activeElement) && hide(), {
    capture: true,
    passive: true,
  });
  document.body.append(element);
  return element;
}

/** @param {HTMLElement} button @param {GlossaryTerm} term */
function show(button, term) {
  clearTimeout(timer);
  if (!button.isConnected) return;
  const element = card();
  owner?.removeAttribute("aria-describedby");
  owner = button;
  render(content(term), element);
  element.showPopover();
  button.setAttribute("aria-describedby", CARD);
  const { left, top, bottom } = button.getBoundingClientRect();
  const { width, height } = element.getBoundingClientRect();
  const isBelow = bottom + GAP_PX + height < innerHeight - GAP_PX;
  element.style.top = `${Math.round(isBelow ? bottom + GAP_PX : Math.max(GAP_PX, top - height - GAP_PX))}px`;
  element.style.left = `${Math.round(Math.max(GAP_PX, Math.min(left, innerWidth - width - GAP_PX)))}px`;
}

/** @param {GlossaryTerm} term */
function content({ name, title, text, source }) {
  return html`<b>${title}</b>
    <p>${prose(text)}</p>
    <p class="source">${
      isFile ? nothing : html`<a href=${`/glossary#${name}`} target="_blank" rel="noopener">Glossary</a> · `
    }<a href=${source.url} target="_blank" rel="noopener noreferrer">${source.title}</a></p>`;
}
