/**
 * The editor of the source: CodeMirror with diagnostics underlined, and the lines of the shown result marked
 * (`./source_lines.js`). Each file of a script has a separate state, with its history of changes.
 *
 * @import { Diagnostic } from "../core/types.js"
 * @import { Diagnostic as Underline } from "@codemirror/lint"
 * @import { StateEffect } from "@codemirror/state"
 */
import { indentUnit, syntaxHighlighting } from "@codemirror/language";
import { Annotation, Compartment, EditorState, Prec, RangeSet } from "@codemirror/state";
import {
  EditorView,
  drawSelection,
  gutter,
  highlightActiveLine,
  highlightActiveLineGutter,
  highlightSpecialChars,
  keymap,
  lineNumbers,
  placeholder,
} from "@codemirror/view";
import { classHighlighter } from "@lezer/highlight";
import { diagnosticsOfDraft } from "../core/diagnostics.js";
import { compileNow, editFile, editSource } from "../launch/edit.js";
import { isStageText } from "../launch/state.js";
import { python } from "./python.js";
import { make } from "../core/dom.js";
import { canCompile } from "../core/host.js";
import { loadLater } from "../core/modules.js";
import { IN_PLACE, hover, pin, show } from "../core/selection.js";
import { ScriptFiles, dropFiles, openFile, openPath } from "./script_files.js";
import { SourceFacts } from "./source_facts.js";
import {
  ORIGIN,
  litLines,
  markLines,
  pinBlock,
  pinnedLines,
  repin,
  restripe,
  setSourceLines,
  sourceLineAt,
  sourceLines,
  stripes,
} from "./source_lines.js";
import { placeOf, sourceFiles } from "../core/source_files.js";
import { store } from "../core/store.js";

const reading = new Compartment();
const editing = new Compartment();
const heat = new Compartment();
const problems = new Compartment();
const language = new Compartment();
let hasProblemGutter = false;

/** No language. @type {import("@codemirror/state").Extension} */
const plain = [];
/** The current content of the compartments. @type {Map<Compartment, import("@codemirror/state").Extension>} */
const configured = new Map();

/** Color the source as Python, unless the server has recognized the text of a stage. @param {EditorView} view */
function colorAsPython(view) {
  const kernel = store.state.inspection?.kernels[0];
  if (!kernel) return;
  const extension = isStageText(kernel) ? plain : python;
  if ((configured.get(language) ?? python) !== extension) configure(view, language, extension);
}

/** @param {EditorView} view @param {Compartment} compartment @param {import("@codemirror/state").Extension} extension */
function configure(view, compartment, extension) {
  configured.set(compartment, extension);
  view.dispatch({ effects: compartment.reconfigure(extension) });
}

/** The file whose text the editor shows, by its path; "": a script alone. */
let openKey = "";
/**
 * The states of the other files, and their scroll positions.
 * @type {Map<string, {state: EditorState, scroll: StateEffect<unknown>}>}
 */
const behind = new Map();

/** Marks a change of the text that the user did not type. */
const fromStore = Annotation.define();

/**
 * Create the editor in an element of the page and synchronize it with the store.
 * @param {HTMLElement} parent
 */
