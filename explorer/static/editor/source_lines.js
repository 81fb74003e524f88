/**
 * Map lines of the editor to lines of the shown result's source, and draw stripes and highlights for them.
 *
 * A mark at each line keeps its number while the text around it changes.
 *
 * @import { EditorState, Text } from "@codemirror/state"
 */
import { RangeSet, RangeValue, StateEffect, StateField } from "@codemirror/state";
import { Decoration, EditorView, GutterMarker, ViewPlugin, gutter } from "@codemirror/view";
import { make } from "../core/dom.js";
import { stripeOfLine } from "../core/format.js";
import { pin } from "../core/selection.js";
import { store } from "../core/store.js";

/** The origin of selections that the editor makes. */
export const ORIGIN = "editor";

/** Marks a line with its number in the shown result's source. */
class SourceLine extends RangeValue {
  // If text is inserted at the mark, the mark stays with the text behind it.
  startSide = 1;
  endSide = 1;

  /** @param {number} number */
  constructor(number) {
    super();
    this.number = number;
  }

  /** @param {SourceLine} other */
  eq(other) {
    return other.number === this.number;
  }
}

/** @type {import("@codemirror/state").StateEffectType<RangeSet<SourceLine>>} */
export const setSourceLines = StateEffect.define();
export const sourceLines = StateField.define({
  create: () => /** @type {RangeSet<SourceLine>} */ (RangeSet.empty),
  update(lines, transaction) {
    for (const effect of transaction.effects) if (effect.is(setSourceLines)) return effect.value;
    return lines.map(transaction.changes);
  },
});

/**
 * @param {EditorState} state
 * @param {number} from
 * @param {number} to the ends of a line
 * @returns {number} 0: a new line
 */
export function sourceLineAt(state, from, to) {
  let number = 0;
  state.field(sourceLines).between(from, to, (_from, _to, value) => {
    number = value.number;
    return false;
  });
  return number;
}

/** Other lines are pinned. */
export const repin = StateEffect.define();
/** Other lines have a stripe. */
export const restripe = StateEffect.define();
export const pinnedLines = StateField.define({
  create: () => Decoration.none,
  update(decorations, transaction) {
    if (!transaction.effects.some((effect) => effect.is(repin) || effect.is(setSourceLines)))
      return decorations.map(transaction.changes);
    const pinned = linesOf(transaction.state, store.state.pinned);
    return Decoration.set(pinned.map(({ from }) => PINNED.range(from)));
  },
  provide: (field) => EditorView.decorations.from(field),
});
const PINNED = Decoration.line({ class: "is-pinned" });

/**
 * Return the lines of the editor for lines of the shown result's source.
 * @param {EditorState} state
 * @param {number[]} numbers
 */
function linesOf(state, numbers) {
  const lines = [];
  if (numbers.length)
    for (const cursor = state.field(sourceLines).iter(); cursor.value; cursor.next())
      if (numbers.includes(cursor.value.number)) lines.push(state.doc.lineAt(cursor.from));
  return lines;
}

/**
 * Highlights the lines under the mouse, behind the text. The highlights change with each line that the mouse passes. As
 * decorations, each change would be a transaction, and CodeMirror would rebuild the text of these lines.
 */
export const litLines = ViewPlugin.fromClass(
  class {
    /** @param {EditorView} view */
    constructor(view) {
      this.view = view;
      this.layer = make("div", { class: "cm-layer lit-lines", "aria-hidden": "true" });
      view.scrollDOM.append(this.layer);
      this.measured = {
        key: this,
        read: () => ({
          left: view.contentDOM.offsetLeft,
          width: view.contentDOM.offsetWidth,
          height: view.contentDOM.offsetHeight,
        }),
        write: (/** @type {{left: number, width: number, height: number}} */ { left, width, height }) => {
          this.layer.style.left = `${left}px`;
          this.layer.style.width = `${width}px`;
          this.layer.style.height = `${height}px`;
          this.draw();
        },
      };
      view.requestMeasure(this.measured);
      this.end = store.watch(["hovered", "pinned"], () => this.draw());
    }

    /** @param {import("@codemirror/view").ViewUpdate} update */
    update({ docChanged, geometryChanged, selectionSet, transactions, view }) {
      const isOther = transactions.some(({ effects }) => effects.some((effect) => effect.is(setSourceLines)));
      if (docChanged || geometryChanged || selectionSet || isOther) view.requestMeasure(this.measured);
    }

    draw() {
      const { layer, view } = this;
      const { hovered, pinned } = store.state;
      const lit = linesOf(
        view.state,
        hovered.filter((number) => !pinned.includes(number)),
      );
      const active = view.state.selection.ranges.map(({ head }) => view.state.doc.lineAt(head).from);
      const hasCursor = lit.some(({ from }) => active.includes(from));
      view.scrollDOM.classList.toggle("has-lit-cursor", hasCursor);
      const lights = lit.map(({ from }) => {
        const { height, top } = view.lineBlockAt(from);
        const light = make("div", { class: "is-lit" });
        light.style.top = `${top + view.documentPadding.top}px`;
        light.style.height = `${height}px`;
        return light;
      });
      layer.replaceChildren(...lights);
    }

    destroy() {
      this.end();
      this.layer.remove();
    }
  },
);

class Stripe extends GutterMarker {
  /** @param {number} line */
  constructor(line) {
    super();
    this.line = line;
  }

  /** @param {Stripe} other */
  eq(other) {
    return other.line === this.line;
  }

  toDOM() {
    const element = document.createElement("div");
    element.className = "stripe";
    element.style.setProperty("--stripe", stripeOfLine(this.line));
    return element;
  }
}

export const stripes = gutter({
  class: "cm-stripes",
  lineMarker(view, block) {
    const number = sourceLineAt(view.state, block.from, block.to);
    return number && store.state.linked.has(number) ? new Stripe(number) : null;
  },
  lineMarkerChange: (update) =>
    update.transactions.some(({ effects }) => effects.some((effect) => effect.is(restripe))),
  domEventHandlers: { mousedown: pinBlock },
});

/** @param {EditorView} view @param {{from: number, to: number}} block @param {Event} event */
export function pinBlock(view, block, event) {
  const number = sourceLineAt(view.state, block.from, block.to);
  if (!number || !store.state.linked.has(number)) return false;
  pin([number], ORIGIN, event instanceof MouseEvent && (event.ctrlKey || event.metaKey));
  return true;
}

/**
 * Mark each line with the number of its compiled line. If the text was edited since the compilation, mark the lines
 * before and behind the edit.
 * @param {Text} doc @param {string[]} compiled @param {number} first its number
 */
export function markLines(doc, compiled, first) {
  let before = 0;
  while (before < Math.min(compiled.length, doc.lines) && compiled[before] === doc.line(before + 1).text)
    before += 1;
  let behind = 0;
  while (
    behind < Math.min(compiled.length, doc.lines) - before &&
    compiled[compiled.length - 1 - behind] === doc.line(doc.lines - behind).text
  )
    behind += 1;
  const ranges = [];
  for (let line = 1; line <= doc.lines; line += 1) {
    const fromEnd = doc.lines - line;
    if (line <= before) ranges.push(new SourceLine(first + line - 1).range(doc.line(line).from));
    else if (fromEnd < behind)
      ranges.push(new SourceLine(first + compiled.length - fromEnd - 1).range(doc.line(line).from));
  }
  return /** @type {RangeSet<SourceLine>} */ (RangeSet.of(ranges));
}
