/** A small editor for torch code: what the kernel should compute. */
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { pythonLanguage } from "@codemirror/lang-python";
import { LanguageSupport, bracketMatching, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { EditorState } from "@codemirror/state";
import { EditorView, keymap, placeholder } from "@codemirror/view";
import { classHighlighter } from "@lezer/highlight";

export class ReferenceEditor {
  /** @param {(text: string) => void} changed */
  constructor(changed) {
    this.view = new EditorView({
      state: EditorState.create({
        extensions: [
          EditorView.cspNonce.of(document.querySelector("meta[name=csp-nonce]")?.getAttribute("content") ?? ""),
          history(),
          bracketMatching(),
          indentOnInput(),
          indentUnit.of("    "),
          new LanguageSupport(pythonLanguage),
          syntaxHighlighting(classHighlighter),
          placeholder("x_ptr + y_ptr"),
          EditorView.lineWrapping,
          EditorView.contentAttributes.of({ "aria-label": "Reference in torch", spellcheck: "false", autocapitalize: "off" }),
          keymap.of([...defaultKeymap, ...historyKeymap]),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) changed(update.state.doc.toString());
          }),
        ],
      }),
    });
    this.element = this.view.dom;
  }

  /** @param {string} text */
  show(text) {
    const { doc } = this.view.state;
    if (doc.toString() !== text) this.view.dispatch({ changes: { from: 0, to: doc.length, insert: text } });
  }
}
