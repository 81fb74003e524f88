/**
 * `<pane-stage>`: the text of one stage, every line linked to the source line it comes from.
 *
 * Its state is a stage, then its hidden, shown and folded parts (`./stage/pane_state.js`). The parts of the pane are
 * in `./stage/`; the lines are drawn by `VirtualText`, the rest by Lit.
 *
 * @import { StageContent } from "../core/result.js"
 * @import { TextLine } from "../core/types.js"
 * @import { Outline as Regions } from "../text/outline.js"
 * @import { Reading } from "./stage/gauge.js"
 * @import { Sampled } from "./stage/heat.js"
 * @import { PaneState } from "./stage/pane_state.js"
 */
import { api } from "../core/api.js";
import { make, setText } from "../core/dom.js";
import { duration, plural, size, stripeOfLine } from "../core/format.js";
import { emptyPane, follow, Loaded } from "../core/pane.js";
import { paneInUse } from "../core/pane_in_use.js";
import { hover, pin, putCursor, show } from "../core/selection.js";
import { hueClass, shownStage, stageTitle } from "../core/stages.js";
import { store } from "../core/store.js";
import { html, nothing } from "../core/template.js";
import { piecesOf } from "../text/line_pieces.js";
import { Outline } from "../text/outline.js";
import { RowMap } from "../text/row_map.js";
import { TextPane } from "../text/text_pane.js";
import { PAPER } from "../text/virtual_text.js";
import { breadcrumb } from "./stage/breadcrumb.js";
import { registerCommands } from "./stage/commands.js";
import { Editing } from "./stage/editing.js";
import { FILTERS, Filters, filtersOf, isOn, locationNote } from "./stage/filters.js";
import { FoldActions } from "./stage/fold_actions.js";
import { Folding } from "./stage/folding.js";
import { drawGauge, readingsOf } from "./stage/gauge.js";
import { Heat, samplesOf } from "./stage/heat.js";
import { Lineage } from "./stage/lineage.js";
import { Links } from "./stage/links.js";
import { LocationCard } from "./stage/location_card.js";
import { whyMissing } from "./stage/missing.js";
import { NameFollower } from "./stage/name_follower.js";
import { formatPaneState, parsePaneState } from "./stage/pane_state.js";
import { placeWords } from "./stage/places.js";
import { Scoreboards } from "./stage/scoreboards.js";
import { TextUpdate } from "./stage/text_update.js";
import { ViewMenu } from "./stage/view_menu.js";

/** @type {Map<number, Reading>} */
const NO_READINGS = new Map();

export class StagePane extends TextPane {
  static slices = /** @type {(typeof TextPane)["slices"]} */ (["result", "targets", "problem", "heat"]);
  static properties = {
    content: { state: true },
    outline: { state: true },
    readings: { state: true },
    samples: { state: true },
    pointed: { state: true },
  };

  view = parsePaneState("");
  folding = new Folding();
  folds = new FoldActions(this);
  filters = new Filters();
  menu = new ViewMenu(this);
  links = new Links(this);
  lineage = new Lineage(this);
  editing = new Editing(this);
  names = new NameFollower(this);
  card = new LocationCard(this);
  heat = new Heat([]);
  textUpdate = new TextUpdate(this);
  /** The line whose regions the breadcrumb shows. */
  crumbLine = 1;
  frame = 0;
  /** Live registers by line. They are queried when a stage that shows them comes into sight. */
  registers = new Loaded(
    this,
    () => {
      const { content, text } = this;
      const isLookedAt =
        content && this.shows("registers") && this.isFinished && text.scroller.clientHeight > 0;
      return isLookedAt ? [content.id] : null;
    },
    async (id) => readingsOf(await api.analysis(id, "registers")),
  );
  scoreboards = new Scoreboards(this);
  /**
   * The content of the code of each row: the line, its marks, and added text.
   * @type {WeakMap<HTMLElement, {text: TextLine | null, added: string}>}
   */
  drawn = new WeakMap();

