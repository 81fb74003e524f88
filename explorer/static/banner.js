/**
 * `<message-banner>`: what went wrong, where, and what to do; nothing where all is well.
 *
 * @import { Problem } from "./types.js"
 */
import { compile } from "./compiler.js";
import { byId, make } from "./dom.js";
import { diagnosticsOfDraft } from "./diagnostics.js";
import { canCompile } from "./host.js";
import { pin } from "./selection.js";
import { stageTitle } from "./stages.js";
import { store } from "./store.js";

class MessageBanner extends HTMLElement {
  connectedCallback() {
    this.setAttribute("role", "alert");
    store.watch(["problem", "failure", "result", "run", "draft", "inspection"], () => this.draw());
  }

  draw() {
    const { problem, failure, result, run } = store.state;
    const failed = failure ?? (result?.document.status === "failed" ? result : null);
    const key = JSON.stringify([problem, run ? "" : failed?.id, failure?.id]);
    if (key === this.dataset.key) return;
    this.dataset.key = key;
    this.replaceChildren();
    if (problem) {
      this.show(problem.title, [make("span", {}, problem.detail)], remedyOf(problem));
    } else if (failed && !run) {
      const errors = failed.errors.length ? failed.errors : diagnosticsOfDraft().filter(({ severity }) => severity === "error");
      const first = errors[0];
      if (!first) {
        this.show("The compilation failed", [make("span", {}, "The log says more.")], button("Try again", () => void compile()));
        return;
      }
      const place = [first.line > 0 && `line ${first.line}`, first.stage && stageTitle(first.stage)].filter(Boolean).join(" · ");
      const details = [
        first.line > 0
          ? make("button", { type: "button", class: "place", onclick: () => pin([first.line], "banner") }, place)
          : place && make("span", { class: "place" }, place),
        first.hint && make("span", { class: "hint" }, first.hint),
        errors.length > 1 && make("span", { class: "hint" }, `and ${errors.length - 1} more in the log`),
        failure && make("span", { class: "hint" }, "Below is the result before."),
      ];
      this.show(first.message, details.filter((each) => each instanceof Node));
    }
  }

  /** @param {string} title @param {Node[]} details @param {HTMLElement | null} [remedy] what may help */
  show(title, details, remedy) {
    this.append(
      make("pre", { class: "banner-title" }, title),
      make("div", { class: "banner-details" }, ...details, canCompile && remedy),
    );
  }
}

/** @param {Problem} problem */
function remedyOf({ kind }) {
  const { result, draft } = store.state;
  if (kind === "empty") return button("Open the gallery", () => byId("gallery-button").click());
  if (kind === "not_found") return make("a", { class: "button", href: "/" }, "To the start page");
  // What the address names was never here: the page as a whole tries again.
  if (!result && !draft.source.trim()) return button("Try again", () => location.reload());
  return button("Try again", () => void compile());
}

/** @param {string} words @param {() => void} onclick */
function button(words, onclick) {
  return make("button", { type: "button", class: "button", onclick }, words);
}

customElements.define("message-banner", MessageBanner);