export function startEditor(parent) {
  const facts = new SourceFacts();
  const nonce = document.querySelector("meta[name=csp-nonce]")?.getAttribute("content") ?? "";
  /** @param {Compartment} part @param {import("@codemirror/state").Extension} first */
  const compartment = (part, first) => part.of(configured.get(part) ?? first);
  const extensions = () => [
    EditorView.cspNonce.of(nonce),
    compartment(problems, gutter({ class: "cm-gutter-lint" })),
    compartment(heat, []),
    lineNumbers({ domEventHandlers: { mousedown: pinBlock } }),
    stripes,
    sourceLines,
    pinnedLines,
    litLines,
    drawSelection(),
    highlightSpecialChars({ addSpecialChars: /\p{Cf}/u }),
    highlightActiveLine(),
    highlightActiveLineGutter(),
    indentUnit.of("    "),
    // Select the whole text until the commands of the editor are loaded, which also do this.
    compartment(editing, keymap.of([{ key: "Mod-a", run: selectAll }])),
    compartment(language, python),
    compartment(reading, []),
    syntaxHighlighting(classHighlighter),
    placeholder("Paste a Triton kernel or script here."),
    EditorView.contentAttributes.of({
      "aria-label": "Source of the kernel",
      spellcheck: "false",
      autocapitalize: "off",
    }),
    Prec.highest(keymap.of([{ key: "Mod-Enter", run: compileByKey }])),
    EditorView.scrollHandler.of(scrollAlone),
    EditorView.updateListener.of((update) => {
      const typed = update.docChanged && !update.transactions.some((each) => each.annotation(fromStore));
      // A source that replaces the text in one step opens at its kernel, as any file does.
      const isOther = typed && update.transactions.some(({ changes }) => isReplaced(changes));
      if (isOther) wasScrolled = false;
      if (typed) typedText(update.state.doc.toString(), isOther);
      if (update.geometryChanged && !hasProblemGutter) drawProblems(update.view);
      if (
        update.selectionSet ||
        update.transactions.some(({ effects }) => effects.some((effect) => effect.is(setSourceLines)))
      ) {
        const { from, to } = update.state.doc.lineAt(update.state.selection.main.head);
        facts.setCursor(update.view.hasFocus ? sourceLineAt(update.state, from, to) : 0);
      }
    }),
    EditorView.domEventHandlers({
      focus: (_event, editor) => void loadEditing(editor),
      scroll: (_event, editor) => void (hasProblemGutter || drawProblems(editor)),
      pointerenter: (_event, editor) => void loadEditing(editor),
      mousemove: (event, editor) => hover(linesUnder(editor, event), ORIGIN),
      mouseleave: () => hover([], ORIGIN),
      drop: (event) => dropFiles(event),
      mousedown: (event) => void (isPressed = event.button === 0),
      // A click would be lost if the line is drawn again between press and release, as at the first focus.
      mouseup: (event, editor) => {
        if (!isPressed) return;
        isPressed = false;
        if (event.altKey) openLayoutUnder(editor, event);
        const lines = linesUnder(editor, event);
        const isSelecting = !editor.state.selection.main.empty;
        if (
          lines.length &&
          !isSelecting &&
          event.detail < 2 &&
          !lines.every((line) => store.state.pinned.includes(line))
        ) {
          pin(lines, ORIGIN, event.ctrlKey || event.metaKey);
        }
      },
      dblclick: (event, editor) => show(linesUnder(editor, event), ORIGIN),
    }),
    EditorView.theme({}),
  ];
  /** @param {string} doc */
  const stateOf = (doc) => EditorState.create({ doc, extensions: extensions() });
  openKey = openPath();
  const view = new EditorView({ parent, state: stateOf(openText()) });

  parent.prepend(new ScriptFiles(() => view.focus()).element);
  if (canCompile)
    facts.element.append(
      make(
        "button",
        {
          type: "button",
          class: "button files-button",
          id: "files-button",
          popovertarget: "files-menu",
          "aria-haspopup": "true",
          title: "Add files that the script may import",
        },
        "Files",
      ),
    );
  parent.append(facts.element);
  store.watch(["shown"], () => {
    if (store.state.shown.line && store.state.origin !== ORIGIN) scrollToPin(view);
  });
  const showFile = () => {
    const key = openPath();
    if (key !== openKey) changeFile(view, key, stateOf);
    const source = openText();
    if (source === view.state.doc.toString()) return;
    wasScrolled = false;
    const changes = view.state.changes({ from: 0, to: view.state.doc.length, insert: source });
    view.dispatch({
      changes,
      // A stored result can arrive before the editor shows its source.
      effects: setSourceLines.of(markedLines(changes.apply(view.state.doc))),
      annotations: fromStore.of(true),
    });
    view.scrollDOM.scrollTop = 0;
    if (!marked || compiledText(marked)?.text !== source) return;
    scrollToKernel(view, marked.document);
    drawProblems(view);
  };
  store.watch(["draft", "openFile"], () => {
    // The history of changes must contain the replaced text, so that undo restores it.
    if (view.state.doc.length && !isEditingLoaded) void loadEditing(view).then(showFile);
    else showFile();
  });
  // Use one transaction, and none without a change: for each transaction, CodeMirror reads the selection of the page,
  // for which the browser computes style and layout.
  store.watch(["result", "linked", "pinned"], () => {
    const { result, linked, pinned } = store.state;
    const isOther = result !== null && result !== marked;
    const effects = [];
    if (isOther) {
      marked = result;
      effects.push(setSourceLines.of(markedLines(view.state.doc)));
    }
    // Lines are added to the same set.
    if (isOther || linked !== drawn.linked || linked.size !== drawn.size) effects.push(restripe.of(null));
    if (isOther || pinned !== drawn.pinned) effects.push(repin.of(null));
    drawn = { linked, size: linked.size, pinned };
    if (effects.length) view.dispatch({ effects });
    if (!isOther) return;
    scrollToKernel(view, result.document);
    if (!result.isLive) scrollToPin(view);
  });
  store.watch(["reading"], () =>
    configure(view, reading, EditorState.readOnly.of(store.state.reading || !canCompile)),
  );
  store.watch(["pinned"], () => {
    const { origin } = store.state;
    if (origin !== ORIGIN && origin !== IN_PLACE) scrollToPin(view);
  });
  store.watch(["heat"], () => void drawHeat(view));
  store.watch(["inspection"], () => {
    drawProblems(view);
    colorAsPython(view);
  });
  store.watch(["result", "failure", "liveFailure", "run", "shownRun", "isTyping"], () => {
    // While a source is typed, its diagnostics stay at their lines until the next diagnostics arrive.
    if (!store.state.isTyping) drawProblems(view);
  });
  return view;
}