  constructor() {
    super();
    /** @type {StageContent | null} */
    this.content = null;
    /** The structure of the text, once it was needed. @type {Regions | null} */
    this.outline = null;
    this.readings = NO_READINGS;
    /** @type {Sampled[] | null} */
    this.samples = null;
    /** The line under the mouse, or that of the cursor; 0: none. */
    this.pointed = 0;
    follow(this, ["run"], () => {
      if (this.latest !== this.textUpdate.next) this.requestUpdate();
    });
    follow(this, ["hovered", "pinned", "linked"], () => this.links.light());
    follow(this, ["pinned"], () => this.links.followPin());
    follow(this, ["shown"], () => this.links.followShown());
    follow(this, ["lineage"], () => this.links.lightOperation());
    follow(this, ["cursor", "secondCursor"], () => this.followCursor());
    this.listen();
  }

  /** @override */
  disconnectedCallback() {
    super.disconnectedCallback();
    this.card.point(0);
  }

  /** Listen to the text, before or after the text itself does. */
  listen() {
    const { scroller } = this.text;
    // Before the text itself sees it: a click on a fold's mark pins nothing.
    scroller.addEventListener(
      "click",
      (event) => {
        if ((event.ctrlKey || event.metaKey) && this.names.clickDefinition(event))
          return event.stopImmediatePropagation();
        if (!(event.target instanceof Element) || !event.target.closest(".fold, .folded")) return;
        event.stopImmediatePropagation();
        this.folds.toggle(this.text.lineAt(event.clientY));
      },
      { capture: true },
    );
    scroller.addEventListener("click", (event) => void this.names.click(event));
    scroller.addEventListener("dblclick", (event) => {
      const line = this.text.lineAt(event.clientY);
      void this.content?.loadLocations().then(() => show(this.content?.sourceLines(line) ?? [], this.id));
    });
    scroller.addEventListener("scroll", () => this.card.scrolled(), { passive: true });
    for (const type of ["pointerdown", "keydown", "pointerleave"])
      scroller.addEventListener(type, () => this.card.point(0), { passive: true });
    this.text.element.addEventListener("keydown", (event) => this.key(event));
  }

  /** @param {Map<string, unknown>} changed @override */
  willUpdate(changed) {
    const { heat } = store.state;
    const name = shownStage(this.paneState);
    this.view = parsePaneState(this.paneState);
    this.textUpdate.show(this.latest);
    this.lineage.follow();
    this.samples = samplesOf(heat, name);
    if (changed.has("samples")) this.heat = new Heat(this.samples ?? []);
    this.readings = this.registers.answer ?? NO_READINGS;
    const classes = [
      this.content && hueClass(name),
      this.heat.lines.size > 0 && "has-heat",
      this.shows("registers") && this.registers.answer?.size !== 0 && "has-gauge",
      this.shows("scoreboards") && "has-scoreboards",
    ];
    this.className = classes.filter(Boolean).join(" ");
  }

  /** @override */
  render() {
    const { content } = this;
    const name = shownStage(this.paneState);
    return html`${breadcrumb(this.outline, this.crumbLine, stageTitle(name), (line) => {
      this.goToLine(line);
      this.text.scroller.focus();
    })}
      ${this.editing.render() ?? (content ? this.text.element : emptyPane(whyMissing(name)))}
      ${this.card.render()} ${this.lineage.render()}
      <div class="pane-foot">
        ${this.place()} ${this.names.render()} ${this.search.render()} ${this.lineage.button()} ${this.editing.button()}
        ${content?.syntax.filters?.control ? this.menu.codes() : nothing} ${this.menu.button()}
        ${content?.row.name === "ptx" ? html`<button type="button" class="toggle" title="PTX as C that is quicker to read" @click=${() => this.openBeside("ptx_as_c")}>as C</button>` : nothing}
        <span class="facts">${content ? facts(content) : nothing}</span>
      </div>
      ${this.menu.menu()}`;
  }

