/**
 * `<pane-stage>`: the text of one stage, every line linked to the source line it comes from.
 *
 * What can be done with the text is in `../stage/`, one file each; here it is put together.
 *
 * @import { StageContent } from "../result.js"
 */
import { api } from "../api.js";
import { register } from "../commands.js";
import { make, setText } from "../dom.js";
import { duration, plural, size, stripeOfLine } from "../format.js";
import { piecesOf } from "../line_pieces.js";
import { Outline } from "../outline.js";
import { paneInUse } from "../pane_in_use.js";
import { RowMap } from "../row_map.js";
import { hover, pin, putCursor, show } from "../selection.js";
import { Breadcrumb } from "../stage/breadcrumb.js";
import { Filters, FILTERS, isOn, locationNote } from "../stage/filters.js";
import { Folding } from "../stage/folding.js";
import { Gauge } from "../stage/gauge.js";
import { Heat } from "../stage/heat.js";
import { LineRange } from "../stage/line_range.js";
import { Links } from "../stage/links.js";
import { LocationCard } from "../stage/location_card.js";
import { whyMissing } from "../stage/missing.js";
import { NameFollower } from "../stage/name_follower.js";
import { formatPaneState, parsePaneState } from "../stage/pane_state.js";
import { SearchBar } from "../stage/search_bar.js";
import { ViewMenu } from "../stage/view_menu.js";
import { hueClass, shownStage, stageTitle } from "../stages.js";
import { store } from "../store.js";
import { VirtualText } from "../virtual_text.js";

export class StagePane extends HTMLElement {
  /** @type {StageContent | null} */
  content = null;
  /** @type {(() => void)[]} */
  watches = [];
  state = "";
  view = parsePaneState("");
  /** @type {string[]} the whole text, once it was needed */
  lines = [];
  /** @type {Outline | null} */
  outline = null;
  folding = new Folding();
  filters = new Filters();
  range = new LineRange(this);
  menu = new ViewMenu(this);
  links = new Links(this);
  names = new NameFollower(this);
  search = new SearchBar(this);
  breadcrumb = new Breadcrumb(this);
  card = new LocationCard(this);
  gauge = new Gauge(this);
  heat = new Heat(this);
  text = new VirtualText({
    label: "Stage",
    draw: (row, line) => this.drawLine(row, line),
    point: (line) => this.point(line),
    choose: (line, add) => this.chooseLine(line, add),
    moved: () => this.moved(),
  });
  place = make("span", { class: "place" });
  facts = make("span", { class: "facts" });
  message = make("div", { class: "empty" });

  get paneState() {
    return this.state;
  }

  /** The name of the stage, and what is shown of it. @param {string} state */
  set paneState(state) {
    this.state = state;
    this.view = parsePaneState(state);
    this.menu.mark(this.view.hide.size + this.view.show.size > 0);
    if (!this.childElementCount) return;
    this.choose();
    if (!this.outline) return;
    this.folding.state = this.view.fold;
    this.showLines();
  }

  connectedCallback() {
    if (!this.childElementCount) this.build();
    this.watches = [
      store.watch(["result", "targets", "problem"], () => this.choose()),
      store.watch(["hovered", "pinned", "linked"], () => this.links.light()),
      store.watch(["pinned"], () => this.links.followPin()),
      store.watch(["shown"], () => this.links.followShown()),
      store.watch(["cursor"], () => this.followCursor()),
      store.watch(["heat"], () => this.heat.choose()),
    ];
  }

  disconnectedCallback() {
    for (const end of this.watches) end();
    this.card.point(0);
  }

  build() {
    const { scroller } = this.text;
    // Before the text itself sees it: a click on a fold's mark pins nothing.
    scroller.addEventListener("click", (event) => {
      if ((event.ctrlKey || event.metaKey) && this.names.clickDefinition(event)) return event.stopImmediatePropagation();
      if (!(event.target instanceof Element) || !event.target.closest(".fold, .folded")) return;
      event.stopImmediatePropagation();
      this.toggleFold(this.text.lineAt(event.clientY));
    }, { capture: true });
    scroller.addEventListener("click", (event) => void this.names.click(event));
    scroller.addEventListener("dblclick", (event) => show(this.content?.sourceLines(this.text.lineAt(event.clientY)) ?? [], this.id));
    for (const type of ["scroll", "pointerdown", "keydown", "pointerleave"]) scroller.addEventListener(type, () => this.card.point(0), { passive: true });
    this.text.element.addEventListener("keydown", (event) => this.key(event));
    this.range.listen();
    this.append(
      this.breadcrumb.element,
      this.text.element,
      this.message,
      this.card.element,
      make("div", { class: "pane-foot" }, this.place, this.names.note, ...this.search.elements, this.menu.button, this.facts),
      this.menu.menu,
    );
  }