/**
 * Underline the diagnostics of the source. The code for this is loaded with the first diagnostic; its gutter stays.
 * @param {EditorView} view
 */
function drawProblems(view) {
  if (hasProblemGutter) return void underlineProblems(view);
  view.requestMeasure({
    key: drawProblems,
    read: ({ state, scrollDOM: { scrollTop, clientHeight } }) => {
      const top = view.lineBlockAtHeight(scrollTop).from;
      const bottom = view.lineBlockAtHeight(scrollTop + clientHeight).to;
      return diagnosticsHere()
        .map((diagnostic) => underline(state, diagnostic))
        .some(({ from, to }) => from <= bottom && to >= top);
    },
    write: (isInSight) => void (isInSight && underlineProblems(view)),
  });
}

/** @param {EditorView} view */
async function underlineProblems(view) {
  await loadLater(
    () => import("./problems.js"),
    ({ problemGutter, setDiagnostics }) => {
      if (!hasProblemGutter) configure(view, problems, problemGutter);
      hasProblemGutter = true;
      const underlines = diagnosticsHere().map((diagnostic) => underline(view.state, diagnostic));
      view.dispatch(setDiagnostics(view.state, underlines));
    },
  );
}

/** @param {EditorView} view */
function selectAll(view) {
  view.dispatch({ selection: { anchor: 0, head: view.state.doc.length } });
  return true;
}

/** Compile, and prevent CodeMirror's command for this key. */
function compileByKey() {
  void compileNow();
  return true;
}

/** Return whether a change replaces the whole text. @param {import("@codemirror/state").ChangeSet} changes */
function isReplaced(changes) {
  if (changes.empty) return false;
  let isWhole = false;
  changes.iterChangedRanges((from, to) => (isWhole ||= from === 0 && to === changes.length));
  return isWhole;
}

/** Draw or remove the samples of the source's lines. @param {EditorView} view */
async function drawHeat(view) {
  const { heat: shown } = store.state;
  const lines = shown?.source ?? [];
  if (!lines.length && !isHot) return;
  await loadLater(
    () => import("./heat_gutter.js"),
    ({ heatGutter }) => {
      if (store.state.heat !== shown) return;
      isHot = lines.length > 0;
      configure(view, heat, isHot ? heatGutter(lines) : []);
    },
  );
}

let isHot = false;
let isPressed = false;
let isEditingLoaded = false;

/** Load the code for editing. @param {EditorView} view */
async function loadEditing(view) {
  if (isEditingLoaded) return;
  try {
    const { editing: loaded } = await import("./editing.js");
    if (isEditingLoaded) return;
    isEditingLoaded = true;
    configure(view, editing, loaded);
  } catch {
    // The next focus tries again.
  }
}

/** The decorations of the editor's lines, from the store. */
let drawn = { linked: store.state.linked, size: 0, pinned: store.state.pinned };

/** The result whose lines are marked. @type {import("../core/result.js").Result | null} */
let marked = null;
let wasScrolled = false;

/**
 * A file opens at the first line of its kernel, unless the line is in the upper half anyway.
 * @param {EditorView} view @param {import("../core/types.js").CompilationDocument} document
 */
function scrollToKernel(view, { request, kernel_line }) {
  const { doc } = view.state;
  if (wasScrolled || !kernel_line) return;
  const { path, line } = placeOf(request, kernel_line);
  if (path !== openName() || line > doc.lines) return;
  wasScrolled = true;
  let first = line;
  while (first > 1 && doc.line(first - 1).text.startsWith("@")) first -= 1;
  // Scroll only the editor: for a short file, CodeMirror's effect would scroll the page, too.
  const { from } = doc.line(first);
  view.requestMeasure({
    key: scrollToKernel,
    read: () => view.lineBlockAt(from).top + view.documentPadding.top,
    write(top) {
      if (top > view.scrollDOM.clientHeight / 2) view.scrollDOM.scrollTop = top;
    },
  });
}

/**
 * Bring a line to the middle of the editor. CodeMirror would bring it to the middle of the window, too, and scroll
 * the page.
 * @param {EditorView} view @param {import("@codemirror/state").SelectionRange} range @param {{y: string}} options
 */