  /** @param {Map<string, unknown>} changed @override */
  updated(changed) {
    if (changed.has("content")) {
      this.begin(/** @type {StageContent | null | undefined} */ (changed.get("content")) ?? null);
    } else if (changed.has("paneState") && this.outline) {
      this.folding.state = this.view.fold;
      this.showLines();
    }
    this.lineage.link.place();
    if (changed.has("samples") || changed.has("readings")) {
      this.text.redraw();
      this.links.drawMarks();
    }
    this.scoreboards.draw();
  }

  /** Begin with another text. @param {StageContent | null} previous */
  begin(previous) {
    const { content, textUpdate } = this;
    if (content && textUpdate.step) return textUpdate.apply();
    textUpdate.tint(new Set());
    const wasFolded = this.folding.folded.size > 0 && content?.id !== previous?.id;
    this.search.clear();
    this.lines = [];
    this.outline = null;
    this.folding.clear();
    // Folds of one result do not apply to the lines of another.
    if (wasFolded) this.folds.keep();
    this.range.set(0, 0);
    this.names.set(null, []);
    if (!content) return;
    const { lines, name } = content.row;
    if (name !== previous?.row.name) this.text.scrollTop = 0;
    this.text.reset(lines, `${stageTitle(name)}, ${plural(lines, "line")}`);
    this.text.shown();
    this.links.lightOperation();
    this.followCursor();
    // Folds that are applied later would move the lines under the mouse. With a pin, they come above its place.
    if (store.state.pinned.length === 0) void this.read();
    void content.loadLocations().then(() => {
      if (this.content !== content) return;
      this.text.redraw();
      this.link();
      this.links.followPin();
      // The mouse may have entered before the locations arrived.
      if (this.pointed) this.light();
      void this.read().then(() => {
        this.links.followPin();
        this.card.refresh();
      });
    });
    void this.search.finish();
  }

  /** Tell the other panes from which source lines something of this stage comes. */
  link() {
    const { linked } = store.state;
    for (const line of this.content?.shownLines.keys() ?? []) linked.add(line);
    store.update({ linked });
  }

  /** The stage of the live compilation that is under way, or else of the result. */
  get latest() {
    const { result, run } = store.state;
    const name = shownStage(this.paneState);
    const coming = run?.result.isLive ? run.result.content(name) : null;
    return coming ?? result?.content(name) ?? null;
  }

  /** Whether the result of the content is finished. */
  get isFinished() {
    const { result } = store.state;
    return Boolean(result?.finished && result.id === this.content?.id);
  }

  /** The locations and the measurements of the line under the mouse. */
  place() {
    const { content, pointed } = this;
    const measured = [this.heat.words(pointed), this.readings.get(pointed)?.words];
    const words = [content && placeWords(content.locations, pointed), ...measured]
      .filter(Boolean)
      .join(" · ");
    return pointed
      ? html`<span class="place" title=${words}>${words}</span>`
      : html`<span class="place"></span>`;
  }

