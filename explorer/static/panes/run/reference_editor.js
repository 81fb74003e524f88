/**
 * `<reference-editor>`: a small editor for torch code that computes what the kernel should compute.
 *
 * @import { PropertyDeclarations } from "lit"
 */
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { bracketMatching, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { EditorState } from "@codemirror/state";
import { EditorView, keymap, placeholder } from "@codemirror/view";
import { classHighlighter } from "@lezer/highlight";
import { LitElement } from "lit";
import { python } from "../../editor/python.js";

class ReferenceEditor extends LitElement {
  /** @type {PropertyDeclarations} */
  static properties = { text: { attribute: false }, changed: { attribute: false } };

  constructor() {
    super();
    this.text = "";
    /** Called when a user changes the text. @type {(text: string) => void} */
    this.changed = () => {};
    /** @type {EditorView | null} */
    this.view = null;
  }

  /** @override */
  createRenderRoot() {
    return this;
  }

  /** @override */
  firstUpdated() {
    this.view = new EditorView({
      parent: this,
      state: EditorState.create({
        extensions: [
          EditorView.cspNonce.of(
            document.querySelector("meta[name=csp-nonce]")?.getAttribute("content") ?? "",
          ),
          history(),
          bracketMatching(),
          indentOnInput(),
          indentUnit.of("    "),
          python,
          syntaxHighlighting(classHighlighter),
          placeholder("x_ptr + y_ptr"),
          EditorView.lineWrapping,
          EditorView.contentAttributes.of({
            "aria-label": "Reference in torch",
            spellcheck: "false",
            autocapitalize: "off",
          }),
          keymap.of([...defaultKeymap, ...historyKeymap]),
          EditorView.updateListener.of((update) => {
            const text = update.state.doc.toString();
            if (update.docChanged && text !== this.text) this.changed(text);
          }),
        ],
      }),
    });
  }

  /** @override */
  updated() {
    const doc = this.view?.state.doc;
    if (doc && doc.toString() !== this.text)
      this.view?.dispatch({ changes: { from: 0, to: doc.length, insert: this.text } });
  }
}

customElements.define("reference-editor", ReferenceEditor);
