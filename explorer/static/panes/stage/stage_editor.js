/**
 * `<stage-editor>`: the text of a stage to edit, from which the later stages are compiled.
 *
 * The result is opened as a comparison with the compilation that the text is from. The compiler's
 * errors are underlined in their lines. The element dispatches `edit-closed` when the text is discarded.
 *
 * @import { Diagnostic } from "../../core/types.js"
 * @import { StageContent } from "../../core/result.js"
 */
import { indentUnit } from "@codemirror/language";
import { EditorState, Prec } from "@codemirror/state";
import {
  EditorView,
  drawSelection,
  highlightActiveLine,
  highlightActiveLineGutter,
  highlightSpecialChars,
  keymap,
  lineNumbers,
} from "@codemirror/view";
import { LitElement } from "lit";
import { comparisonUrl, parseView } from "../../compare/address.js";
import { ApiError, api, pause } from "../../core/api.js";
import { stageTitle } from "../../core/stages.js";
import { isOver } from "../../core/status.js";
import { html, nothing } from "../../core/template.js";
import { editing } from "../../editor/editing.js";
import { problemGutter, setDiagnostics } from "../../editor/problems.js";
import { draftOf, requestOf } from "../../launch/draft.js";
import { expectOwn } from "../../menus/expected_results.js";

const ASK_MS = 300;

export class StageEditor extends LitElement {
  static properties = {
    content: { attribute: false },
    isCompiling: { state: true },
    problem: { state: true },
    failedId: { state: true },
  };

  constructor() {
    super();
    /** @type {StageContent | null} */
    this.content = null;
    this.isCompiling = false;
    /** The first error of the compiler. */
    this.problem = "";
    /** The failed compilation of the text, which can also be compared. */
    this.failedId = "";
    /** @type {EditorView | null} */
    this.editor = null;
    this.isStopped = false;
  }

  /** @override */
  createRenderRoot() {
    return this;
  }

  /** @override */
  disconnectedCallback() {
    super.disconnectedCallback();
    this.isStopped = true;
  }

  /** @override */
  render() {
    return html`<div class="stage-edit-bar">
        <button type="button" class="button primary small" ?disabled=${this.isCompiling} @click=${() => void this.compile()}>
          ${this.isCompiling ? "Compiling …" : "Compile from here"}
        </button>
        <button type="button" class="button small" @click=${() => this.close()}>Discard</button>
        <span class="hint">The stages after ${stageTitle(this.content?.row.name ?? "")} are compiled from this text.</span>
      </div>
      <div class="editor stage-edit-text"></div>
      <p class="stage-edit-problem" role="alert" ?hidden=${!this.problem}
        >${this.problem}${
          this.failedId
            ? html` <a href=${this.comparison(this.failedId)}>Compare the compiled stages</a>`
            : nothing
        }</p>`;
  }

  /** @override */
  firstUpdated() {
    void this.start();
  }

  async start() {
    const { content } = this;
    const parent = this.querySelector(".stage-edit-text");
    const lines = await content?.text();
    if (!content || !parent || !lines || this.isStopped) return;
    const nonce = document.querySelector("meta[name=csp-nonce]")?.getAttribute("content") ?? "";
    const compile = () => {
      void this.compile();
      return true;
    };
    this.editor = new EditorView({
      parent,
      state: EditorState.create({
        doc: lines.join("\n"),
        extensions: [
          EditorView.cspNonce.of(nonce),
          problemGutter,
          lineNumbers(),
          drawSelection(),
          highlightSpecialChars({ addSpecialChars: /\p{Cf}/u }),
          highlightActiveLine(),
          highlightActiveLineGutter(),
          indentUnit.of("  "),
          editing,
          EditorView.contentAttributes.of({
            "aria-label": `Text of ${stageTitle(content.row.name)}`,
            spellcheck: "false",
            autocapitalize: "off",
          }),
          Prec.highest(keymap.of([{ key: "Mod-Enter", run: compile }])),
        ],
      }),
    });
    this.editor.focus();
  }

  close() {
    this.dispatchEvent(new CustomEvent("edit-closed"));
  }

  /** @param {string} id */
  comparison(id) {
    const { content } = this;
    const name = content?.row.name ?? "";
    return comparisonUrl(content?.id ?? "", id, {
      ...parseView(""),
      show: "stage",
      before: name,
      after: name,
    });
  }

  /** Compile the text, and open the comparison or show its errors. */
  async compile() {
    const { content, editor } = this;
    if (!content || !editor || this.isCompiling) return;
    Object.assign(this, { isCompiling: true, problem: "", failedId: "" });
    editor.dispatch(setDiagnostics(editor.state, []));
    try {
      const stage = content.row.name;
      const draft = draftOf(await api.compilation(content.id));
      const passes = draft.edits ?? { without_passes: [], pass_options: {} };
      const edits = { ...passes, stage, text: `${editor.state.doc.toString().replace(/\n+$/, "")}\n` };
      const { id } = await api.compile(requestOf({ ...draft, edits }));
      expectOwn(id);
      let compiled = await api.compilation(id);
      while (!isOver(compiled)) {
        await pause(ASK_MS);
        if (this.isStopped) return;
        compiled = await api.compilation(id);
      }
      if (compiled.status === "complete") return location.assign(this.comparison(id));
      this.explain(compiled.diagnostics);
      if (compiled.stages.some((each) => each.name === stage)) this.failedId = id;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.problem = `${error.problem.title}. ${error.problem.detail}`;
    } finally {
      this.isCompiling = false;
    }
  }

  /** Show the diagnostics of the text. @param {Diagnostic[]} diagnostics */
  explain(diagnostics) {
    const { editor } = this;
    const errors = diagnostics.filter(({ severity }) => severity === "error");
    const [first] = errors;
    const line = first?.stage_line ?? 0;
    const place = line ? `${stageTitle(this.content?.row.name ?? "")} line ${line}: ` : "";
    this.problem = `${place}${first?.message ?? "The compilation failed."} ${first?.hint ?? ""}`.trim();
    if (!editor) return;
    const underlined = errors
      .filter(({ stage_line }) => stage_line > 0 && stage_line <= editor.state.doc.lines)
      .map(({ stage_line, column, message }) => {
        const { from, to } = editor.state.doc.line(stage_line);
        return {
          from: Math.min(to, from + Math.max(0, column - 1)),
          to,
          severity: /** @type {const} */ ("error"),
          message,
        };
      });
    const [at] = underlined;
    editor.dispatch(setDiagnostics(editor.state, underlined));
    if (at)
      editor.dispatch({
        selection: { anchor: at.from },
        effects: EditorView.scrollIntoView(at.from, { y: "center" }),
      });
    editor.focus();
  }
}

customElements.define("stage-editor", StageEditor);