function scrollAlone(view, { head }, { y }) {
  if (y !== "center") return false;
  const { top, height } = view.lineBlockAt(head);
  const { scrollDOM } = view;
  scrollDOM.scrollTop = top + view.documentPadding.top - (scrollDOM.clientHeight - height) / 2;
  return true;
}

/** Show the first pinned line in its file. @param {EditorView} view */
function scrollToPin(view) {
  const first = store.state.pinned[0];
  if (first === undefined) return;
  if (marked) {
    const { path } = placeOf(marked.document.request, first);
    if (path !== openName()) openFile(path);
  }
  for (const cursor = view.state.field(sourceLines).iter(); cursor.value; cursor.next()) {
    if (cursor.value.number === first)
      view.dispatch({ effects: EditorView.scrollIntoView(cursor.from, { y: "center" }) });
  }
}

/** The path of the file in front, as in locations: "" is the script. */
function openName() {
  const { draft, openFile: path } = store.state;
  return path in draft.files ? path : "";
}

/** The text of the file in front. */
function openText() {
  const { draft } = store.state;
  return draft.files[openName()] ?? draft.source;
}

/** @param {string} text @param {boolean} isOther nothing of the text before is left */
function typedText(text, isOther) {
  const name = openName();
  if (name) editFile(name, text);
  else editSource(text, isOther);
}

/**
 * Show another file. A file that was only renamed keeps its state.
 * @param {EditorView} view @param {string} key @param {(doc: string) => EditorState} stateOf
 */
function changeFile(view, key, stateOf) {
  const { draft } = store.state;
  const isGone = openKey !== draft.path && !(openKey in draft.files);
  const isRenamed = isGone && !behind.has(key) && openText() === view.state.doc.toString();
  if (!isRenamed) {
    if (!isGone) behind.set(openKey, { state: view.state, scroll: view.scrollSnapshot() });
    const kept = behind.get(key);
    behind.delete(key);
    view.setState(kept?.state ?? stateOf(openText()));
    const parts = [...configured].map(([part, extension]) => part.reconfigure(extension));
    view.dispatch({ effects: [...parts, setSourceLines.of(markedLines(view.state.doc)), restripe.of(null)] });
    if (kept) view.dispatch({ effects: kept.scroll });
    drawProblems(view);
  }
  openKey = key;
  for (const each of behind.keys()) if (each !== draft.path && !(each in draft.files)) behind.delete(each);
}

/** The file in front as it was compiled, and the number of its first line. @param {import("../core/result.js").Result} result */
function compiledText(result) {
  const file = sourceFiles(result.document.request).find(({ path }) => path === openName());
  return file ? { text: file.texts.join("\n"), file } : null;
}

/** @param {import("@codemirror/state").Text} doc @returns {ReturnType<typeof markLines>} */
function markedLines(doc) {
  const compiled = marked && compiledText(marked);
  return compiled ? markLines(doc, compiled.file.texts, compiled.file.first) : RangeSet.empty;
}

/** The diagnostics of the file in front, with its lines. @returns {Diagnostic[]} */
function diagnosticsHere() {
  const files = sourceFiles(store.state.draft);
  const file = files.find(({ path }) => path === openName());
  if (!file) return [];
  const isScript = file.path === "";
  const within = (/** @type {number} */ line) => Math.max(line - file.first + 1, 0);
  return diagnosticsOfDraft()
    .filter(({ line }) => (line < 1 ? isScript : line >= file.first && line < file.first + file.texts.length))
    .map((each) => ({ ...each, line: within(each.line), end_line: within(each.end_line) }));
}

/**
 * Show the layout of the tensor in the variable under the mouse.
 * @param {EditorView} view
 * @param {MouseEvent} event
 */
function openLayoutUnder(view, event) {
  const position = view.posAtCoords({ x: event.clientX, y: event.clientY });
  const word = position === null ? null : view.state.wordAt(position);
  const name = word ? view.state.sliceDoc(word.from, word.to) : "";
  if (/^[A-Za-z_]\w*$/.test(name))
    document.dispatchEvent(new CustomEvent("pane-beside", { detail: `layouts:${name}` }));
}

/** @param {EditorView} view @param {MouseEvent} event */
function linesUnder(view, event) {
  const height = event.clientY - view.documentTop;
  const { from, to, bottom } = view.lineBlockAtHeight(height);
  const number = height > bottom ? 0 : sourceLineAt(view.state, from, to);
  return number && store.state.linked.has(number) ? [number] : [];
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
    message,
    renderMessage() {
      const element = make("span", {}, message, hint && `\n${hint}`);
      const say = (/** @type {string} */ words) => words && element.firstChild?.replaceWith(words);
      void loadLater(
        () => import("../core/compiler_words.js"),
        ({ plainWords }) => say(plainWords(message)),
      );
      return element;
    },
  };
}
