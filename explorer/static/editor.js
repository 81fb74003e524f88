/**
 * The source: CodeMirror with the problems underlined where they are, and each line in its colour.
 *
 * The lines of the shown result keep their numbers while the text around them changes: a mark travels with each.
 *
 * @import { Diagnostic } from "./types.js"
 * @import { Diagnostic as Underline } from "@codemirror/lint"
 */
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { pythonLanguage } from "@codemirror/lang-python";
import { LanguageSupport, bracketMatching, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { lintGutter, setDiagnostics } from "@codemirror/lint";
import { Annotation, Compartment, EditorState, Prec, RangeSet, RangeValue, StateEffect, StateField } from "@codemirror/state";
import {
  Decoration, EditorView, GutterMarker, drawSelection, gutter, highlightActiveLine, highlightActiveLineGutter,
  highlightSpecialChars, keymap, lineNumbers, placeholder,
} from "@codemirror/view";
import { classHighlighter } from "@lezer/highlight";
import { diagnosticsOfDraft } from "./diagnostics.js";
import { compileNow, editSource } from "./edit.js";
import { stripeOfLine } from "./format.js";
import { canCompile } from "./host.js";
import { hover, pin, show } from "./selection.js";
import { SourceFacts } from "./source_facts.js";
import { store } from "./store.js";

const ORIGIN = "editor";
const reading = new Compartment();
const extras = new Compartment();
const heat = new Compartment();

/** Marks a change of the text that the user did not type. */
const fromStore = Annotation.define();

/** Says which line of the shown result's source a line is. */
class SourceLine extends RangeValue {
  // Stay with the text that follows when something is inserted in front of it.
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
const setSourceLines = StateEffect.define();
const sourceLines = StateField.define({
  create: () => /** @type {RangeSet<SourceLine>} */ (RangeSet.empty),
  update(lines, transaction) {
    for (const effect of transaction.effects) if (effect.is(setSourceLines)) return effect.value;
    return lines.map(transaction.changes);
  },
});

/** @param {EditorState} state @param {number} from @param {number} to the ends of a line @returns {number} 0: a new line */
function sourceLineAt(state, from, to) {
  let number = 0;
  state.field(sourceLines).between(from, to, (_from, _to, value) => {
    number = value.number;
    return false;
  });
  return number;
}

/** Other lines are lit. */
const relight = StateEffect.define();
/** Other lines have a stripe. */
const restripe = StateEffect.define();
const litLines = StateField.define({
  create: () => Decoration.none,
  update(decorations, transaction) {
    if (!transaction.effects.some((effect) => effect.is(relight))) return decorations.map(transaction.changes);
    const { hovered, pinned } = store.state;
    /** @type {import("@codemirror/state").Range<Decoration>[]} */
    const ranges = [];
    if (hovered.length || pinned.length) {
      const { doc } = transaction.state;
      for (const cursor = transaction.state.field(sourceLines).iter(); cursor.value; cursor.next()) {
        const { number } = cursor.value;
        const names = [hovered.includes(number) && "is-lit", pinned.includes(number) && "is-pinned"].filter(Boolean);
        if (names.length) ranges.push(Decoration.line({ class: names.join(" ") }).range(doc.lineAt(cursor.from).from));
      }
    }
    return Decoration.set(ranges, true);
  },
  provide: (field) => EditorView.decorations.from(field),
});

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

const stripes = gutter({
  class: "cm-stripes",
  lineMarker(view, block) {
    const number = sourceLineAt(view.state, block.from, block.to);
    return number && store.state.linked.has(number) ? new Stripe(number) : null;
  },
  lineMarkerChange: (update) => update.transactions.some(({ effects }) => effects.some((effect) => effect.is(restripe))),
  domEventHandlers: { mousedown: pinBlock },
});

/** @param {EditorView} view @param {{from: number, to: number}} block @param {Event} event */
function pinBlock(view, block, event) {
  const number = sourceLineAt(view.state, block.from, block.to);
  if (!number || !store.state.linked.has(number)) return false;
  pin([number], ORIGIN, event instanceof MouseEvent && (event.ctrlKey || event.metaKey));
  return true;
}

/**
 * Put the editor into an element of the page and keep it in step with the store.
 * @param {HTMLElement} parent
 */
export function startEditor(parent) {
  const facts = new SourceFacts();
  const nonce = document.querySelector("meta[name=csp-nonce]")?.getAttribute("content") ?? "";
  const view = new EditorView({
    parent,
    state: EditorState.create({
      doc: store.state.draft.source,
      extensions: [
        EditorView.cspNonce.of(nonce),
        lintGutter(),
        heat.of([]),
        lineNumbers({ domEventHandlers: { mousedown: pinBlock } }),
        stripes,
        sourceLines,
        litLines,
        history(),
        drawSelection(),
        highlightSpecialChars({ addSpecialChars: /\p{Cf}/u }),
        highlightActiveLine(),
        highlightActiveLineGutter(),
        bracketMatching(),
        indentOnInput(),
        indentUnit.of("    "),
        extras.of([]),
        new LanguageSupport(pythonLanguage),
        reading.of([]),
        syntaxHighlighting(classHighlighter),
        placeholder("Paste a Triton kernel or script here."),
        EditorView.contentAttributes.of({ "aria-label": "Source of the kernel", spellcheck: "false", autocapitalize: "off" }),
        Prec.highest(keymap.of([{ key: "Mod-Enter", run: () => (void compileNow(), true) }])),
        keymap.of([...defaultKeymap, ...historyKeymap, indentWithTab]),
        EditorView.updateListener.of((update) => {
          const typed = update.docChanged && !update.transactions.some((each) => each.annotation(fromStore));
          // Another source in one go opens at its kernel, as any file does.
          if (update.transactions.some((each) => each.isUserEvent("input.paste") && isReplaced(each.changes))) wasScrolled = false;
          if (typed) editSource(update.state.doc.toString());
          if (update.selectionSet || update.transactions.some(({ effects }) => effects.some((effect) => effect.is(setSourceLines)))) {
            const { from, to } = update.state.doc.lineAt(update.state.selection.main.head);
            facts.setCursor(update.view.hasFocus ? sourceLineAt(update.state, from, to) : 0);
          }
        }),
        EditorView.domEventHandlers({
          focus: (_event, editor) => void loadExtras(editor),
          mousemove: (event, editor) => hover(linesUnder(editor, event), ORIGIN),
          mouseleave: () => hover([], ORIGIN),
          mousedown: (event) => void (isPressed = event.button === 0),
          // A click would be lost where the line is drawn anew in its middle, as at the first focus.
          mouseup: (event, editor) => {
            if (!isPressed) return;
            isPressed = false;
            if (event.altKey) openLayoutUnder(editor, event);
            const lines = linesUnder(editor, event);
            const isSelecting = !editor.state.selection.main.empty;
            if (lines.length && !isSelecting && event.detail < 2 && !lines.every((line) => store.state.pinned.includes(line))) {
              pin(lines, ORIGIN, event.ctrlKey || event.metaKey);
            }
          },
          dblclick: (event, editor) => show(linesUnder(editor, event), ORIGIN),
        }),
        EditorView.theme({}),
      ],
    }),
  });

  parent.append(facts.element);
  store.watch(["shown"], () => {
    if (store.state.shown.line && store.state.origin !== ORIGIN) scrollToPin(view);
  });
  store.watch(["draft"], () => {
    const { source } = store.state.draft;
    if (source === view.state.doc.toString()) return;
    wasScrolled = false;
    view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: source }, annotations: fromStore.of(true) });
    view.scrollDOM.scrollTop = 0;
  });
  store.watch(["result"], () => {
    const { result } = store.state;
    if (result && result !== marked) {
      marked = result;
      view.dispatch({ effects: setSourceLines.of(markLines(view.state, result.document.request.source)) });
      scrollToKernel(view, result.document.kernel_line);
      scrollToPin(view);
    }
  });
  store.watch(["reading"], () => view.dispatch({ effects: reading.reconfigure(EditorState.readOnly.of(store.state.reading || !canCompile)) }));
  store.watch(["linked", "result"], () => view.dispatch({ effects: restripe.of(null) }));
  store.watch(["hovered", "pinned", "result"], () => view.dispatch({ effects: relight.of(null) }));
  store.watch(["pinned"], () => {
    if (store.state.origin !== ORIGIN) scrollToPin(view);
  });
  store.watch(["heat"], () => void drawHeat(view));
  store.watch(["inspection", "result", "failure", "run", "shownRun"], () => {
    const underlines = diagnosticsOfDraft().map((diagnostic) => underline(view.state, diagnostic));
    view.dispatch(setDiagnostics(view.state, underlines));
  });
  return view;
}

