/**
 * The step from one text of a stage to the next while its source is typed: the lines that stay keep their place.
 *
 * @import { StageContent } from "../../core/result.js"
 * @import { StagePane } from "../stage.js"
 */
import { plural } from "../../core/format.js";
import { putCursor } from "../../core/selection.js";
import { stageTitle } from "../../core/stages.js";
import { store } from "../../core/store.js";
import { Outline } from "../../text/outline.js";

/** How long new lines are tinted; `stage.css` has the same time. */
const TINTED_MS = 2000;

export class TextUpdate {
  /** The content that is to be shown. @type {StageContent | null} */
  next = null;
  /**
   * Its text, and the matching of its lines with the shown content; null: the texts are not related.
   * @type {(ReturnType<typeof import("../../text/line_matching.js").matchLines> & {lines: string[]}) | null}
   */
  step = null;
  /** The lines that are tinted. @type {Set<number>} */
  tinted = new Set();
  timer = 0;

  /** @param {StagePane} pane */
  constructor(pane) {
    this.pane = pane;
  }

  /**
   * Show a content: at once, or for a live compilation when all visible lines have arrived.
   * @param {StageContent | null} next
   */
  show(next) {
    const { pane } = this;
    if (next === this.next && (next || !pane.content)) return;
    const { content } = pane;
    const isUpdate =
      next &&
      content &&
      (next.isLive || content.isLive) &&
      next.row.name === content.row.name &&
      next !== content;
    // A hidden pane is updated when it becomes visible.
    if (isUpdate && !pane.text.scroller.clientHeight && pane.isConnected) return;
    this.next = next;
    this.step = null;
    if (isUpdate) void this.prepare(content, next);
    else pane.content = next;
  }

  /** @param {StageContent} content @param {StageContent} next */
  async prepare(content, next) {
    const modules = Promise.all([
      import("../../text/line_matching.js"),
      import("../../compare/line_changes.js"),
    ]);
    const [before, after] = await Promise.all([content.text(), next.text(), next.loadLocations()]);
    const [{ matchLines }, { lineWithoutNumbers }] = await modules;
    if (this.next !== next) return;
    if (before && after) {
      const match = matchLines(before, after, lineWithoutNumbers);
      const lines = [...this.pane.text.rows.keys()].map(match.nearest);
      await next.loadLines(lines);
      if (this.next !== next) return;
      this.step = { ...match, lines: after };
    }
    this.pane.content = next;
  }

  /** Show the next text in place: the scroll position, folds and selections stay with their lines. */
  apply() {
    const { pane, step } = this;
    const { content, filters, folding, links, names, range, search, text, view } = pane;
    if (!content || !step) return;
    const { lines, lineOf, nearest, changed } = step;
    const { name, lines: total } = content.row;
    const within = (/** @type {number} */ line) => (line ? Math.min(nearest(line), total) : 0);
    const folded = [...folding.folded].map(lineOf);
    const top = within(text.topLine);
    const cursor = within(text.cursor);
    this.step = null;
    this.tint(changed);
    pane.lines = lines;
    pane.outline = new Outline(lines, content.syntax);
    folding.clear();
    folding.read(lines, pane.outline, content.syntax);
    for (const line of folded) folding.set(line, true);
    for (const line of folding.atFirst()) if (changed.has(line)) folding.set(line, true);
    filters.read(lines);
    range.anchor = within(range.anchor);
    range.head = within(range.head);
    names.set(null, []);
    search.clear();
    text.replace(pane.rowMap(), { label: `${stageTitle(name)}, ${plural(total, "line")}`, top, cursor });
    links.light();
    links.markOperation();
    pane.scoreboards.draw();
    const lineage = view.lineage && within(view.lineage);
    if (folding.state !== view.fold || lineage !== view.lineage)
      pane.keepState(pane.stateOf({ ...view, fold: folding.state, lineage }));
    if (store.state.cursor?.stage === name && cursor) putCursor(name, cursor, pane.id);
    if (store.state.result?.id === content.id) pane.link();
    if (search.isDue) void search.find(false);
  }

  /** Tint lines for a while. @param {Set<number>} lines */
  tint(lines) {
    clearTimeout(this.timer);
    this.tinted = lines;
    if (lines.size) this.timer = window.setTimeout(() => this.clear(), TINTED_MS);
  }

  clear() {
    clearTimeout(this.timer);
    this.tinted = new Set();
    this.pane.text.mark({ "is-new": () => false });
    this.pane.links.drawMarks();
  }
}