  /** @param {HTMLElement} row @param {number} line @override */
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
    setText(number, String(line));
    const foldable = this.folding.at(line);
    const isFolded = this.folding.folded.has(line);
    setText(fold, foldable ? (isFolded ? "▸" : "▾") : "");
    const sourceLine = content.sourceLines(line)[0];
    stripe.classList.toggle("is-blank", sourceLine === undefined);
    if (sourceLine !== undefined) stripe.style.setProperty("--stripe", stripeOfLine(sourceLine));
    drawGauge(gauge, this.readings.get(line));
    this.heat.draw(number, line);
    const text = content.line(line, () => {
      if (this.content !== content || this.text.rows.get(line) !== row) return;
      this.drawLine(row, line);
      this.text.schedule();
    });
    // Paper does not wait for the marks of the lines that were never in sight.
    const plain = !text && PAPER.matches ? (this.lines[line - 1] ?? "") : "";
    const words = text?.tokens.map(([, part]) => part).join("") ?? plain;
    const marks = [
      ...this.cutsOf(line, words),
      ...this.filters.layoutsIn(words),
      ...(this.search.byLine.get(line) ?? []).map(({ from, to }) => ({ from, to, class: "is-match" })),
      ...(this.names.byLine.get(line) ?? []).map(({ from, to, isDefinition }) => ({
        from,
        to,
        class: isDefinition ? "is-use is-definition" : "is-use",
      })),
    ];
    const note = this.view.show.has("locations") ? locationNote(content.locations, line) : "";
    // Locations, the structure and registers arrive one after the other, and change the code of few lines.
    const added = JSON.stringify([marks, note, plain]);
    const drawn = this.drawn.get(code);
    if (drawn?.text !== text || drawn.added !== added) {
      this.drawn.set(code, { text, added });
      code.replaceChildren(...piecesOf(text?.tokens ?? (plain ? [["", plain]] : []), marks));
      if (note) code.append(make("span", { class: "location-note" }, `  ${note}`));
    }
    const folded = row.querySelector(".folded");
    if (foldable && isFolded) {
      const count = foldable.to - foldable.from + 1;
      const left = foldable.title ? `… ${count} more ${foldable.title}` : `… ${plural(count, "line")}`;
      if (folded) setText(folded, left);
      else row.append(make("span", { class: "folded", title: "Unfold" }, left));
    } else folded?.remove();
    row.classList.toggle("is-folded", Boolean(foldable && isFolded));
    row.classList.toggle("is-pinned", this.links.pinned.has(line));
    row.classList.toggle("is-operation", this.links.operation.has(line));
    this.drawMarked(row, line);
    row.classList.toggle("is-new", this.textUpdate.tinted.has(line));
  }

  /**
   * Return the replacements of parts of a line. Matches of the search are not replaced.
   * @param {number} line
   * @param {string} text
   */
  cutsOf(line, text) {
    const hits = this.search.byLine.get(line) ?? [];
    const cuts = this.content ? this.filters.cuts(text, this.content.syntax, this.view) : [];
    return cuts.filter(({ from, to }) => !hits.some((hit) => hit.from < to && from < hit.to));
  }

  /** Whether the text has something that is shown, by the name of its filter. @param {string} name */
  shows(name) {
    const { content, view } = this;
    return Boolean(
      content && filtersOf(content.syntax).some((each) => each.name === name && isOn(each, view)),
    );
  }

  /** Hide something, or show it. @param {typeof FILTERS[number]} filter @param {boolean} isShown */
  setFilter({ name, byDefault }, isShown) {
    const changed = byDefault ? this.view.hide : this.view.show;
    if (isShown === byDefault) changed.delete(name);
    else changed.add(name);
    this.filters.exempt.clear();
    this.keepState(this.stateOf(this.view));
  }

  /** @param {PaneState} view */
  stateOf(view) {
    return formatPaneState({ ...view, stage: view.stage || shownStage(this.paneState) });
  }

  /** @override */
  drawMarks() {
    this.links.drawMarks();
  }

  /** @param {number} line 0: none @override */
  point(line) {
    this.pointed = line;
    // It reads how far the text is scrolled: before the lines change, the browser has nothing to lay out for it.
    this.card.point(line);
    this.light();
  }

  /** Highlight the source lines of the line under the mouse or the cursor. */
  light() {
    hover(this.pointed ? (this.content?.sourceLines(this.pointed) ?? []) : [], this.id);
    this.requestUpdate();
  }

  /**
   * The whole text and its structure, fetched when first needed.
   * @returns {Promise<Outline | null>} null: another stage is shown by now, or it cannot be had
   * @override
   */
  async read() {
    const content = this.content;
    if (!content) return null;
    const lines = await content.text();
    if (lines === null || this.content !== content) return null;
    if (!this.outline) {
      this.lines = lines;
      this.outline = new Outline(lines, content.syntax);
      this.folding.read(lines, this.outline, content.syntax);
      this.folding.state = this.view.fold;
      this.filters.read(lines);
      const { cursor } = this.text;
      this.showLines();
      // The line that was gone to before the folds were known.
      if (cursor && !this.text.map.isShown(cursor)) this.goToLine(cursor, false);
    }
    return this.outline;
  }

  /** Pin the source lines of a line. @param {number} line @param {boolean} add @override */
  choose(line, add) {
    if (this.lineage.line) this.lineage.show(line);
    void this.content?.loadLocations().then(() => pin(this.content?.sourceLines(line) ?? [], this.id, add));
  }

  /**
   * Show a line, and unfold the regions that hide it.
   * @param {number} line
   * @param {boolean} [always] to the middle, even if the line is visible
   * @override
   */
  reveal(line, always = false) {
    const wasFolded = this.folding.uncover(line);
    if (wasFolded) this.folds.keep();
    if (!this.text.map.isShown(line)) this.filters.exempt.add(line);
    if (wasFolded || !this.text.map.isShown(line)) this.showLines();
    this.text.reveal(line, always);
  }

  /** Go to the line that another pane, the address or a tour has put the cursor on. */
  followCursor() {
    const { cursor, secondCursor, origin } = store.state;
    if (origin === this.id || !this.content) return;
    const { name, lines } = this.content.row;
    const line = [cursor, secondCursor].find((each) => each?.stage === name)?.line ?? 0;
    if (line && line !== this.text.cursor && line <= lines) this.goToLine(line, false);
  }

  /** Other lines are in sight, or the cursor is on another line. This happens often. @override */
  moved() {
    const { cursor } = this.text;
    this.lineage.link.place();
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      this.crumbLine = this.text.isInSight(this.text.cursor) ? this.text.cursor : this.text.topLine;
      this.requestUpdate();
    });
    if (cursor && this.content && document.activeElement === this.text.scroller)
      putCursor(this.content.row.name, cursor, this.id);
  }

  /**
   * Put the cursor on a line.
   * @param {number} line
   * @param {boolean} [isPointed] as if the mouse were there
   */
  goToLine(line, isPointed = true) {
    this.reveal(line);
    this.text.setCursor(line, isPointed);
  }

  /** Show the lines that are not hidden. @param {number} [anchor] the line that stays where it is */
  showLines(anchor) {
    this.text.showLines(this.rowMap(), anchor);
    this.scoreboards.draw();
    this.links.drawMarks();
  }

  /** The rows of the lines that are not hidden. */
  rowMap() {
    const total = this.content?.row.lines ?? 0;
    const hidden = new Uint8Array(total + 1);
    this.folding.hide(hidden);
    if (this.content) this.filters.hide(hidden, this.lines, this.content.syntax, this.view);
    return new RowMap(total, hidden.includes(1) ? hidden : null);
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const isPlain = !event.ctrlKey && !event.altKey && !event.metaKey;
    if (event.target !== this.text.scroller) return;
    if (isPlain && event.key === "i" && this.text.cursor) this.card.point(this.text.cursor, true);
    else if (isPlain && event.key === "o") this.lineage.toggle();
    else if (isPlain && (event.key === "[" || event.key === "]")) void this.folds.foldHere(event.key === "[");
    else if (isPlain && (event.key === "{" || event.key === "}")) void this.folds.foldAll(event.key === "{");
    else if (!this.names.key(event)) return;
    event.preventDefault();
  }
}

/** @param {StageContent} content */
function facts({ id, row: { bytes, lines, milliseconds, name } }) {
  return html`<span
      >${plural(lines, "line")} · ${size(bytes)}<span class="milliseconds"> · ${duration(milliseconds)}</span></span>
    <a href="${api.url(id, `stages/${name}`)}?raw=1" target="_blank" title="Unmodified output of the tool">raw</a>`;
}

registerCommands(() => paneInUse(StagePane));

customElements.define("pane-stage", StagePane);