  /** Show the stage of the result that is shown now. */
  choose() {
    const { result } = store.state;
    const name = shownStage(this.state);
    const content = result?.content(name) ?? null;
    this.explain(name, content !== null);
    if (content === this.content) return this.gauge.choose();
    const isAnother = content?.row.name !== this.content?.row.name;
    const wasFolded = this.folding.folded.size > 0 && content?.id !== this.content?.id;
    this.content = content;
    this.search.set([]);
    this.lines = [];
    this.outline = null;
    this.folding.clear();
    // What was folded of one result says nothing of another one's lines.
    if (wasFolded) this.keepFolds();
    this.gauge.show("", new Map());
    this.heat.choose();
    this.range.set(0, 0);
    this.names.set(null, []);
    this.breadcrumb.update();
    if (!content) {
      this.facts.replaceChildren();
      return;
    }
    this.className = hueClass(name);
    if (isAnother) this.text.scrollTop = 0;
    this.text.reset(content.row.lines, `${stageTitle(name)}, ${plural(content.row.lines, "line")}`);
    this.text.shown();
    this.followCursor();
    this.facts.replaceChildren(
      make("span", {}, `${plural(content.row.lines, "line")} · ${size(content.row.bytes)}`, make("span", { class: "milliseconds" }, ` · ${duration(content.row.milliseconds)}`)),
      make("a", { href: `${api.url(content.id, `stages/${name}`)}?raw=1`, target: "_blank", title: "What the tool printed" }, "raw"),
    );
    void content.loadLocations().then(() => {
      if (this.content !== content) return;
      const { linked } = store.state;
      for (const line of content.shownLines.keys()) linked.add(line);
      this.text.redraw();
      store.update({ linked });
      this.links.followPin();
      void this.read();
    });
    if (this.search.input.value) void this.search.find();
  }

  /** Say why there is no text, where there is none. @param {string} name @param {boolean} isThere */
  explain(name, isThere) {
    this.message.hidden = isThere;
    this.text.element.hidden = !isThere;
    if (!isThere) this.message.replaceChildren(make("p", {}, whyMissing(name)));
  }

  /** @param {HTMLElement} row @param {number} line */
  drawLine(row, line) {
    const content = this.content;
    if (!content) return;
    let [number, fold, stripe, gauge, code] = /** @type {HTMLElement[]} */ ([...row.children]);
    if (!number || !fold || !stripe || !gauge || !code) {
      number = make("span", { class: "number" });
      fold = make("span", { class: "fold", "aria-hidden": "true" });
      stripe = make("span", { class: "stripe" });
      gauge = make("span", { class: "gauge", "aria-hidden": "true" });
      code = make("span", { class: "code" });
      row.replaceChildren(number, fold, stripe, gauge, code);
    }
    number.textContent = String(line);
    const foldable = this.folding.at(line);
    const isFolded = this.folding.folded.has(line);
    fold.textContent = foldable ? (isFolded ? "▸" : "▾") : "";
    const sourceLine = content.sourceLines(line)[0];
    stripe.classList.toggle("is-blank", sourceLine === undefined);
    if (sourceLine !== undefined) stripe.style.setProperty("--stripe", stripeOfLine(sourceLine));
    this.gauge.draw(gauge, line);
    this.heat.draw(number, line);
    const text = content.line(line, () => {
      if (this.content !== content || this.text.rows.get(line) !== row) return;
      this.drawLine(row, line);
      this.text.schedule();
    });
    const words = text?.tokens.map(([, part]) => part).join("") ?? "";
    const marks = [
      ...this.cutsOf(line, words),
      ...this.filters.layoutsIn(words),
      ...(this.search.byLine.get(line) ?? []).map(({ from, to }) => ({ from, to, class: "is-match" })),
      ...(this.names.byLine.get(line) ?? []).map(({ from, to, isDefinition }) => ({ from, to, class: isDefinition ? "is-use is-definition" : "is-use" })),
    ];
    code.replaceChildren(...piecesOf(text?.tokens ?? [], marks));
    const note = this.view.show.has("locations") ? locationNote(content.locations, line) : "";
    if (note) code.append(make("span", { class: "location-note" }, `  ${note}`));
    const folded = row.children[5];
    if (foldable && isFolded) {
      const left = `… ${plural(foldable.to - foldable.from + 1, "line")}`;
      if (folded) setText(folded, left);
      else row.append(make("span", { class: "folded", title: "Unfold" }, left));
    } else folded?.remove();
    row.classList.toggle("is-lit", this.links.hovered.has(line));
    row.classList.toggle("is-pinned", this.links.pinned.has(line));
    row.classList.toggle("is-hit", this.search.byLine.has(line));
    row.classList.toggle("is-selected", this.range.has(line));
    row.classList.toggle("is-cursor", this.text.cursor === line);
  }