/** Whether nothing of the text before is left. @param {import("@codemirror/state").ChangeSet} changes */
function isReplaced(changes) {
  let isWhole = false;
  changes.iterChangedRanges((from, to) => (isWhole ||= from === 0 && to === changes.length));
  return isWhole;
}

/** Draw the samples of the source's lines, or take them away. @param {EditorView} view */
async function drawHeat(view) {
  const { heat: shown } = store.state;
  const lines = shown?.source ?? [];
  if (!lines.length && !isHot) return;
  const { heatGutter } = await import("./editor_heat.js");
  if (store.state.heat !== shown) return;
  isHot = lines.length > 0;
  view.dispatch({ effects: heat.reconfigure(isHot ? heatGutter(lines, sourceLineAt) : []) });
}

let isHot = false;
let isPressed = false;
let areExtrasWanted = false;

/** Readers do without; whoever puts the cursor into the text will want them. @param {EditorView} view */
async function loadExtras(view) {
  if (areExtrasWanted) return;
  areExtrasWanted = true;
  try {
    const module = await import("./editor_extras.js");
    view.dispatch({ effects: extras.reconfigure(module.extras) });
  } catch {
    // The next time the cursor is put there.
    areExtrasWanted = false;
  }
}

/** The result whose lines are marked. @type {import("./result.js").Result | null} */
let marked = null;
let wasScrolled = false;

