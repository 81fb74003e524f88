/**
 * The card under the mouse: what the operation of a line does, and every source line that it comes from, with its
 * text; of what was inlined, the calls that led there.
 *
 * @import { StagePane } from "../panes/stage.js"
 */
import { make, prose } from "../dom.js";
import { plural, stripeOfLine } from "../format.js";
import { explanationsOf, learn } from "./explanation.js";
import { store } from "../store.js";
import { LINE_HEIGHT_PX } from "../virtual_text.js";

const DELAY_MS = 380;
const MOST_LOCATIONS = 8;
const GAP_PX = 4;

export class LocationCard {
  timer = 0;
  line = 0;

  /** @param {StagePane} pane */
  constructor(pane) {
    this.pane = pane;
    this.element = make("div", { class: "location-card", role: "status", popover: "manual", "aria-label": "What the line does, and where it comes from" });
  }

  /** Show the card of a line soon, or at once. @param {number} line 0: none @param {boolean} [now] */
  point(line, now = false) {
    clearTimeout(this.timer);
    this.hide();
    this.line = line;
    if (line && this.pane.content) void this.learn(line, this.pane.content.row.language);
    if (!line) return;
    if (now) this.open();
    else this.timer = window.setTimeout(() => this.open(), DELAY_MS);
  }

  /** Fetch the words that the card of a line may want, and show them if they come late. @param {number} line @param {string} language */
  async learn(line, language) {
    const areNew = await learn(language);
    if (areNew && this.line === line && this.element.matches(":popover-open")) this.open();
  }

  hide() {
    if (this.element.matches(":popover-open")) this.element.hidePopover();
  }

  open() {
    const content = this.draw();
    const row = this.pane.text.rows.get(this.line);
    if (!content || !row || !this.pane.isConnected) return;
    // One at a time, whichever pane it is about.
    for (const other of document.querySelectorAll(".location-card:popover-open")) /** @type {HTMLElement} */ (other).hidePopover();
    this.element.replaceChildren(...content);
    this.element.showPopover();
    const { top } = row.getBoundingClientRect();
    const { left, right } = this.pane.getBoundingClientRect();
    const { width, height } = this.element.getBoundingClientRect();
    const below = top + LINE_HEIGHT_PX + GAP_PX;
    const isBelow = below + height < innerHeight - GAP_PX;
    this.element.style.top = `${Math.round(isBelow ? below : Math.max(GAP_PX, top - height - GAP_PX))}px`;
    this.element.style.left = `${Math.round(Math.max(GAP_PX, Math.min(left + 56, right - width - GAP_PX, innerWidth - width - GAP_PX)))}px`;
  }

  /** @returns {Node[] | null} null: it comes from nowhere */
  draw() {
    const explained = this.explanations();
    const places = this.places();
    const heat = this.pane.heat.words(this.line);
    const parts = [explained, heat ? make("p", { class: "heat-words" }, heat) : null, ...(places ?? [])].filter((part) => part !== null);
    return parts.length ? parts : null;
  }

  /** What the line's operation does, and under it what its modifiers say. */
  explanations() {
    const { content, lines } = this.pane;
    const found = content ? explanationsOf(lines[this.line - 1] ?? "", content.row.language) : [];
    if (found.length === 0) return null;
    const row = (/** @type {{word: string, text: string}} */ { word, text }) => [make("dt", {}, word), make("dd", {}, ...prose(text))];
    return make("dl", { class: "explanation" }, ...found.flatMap(row));
  }

  /** @returns {Node[] | null} null: it comes from nowhere */
  places() {
    const locations = this.pane.content?.locations;
    const source = store.state.result?.document.request.source.split("\n") ?? [];
    const indices = locations?.lines[this.line - 1] ?? [];
    if (!locations || indices.length === 0) return null;
    /** @type {Map<string, import("../types.js").FrameRow[]>} one of those that differ in their columns only */
    const chains = new Map();
    for (const index of indices) {
      const frames = locations.locations[index] ?? [];
      chains.set(frames.map(([file, line]) => `${file}:${line}`).join(), frames);
    }
    const shown = [...chains.values()].slice(0, MOST_LOCATIONS);
    const more = chains.size - shown.length;
    return [
      ...(chains.size > 1 ? [make("p", { class: "hint" }, `Line ${this.line} comes from ${chains.size} places`)] : []),
      ...shown.map((frames) => make("ol", {}, ...frames.map((frame, depth) => this.frame(frame, depth, locations.files, source)))),
      ...(more > 0 ? [make("p", { class: "hint" }, `and ${plural(more, "other place")}`)] : []),
    ];
  }

  /** @param {import("../types.js").FrameRow} frame @param {number} depth @param {string[]} files @param {string[]} source */
  frame([file, line, , name], depth, files, source) {
    const path = files[file] ?? "";
    const stripe = make("span", { class: "stripe" });
    if (path) stripe.classList.add("is-blank");
    else stripe.style.setProperty("--stripe", stripeOfLine(line));
    return make(
      "li",
      {},
      make("span", { class: "where" }, `${depth ? "called from " : ""}${path ? `${path.split("/").at(-1)}:${line}` : `line ${line}`}${name ? ` in ${name}` : ""}`),
      path ? null : stripe,
      path ? null : make("code", {}, (source[line - 1] ?? "").trim()),
    );
  }
}