  /** What is shown instead of parts of a line; what is searched for is shown as it is. @param {number} line @param {string} text */
  cutsOf(line, text) {
    const hits = this.search.byLine.get(line) ?? [];
    const cuts = this.filters.cuts(text, this.content?.row.language ?? "", this.view);
    return cuts.filter(({ from, to }) => !hits.some((hit) => hit.from < to && from < hit.to));
  }

  /** Leave something out, or show it. @param {typeof FILTERS[number]} filter @param {boolean} isShown */
  setFilter({ name, byDefault }, isShown) {
    const changed = byDefault ? this.view.hide : this.view.show;
    if (isShown === byDefault) changed.delete(name);
    else changed.add(name);
    this.filters.exempt.clear();
    this.dispatchEvent(new CustomEvent("pane-state", { bubbles: true, detail: this.stateOf(this.view) }));
  }

  /** @param {import("../stage/pane_state.js").PaneState} view */
  stateOf(view) {
    return formatPaneState({ ...view, stage: view.stage || shownStage(this.state) });
  }

  /** Put what is folded into the address. */
  keepFolds() {
    this.view.fold = this.folding.state;
    this.state = this.stateOf(this.view);
    this.dispatchEvent(new CustomEvent("pane-state", { bubbles: true, detail: this.state }));
  }

  /** @param {number} line 0: none */
  point(line) {
    hover(line ? (this.content?.sourceLines(line) ?? []) : [], this.id);
    this.card.point(line);
    const locations = this.content?.locations;
    const indices = line ? (locations?.lines[line - 1] ?? []) : [];
    const frames = indices.length && locations ? (locations.locations[/** @type {number} */ (indices[0])] ?? []) : [];
    const words = frames.map(([file, at, , name], depth) => {
      const path = locations?.files[file];
      const where = path ? `${path.split("/").at(-1)}:${at}` : `line ${at}`;
      return depth === 0 ? `${where}${name ? ` in ${name}` : ""}` : `inlined at ${where}${name ? ` in ${name}` : ""}`;
    });
    const more = indices.length > 1 ? ` and ${plural(indices.length - 1, "other place")}` : "";
    const measured = [this.heat.words(line), this.gauge.words(line)].filter(Boolean).join(" · ");
    setText(this.place, line ? (words.join(", ") || "no source line") + more + (measured && ` · ${measured}`) : "");
    this.place.title = this.place.textContent;
  }

  /** The whole text and its structure, fetched when first needed. @returns {Promise<Outline | null>} null: another stage is shown by now, or it cannot be had */
  async read() {
    const content = this.content;
    if (!content) return null;
    const lines = await content.text();
    if (lines === null || this.content !== content) return null;
    if (!this.outline) {
      this.lines = lines;
      this.outline = new Outline(lines, content.row.language);
      this.folding.read(lines, this.outline, content.row.language);
      this.folding.state = this.view.fold;
      this.filters.read(lines);
      this.showLines();
    }
    return this.outline;
  }

  /** Pin the source lines of a line. @param {number} line @param {boolean} add */
  chooseLine(line, add) {
    pin(this.content?.sourceLines(line) ?? [], this.id, add);
  }

