/** `<pane-log>`: everything that was said during a compilation. */
import { make } from "../dom.js";
import { diagnosticsOfDraft } from "../diagnostics.js";
import { pin } from "../selection.js";
import { stageTitle } from "../stages.js";
import { store } from "../store.js";

/** What is said beside the name of a log. @type {Record<string, string>} */
const WORDS = {
  stdout: "printed by the script, which was run without computing anything",
  stderr: "what the script and the compiler wrote to the standard error",
};

class LogPane extends HTMLElement {
  paneState = "";
  /** @type {(() => void)[]} */
  watches = [];

  connectedCallback() {
    this.watches = [store.watch(["result", "failure"], () => this.draw())];
  }

  disconnectedCallback() {
    for (const end of this.watches) end();
  }

  draw() {
    const result = store.state.failure ?? store.state.result;
    const diagnostics = result?.document.diagnostics ?? diagnosticsOfDraft();
    const logs = (result?.document.logs ?? []).filter(({ text }) => text.trim());
    if (diagnostics.length + logs.length === 0) {
      const words = result ? "Neither the compiler nor the script has said anything." : "Remarks of the compiler and the output of tools and of the script appear here.";
      this.replaceChildren(make("div", { class: "empty" }, make("p", {}, words)));
      return;
    }
    this.replaceChildren(
      make(
        "div",
        { class: "log" },
        ...diagnostics.map((each) => {
          const place = [each.line > 0 && `line ${each.line}`, each.stage && stageTitle(each.stage)].filter(Boolean).join(" · ");
          return make(
            "article",
            { class: `diagnostic is-${each.severity}` },
            make(
              "header",
              {},
              make("b", {}, each.severity),
              each.line > 0 ? make("button", { type: "button", class: "place", onclick: () => pin([each.line], "log") }, place) : make("span", { class: "place" }, place),
            ),
            make("pre", {}, each.message),
            each.hint && make("p", { class: "hint" }, each.hint),
          );
        }),
        ...logs.map(({ source, text }) => make("article", { class: "output" }, make("header", {}, make("b", {}, source), make("span", { class: "hint" }, WORDS[source] ?? "")), make("pre", {}, text.trimEnd()))),
      ),
    );
  }
}

customElements.define("pane-log", LogPane);
