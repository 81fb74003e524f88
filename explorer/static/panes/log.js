/**
 * `<pane-log>`: diagnostics of the compiler, and the output of tools and of the script.
 *
 * @import { Diagnostic, LogEntry } from "../core/types.js"
 */
import { lineText } from "../core/line_words.js";
import { plainWords } from "../core/compiler_words.js";
import { diagnosticsOfDraft } from "../core/diagnostics.js";
import { emptyPane, Pane } from "../core/pane.js";
import { pin } from "../core/selection.js";
import { stageTitle } from "../core/stages.js";
import { store } from "../core/store.js";
import { html, nothing } from "../core/template.js";

/** The description beside the name of a log. @type {Record<string, string>} */
const DESCRIPTIONS = {
  stdout: "printed by the script, which was run without computing anything",
  stderr: "the standard error of the script and the compiler",
};

class LogPane extends Pane {
  static slices = /** @type {(typeof Pane)["slices"]} */ (["result", "failure"]);

  /** @override */
  render() {
    const result = store.state.failure ?? store.state.result;
    const diagnostics = result?.document.diagnostics ?? diagnosticsOfDraft();
    const logs = (result?.document.logs ?? []).filter(({ text }) => text.trim());
    if (diagnostics.length + logs.length > 0) {
      return html`<div class="log">${diagnostics.map(diagnosticArticle)} ${logs.map(logArticle)}</div>`;
    }
    return emptyPane(
      result
        ? "Neither the compiler nor the script has printed anything."
        : "Remarks of the compiler and the output of tools and of the script appear here.",
    );
  }
}

/** @param {Diagnostic} diagnostic */
function diagnosticArticle({ severity, line, stage, message, hint }) {
  const plain = plainWords(message);
  const place = [line > 0 && lineText(line), stage && stageTitle(stage)].filter(Boolean).join(" · ");
  return html`<article class="diagnostic is-${severity}">
    <header>
      <b>${severity}</b>
      ${
        line > 0
          ? html`<button type="button" class="place" @click=${() => pin([line], "log")}>${place}</button>`
          : html`<span class="place">${place}</span>`
      }
    </header>
    ${
      plain
        ? html`<p>${plain}</p><details><summary>Message of the compiler</summary><pre>${message}</pre></details>`
        : html`<pre>${message}</pre>`
    }
    ${hint ? html`<p class="hint">${hint}</p>` : nothing}
  </article>`;
}

/** @param {LogEntry} log */
function logArticle({ source, text }) {
  return html`<article class="output">
    <header><b>${source}</b><span class="hint">${DESCRIPTIONS[source] ?? ""}</span></header>
    <pre>${text.trimEnd()}</pre>
  </article>`;
}

customElements.define("pane-log", LogPane);