  /** Bring a line in sight, out of what hides it. @param {number} line @param {boolean} [always] to the middle, even if it is in sight */
  reveal(line, always = false) {
    const wasFolded = this.folding.uncover(line);
    if (wasFolded) this.keepFolds();
    if (!this.text.map.isShown(line)) this.filters.exempt.add(line);
    if (wasFolded || !this.text.map.isShown(line)) this.showLines();
    this.text.reveal(line, always);
  }

  /** Go to the line that another pane, or the address, has the cursor on. */
  followCursor() {
    const { cursor, origin } = store.state;
    if (!cursor || origin === this.id || !this.content || cursor.stage !== this.content.row.name) return;
    if (cursor.line === this.text.cursor || cursor.line > this.content.row.lines) return;
    this.goToLine(cursor.line, false);
  }

  /** Other lines are in sight, or the cursor is on another line. */
  moved() {
    this.gauge.choose();
    this.breadcrumb.update();
    const { cursor } = this.text;
    if (cursor && this.content && document.activeElement === this.text.scroller) putCursor(this.content.row.name, cursor, this.id);
  }

  /** Put the cursor on a line. @param {number} line @param {boolean} [isPointed] as if the mouse were there */
  goToLine(line, isPointed = true) {
    this.reveal(line);
    this.text.setCursor(line, isPointed);
  }

  /** Show what is not hidden. @param {number} [anchor] the line that stays where it is */
  showLines(anchor) {
    const total = this.content?.row.lines ?? 0;
    const hidden = new Uint8Array(total + 1);
    this.folding.hide(hidden);
    if (this.content) this.filters.hide(hidden, this.lines, this.content.row.language, this.view);
    this.text.showLines(new RowMap(total, hidden.includes(1) ? hidden : null), anchor);
    this.links.drawMarks();
    this.breadcrumb.update();
  }

  /** Fold or unfold what has its header at a line. @param {number} line */
  toggleFold(line) {
    if (!this.folding.at(line)) return;
    this.folding.set(line, !this.folding.folded.has(line));
    this.showLines(line);
    this.keepFolds();
  }

  /** Fold or unfold what is around the cursor. @param {boolean} isFolded */
  async foldHere(isFolded) {
    if (!(await this.read())) return;
    const line = this.text.cursor || this.text.topLine;
    const fold = isFolded ? this.folding.around(line, true) : this.folding.at(line);
    if (!fold) return;
    this.folding.set(fold.first, isFolded);
    if (isFolded) this.text.setCursor(fold.first);
    this.showLines(fold.first);
    this.keepFolds();
  }

  /** @param {boolean} isFolded */
  async foldAll(isFolded) {
    if (!(await this.read())) return;
    this.folding.setAll(isFolded);
    this.showLines();
    if (this.text.cursor) this.text.reveal(this.text.cursor);
    this.keepFolds();
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const isPlain = !event.ctrlKey && !event.altKey && !event.metaKey;
    if (event.target !== this.text.scroller) return;
    if (isPlain && event.key === "i" && this.text.cursor) this.card.point(this.text.cursor, true);
    else if (isPlain && (event.key === "[" || event.key === "]")) void this.foldHere(event.key === "[");
    else if (isPlain && (event.key === "{" || event.key === "}")) void this.foldAll(event.key === "{");
    else if ((isPlain && event.key === "/") || (event.key === "f" && (event.ctrlKey || event.metaKey))) this.search.open();
    else if (!this.names.key(event)) return;
    event.preventDefault();
  }
}

const inUse = () => paneInUse("pane-stage", StagePane);

register([
  { name: "fold-all", title: "Fold all", group: "Stage", run: () => void inUse()?.foldAll(true) },
  { name: "unfold-all", title: "Unfold all", group: "Stage", run: () => void inUse()?.foldAll(false) },
  { name: "copy", title: "Copy", group: "Stage", run: () => void inUse()?.range.copy(false) },
  { name: "copy-numbered", title: "Copy with line numbers", group: "Stage", run: () => void inUse()?.range.copy(true) },
  { name: "copy-all", title: "Copy all", group: "Stage", run: () => void inUse()?.range.copyAll() },
  ...FILTERS.map((filter) => ({
    name: `filter:${filter.name}`, title: `Show or hide: ${filter.title.toLowerCase()}`, group: "Stage",
    run: () => {
      const pane = inUse();
      if (pane) pane.setFilter(filter, !isOn(filter, pane.view));
    },
  })),
]);

customElements.define("pane-stage", StagePane);