/** A long file opens at its kernel. @param {EditorView} view @param {number | null} line */
function scrollToKernel(view, line) {
  if (wasScrolled || !line || line > view.state.doc.lines) return;
  wasScrolled = true;
  view.dispatch({ effects: EditorView.scrollIntoView(view.state.doc.line(line).from, { y: "start", yMargin: 48 }) });
}

/** @param {EditorView} view */
function scrollToPin(view) {
  const first = store.state.pinned[0];
  if (first === undefined) return;
  for (const cursor = view.state.field(sourceLines).iter(); cursor.value; cursor.next()) {
    if (cursor.value.number === first) view.dispatch({ effects: EditorView.scrollIntoView(cursor.from, { y: "center" }) });
  }
}

/** Show how the tensor of the variable under the mouse is laid out. @param {EditorView} view @param {MouseEvent} event */
function openLayoutUnder(view, event) {
  const position = view.posAtCoords({ x: event.clientX, y: event.clientY });
  const word = position === null ? null : view.state.wordAt(position);
  const name = word ? view.state.sliceDoc(word.from, word.to) : "";
  if (/^[A-Za-z_]\w*$/.test(name)) document.dispatchEvent(new CustomEvent("pane-beside", { detail: `layouts:${name}` }));
}

/** @param {EditorView} view @param {MouseEvent} event */
function linesUnder(view, event) {
  const position = view.posAtCoords({ x: event.clientX, y: event.clientY }, false);
  const { from, to } = view.state.doc.lineAt(position);
  const bottom = view.coordsAtPos(view.state.doc.length)?.bottom ?? Infinity;
  const number = event.clientY > bottom ? 0 : sourceLineAt(view.state, from, to);
  return number && store.state.linked.has(number) ? [number] : [];
}

/**
 * Mark each line with the line of `source` that it is: all of them where nothing was typed since, else those
 * before and behind what has changed.
 * @param {EditorState} state @param {string} source
 */
function markLines(state, source) {
  const compiled = source.split("\n");
  const { doc } = state;
  let before = 0;
  while (before < Math.min(compiled.length, doc.lines) && compiled[before] === doc.line(before + 1).text) before += 1;
  let behind = 0;
  while (
    behind < Math.min(compiled.length, doc.lines) - before &&
    compiled[compiled.length - 1 - behind] === doc.line(doc.lines - behind).text
  ) behind += 1;
  const ranges = [];
  for (let line = 1; line <= doc.lines; line += 1) {
    const fromEnd = doc.lines - line;
    if (line <= before) ranges.push(new SourceLine(line).range(doc.line(line).from));
    else if (fromEnd < behind) ranges.push(new SourceLine(compiled.length - fromEnd).range(doc.line(line).from));
  }
  return /** @type {RangeSet<SourceLine>} */ (RangeSet.of(ranges));
}

/** @param {EditorState} state @param {Diagnostic} diagnostic @returns {Underline} */
function underline({ doc }, { severity, message, line, column, end_line, end_column, hint }) {
  const at = doc.line(Math.min(Math.max(line, 1), doc.lines));
  const indent = at.text.length - at.text.trimStart().length;
  const from = Math.min(at.from + (column > 0 ? column - 1 : indent), at.to);
  let to = at.to;
  if (end_line >= line && end_column > 0) {
    const end = doc.line(Math.min(end_line, doc.lines));
    to = Math.min(end.from + end_column - 1, end.to);
  }
  return {
    from,
    to: Math.max(to, from),
    severity: severity === "error" || severity === "warning" ? severity : "info",
    message: line > 0 ? (hint ? `${message}\n${hint}` : message) : `${message}${hint ? `\n${hint}` : ""}`,
  };
}
