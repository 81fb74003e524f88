/**
 * `<message-banner>`: the problem or the error, its place and the remedies. Empty after a success.
 *
 * @import { Problem } from "../core/types.js"
 * @import { Result } from "../core/result.js"
 */
import { lineWords } from "../core/source_files.js";
import { compile, showEarlier, showFailure } from "../launch/compiler.js";
import { helpfulAlternatives } from "../launch/alternatives.js";
import { choose } from "../launch/edit.js";
import { byId } from "../core/dom.js";
import { diagnosticsOfDraft } from "../core/diagnostics.js";
import { canCompile } from "../core/host.js";
import { pin } from "../core/selection.js";
import { stageTitle } from "../core/stages.js";
import { store } from "../core/store.js";
import { html, nothing, render } from "../core/template.js";

class MessageBanner extends HTMLElement {
  connectedCallback() {
    this.setAttribute("role", "alert");
    store.watch(["problem", "failure", "earlier", "result", "run", "outcomes", "inspection"], () =>
      this.draw(),
    );
  }

  draw() {
    const { problem, failure, result } = store.state;
    const run = store.state.run?.isShown ? store.state.run : null;
    const latest = failure ?? result;
    const status = latest?.document.status;
    const isFound = status === "kernels_found";
    const shown = problem
      ? problemBanner(problem)
      : run || !latest
        ? nothing
        : isFound
          ? programBanner()
          : status === "failed" || (latest.hasFailedScript && !latest.isLive)
            ? failureBanner(latest)
            : nothing;
    this.classList.toggle("is-note", shown !== nothing && !problem && isFound);
    render(shown, this);
  }
}

/** @param {Problem} problem */
function problemBanner(problem) {
  return banner(
    problem.title,
    html`<span>${problem.detail}</span>${canCompile ? remedyOf(problem) : nothing}`,
  );
}

/** The actions for a program whose kernels `torch.compile` or Helion writes. */
function programBanner() {
  return banner("A compiler writes the kernels of this program.", html`${openKernels()}${earlierOf()}`);
}

/** @param {Result} failed or a result of guesses, because the script failed */
function failureBanner(failed) {
  const errors = failed.errors.length
    ? failed.errors
    : diagnosticsOfDraft().filter(({ severity }) => severity === "error");
  const [first] = errors;
  if (!first) {
    const again = canCompile ? button("Try again", () => void compile()) : nothing;
    return banner("The compilation failed", html`<span>See the log.</span>${again}${earlierOf()}`);
  }
  const { line, stage, hint, message } = first;
  const place = [line > 0 && lineWords(failed.document.request, line), stage && stageTitle(stage)]
    .filter(Boolean)
    .join(" · ");
  const guessed = failed.hasFailedScript && "No launch before it: these arguments are guessed.";
  const hints = [hint, guessed, errors.length > 1 && `and ${errors.length - 1} more in the log`].filter(
    Boolean,
  );
  return banner(
    message,
    html`${
      line > 0
        ? html`<button type="button" class="place" @click=${() => pin([line], "banner")}>${place}</button>`
        : place && html`<span class="place">${place}</span>`
    }${hints.map((each) => html`<span class="hint">${each}</span>`)}${helpfulAlternatives(failed).map(
      ({ name, changes }) => button(`Compile with ${name}`, () => choose(changes)),
    )}${openKernels()}${earlierOf()}`,
  );
}

/** The button that opens the output code of the draft, if it has any. */
function openKernels() {
  if (!canCompile || !store.state.inspection?.output_code) return nothing;
  return button("Open the kernels", async () => (await import("../launch/rare_fields.js")).openOutputCode());
}

/** After a failure, the button that shows the last complete result, or that returns to the failure. */
function earlierOf() {
  const { result, earlier, failure } = store.state;
  if (failure && result)
    return html`<span class="hint">${`The panes show an earlier result: ${nameOf(result)}.`}</span>${button(
      "Show the failure",
      showFailure,
    )}`;
  if (!earlier) return nothing;
  return html`<button type="button" class="link" @click=${showEarlier}
    >${`Show the earlier result: ${nameOf(earlier)}`}</button
  >`;
}

/** @param {Result} result */
function nameOf({ document: { kernel, target, triton } }) {
  return [kernel, target.architecture, `Triton ${triton}`].filter(Boolean).join(", ");
}

/** @param {string} title @param {unknown} details */
function banner(title, details) {
  return html`<pre class="banner-title">${title}</pre>
    <div class="banner-details">${details}</div>`;
}

/** @param {Problem} problem */
function remedyOf({ kind }) {
  const { result, draft } = store.state;
  if (kind === "empty") return button("Open the gallery", () => byId("gallery-button").click());
  if (kind === "not_found") return html`<a class="button" href="/">To the start page</a>`;
  // Without a result and a source, only loading the page again can help.
  if (!result && !draft.source.trim()) return button("Try again", () => location.reload());
  return button("Try again", () => void compile());
}

/** @param {string} words @param {() => void} act */
function button(words, act) {
  return html`<button type="button" class="button" @click=${act}>${words}</button>`;
}

customElements.define("message-banner", MessageBanner);
