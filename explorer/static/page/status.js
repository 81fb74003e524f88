/**
 * `<status-bar>`: the result in one line, always in sight.
 *
 * @import { CompilationDocument } from "../core/types.js"
 * @import { Result } from "../core/result.js"
 */
import { BUSY, NO_ANSWER } from "../core/api.js";
import { cancel, isInspecting } from "../launch/compiler.js";
import { whyNotRun } from "../launch/state.js";
import { duration, literal, positionWords, plural, size } from "../core/format.js";
import { canCompile } from "../core/host.js";
import { foundWords } from "../core/status.js";
import { metric } from "../core/metrics.js";
import { lineWords } from "../core/source_files.js";
import { store } from "../core/store.js";
import { html, nothing, render } from "../core/template.js";

class StatusBar extends HTMLElement {
  /** When each compilation began to run, by the clock of this page. @type {WeakMap<Result, number>} */
  #began = new WeakMap();
  #timer = 0;

  connectedCallback() {
    this.setAttribute("role", "contentinfo");
    this.setAttribute("aria-label", "Result");
    // In a narrow window it scrolls, which must be possible by keyboard, too.
    this.tabIndex = 0;
    store.watch(
      [
        "result",
        "run",
        "isAlone",
        "sending",
        "isBusy",
        "isTyping",
        "problem",
        "failure",
        "liveFailure",
        "found",
        "edited",
      ],
      () => this.draw(),
    );
  }

  draw() {
    const { result, isAlone, sending, isBusy, isTyping, problem, failure, liveFailure } = store.state;
    const run = store.state.run?.isShown ? store.state.run : null;
    // A live compilation of the current text shows no message.
    const { edited } = store.state;
    const latest = failure ?? result;
    const outcome = latest?.document.status;
    const since = edited && outcome !== "failed" ? ", edited since" : "";
    const typed = run || sending || problem ? undefined : liveFailure?.errors[0];
    const [name, words] =
      run && isAlone
        ? ["busy", NO_ANSWER]
        : run
          ? ["busy", stateWords(run.result)]
          : sending
            ? ["busy", isBusy ? BUSY : "sending"]
            : problem
              ? ["failed", problem.title]
              : typed
                ? ["failed", errorWords(typed)]
                : !latest
                  ? ["none", "nothing compiled yet"]
                  : isTyping
                    ? ["busy", "edited, compiling"]
                    : [
                        edited && outcome === "complete"
                          ? "none"
                          : latest.hasFailedScript
                            ? "failed"
                            : (outcome ?? "none"),
                        (latest.hasFailedScript ? "script failed, guesses " : "") +
                          outcomeWords(latest.document) +
                          since,
                      ];
    // The numbers of the previous result would seem to belong to the failure.
    const resources = failure ? null : result?.document.resources;
    const diagnostics = latest?.document.diagnostics ?? [];
    // A failure has its error in the source and in the log, which its words open.
    const remarks = [...(outcome === "failed" ? [] : ["error"]), "warning", "remark", "note"]
      .map((severity) => ({
        severity,
        count: diagnostics.filter((each) => each.severity === severity).length,
      }))
      .filter(({ count }) => count)
      .map(({ severity, count }) => plural(count, severity));
    const address = latest ? `/k/${latest.id}` : "";
    const onward =
      resources && canCompile && result && !whyNotRun(result.document)
        ? html`<span class="onward"><button type="button" class="link" @click=${runIt}>Run the kernel</button>${opener("roofline", "Roofline")}</span>`
        : nothing;
    const more = remarks.length ? opener("log", remarks.join(", ")) : nothing;
    const { found: known } = store.state;
    const found =
      known && !failure && known.id === result?.id ? opener("findings", known.words, "figure") : nothing;
    const explained = latest && !run && !sending && !problem && !typed;
    const whole = outcome === "complete" ? "passes" : "log";
    const seconds = run?.result.document.status === "running" ? this.#secondsOf(run.result) : 0;
    render(
      html`<span class="state is-${name}" role="status">${explained ? opener(whole, words, "figure") : words}</span
        >${seconds ? html`<span class="elapsed">${seconds} s</span>` : nothing}<button type="button" class="link" ?hidden=${!(run || sending)} @click=${cancel}>Cancel</button
        ><span class="facts">${found}${resources ? factsOf(resources) : nothing}</span
        >${onward}${more}<a class="permalink" href=${latest ? address + location.hash : nothing}
          >${address}</a
        >`,
      this,
    );
  }

  /** The whole seconds for which a compilation runs. They are drawn again. @param {Result} result */
  #secondsOf(result) {
    const before = 1000 * (result.document.running_seconds ?? 0);
    const began = this.#began.get(result) ?? performance.now() - before;
    this.#began.set(result, began);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.draw(), 1000);
    return Math.floor((performance.now() - began) / 1000);
  }
}

/** Run the kernel, and open the pane that shows the result. @param {Event} event */
async function runIt({ target }) {
  target?.dispatchEvent(new CustomEvent("pane-open", { bubbles: true, detail: "run" }));
  const { runNow } = await import("../runs/start.js");
  await runNow("run");
}

/** How a compilation has ended. @param {CompilationDocument} document */
function outcomeWords({ status, milliseconds, output_code: code }) {
  const time = duration(milliseconds);
  if (status === "kernels_found") return `${foundWords(code?.kernels.length ?? 0)} in ${time}`;
  return status === "complete" ? `complete in ${time}` : `failed after ${time}`;
}

/** An error of the source that is being typed. @param {import("../core/types.js").Diagnostic} error */
function errorWords({ line, message }) {
  const [first = ""] = message.split("\n");
  return line > 0 ? `${lineWords(store.state.draft, line)}: ${first}` : first;
}

/** @param {Result} result of a compilation that has not ended */
function stateWords({ document, progress }) {
  const { status, queue_position: position, waits_for: lacking } = document;
  if (status !== "queued") return progress || stepWords(document);
  if (lacking) return `waiting: ${lacking}`;
  // A client has one program with torch.compile executed at a time, and the first one starts a sandbox.
  if (position === 1 && isInspecting()) return "inspecting the source";
  return position ? positionWords(position) : "waiting in the queue";
}

/** The step of a running compilation. @param {CompilationDocument} document */
function stepWords({ stages, specialization, request }) {
  const reached = stages.at(-1);
  if (reached) return `compiling, reached ${reached.title}`;
  return specialization || request.edits ? "compiling" : "executing the script";
}

/** A button that opens a pane. @param {string} pane @param {unknown} words @param {"link" | "figure"} [look] */
function opener(pane, words, look = "link") {
  const open = (/** @type {Event} */ { target }) =>
    target?.dispatchEvent(new CustomEvent("pane-open", { bubbles: true, detail: pane }));
  const title = store.state.paneKinds.find(({ name }) => name === pane)?.title ?? pane;
  return html`<button type="button" class=${look} title=${look === "figure" ? `Open ${title}` : nothing}
    @click=${open}>${words}</button>`;
}

/** @param {import("../core/types.js").Resources} resources */
function factsOf(resources) {
  /** @type {unknown[]} */
  const facts = [];
  const add = (
    /** @type {string} */ pane,
    /** @type {string} */ name,
    /** @type {string} */ value,
    more = "",
    warning = false,
  ) =>
    facts.push(
      opener(
        pane,
        html`${name} <b class=${warning ? "warning" : nothing}>${value}</b>${more && ` ${more}`}`,
        "figure",
      ),
    );
  const {
    registers,
    spill_stores_bytes,
    spill_loads_bytes,
    shared_bytes,
    shared_limit_bytes,
    warps,
    occupancy,
    limited_by,
  } = resources;
  if (typeof registers === "number") add("registers", metric("registers").short, String(registers));
  if (typeof spill_stores_bytes === "number") {
    const [stored, loaded] = [spill_stores_bytes, Number(spill_loads_bytes ?? 0)];
    const spills = stored + loaded ? `${size(stored)} stored, ${size(loaded)} loaded` : "0";
    add("registers", metric("spills").short, spills, "", spills !== "0");
  }
  if (typeof shared_bytes === "number")
    add(
      "memory",
      metric("shared_bytes").short,
      size(shared_bytes),
      typeof shared_limit_bytes === "number" ? `of ${size(shared_limit_bytes)}` : "",
    );
  if (typeof warps === "number") add("resources", "warps", String(warps));
  if (typeof occupancy === "number")
    add(
      "resources",
      metric("occupancy").short,
      `${Math.round(occupancy * 100)} %`,
      limited_by ? `by ${literal(limited_by)}` : "",
      occupancy < 0.5,
    );
  return facts;
}

customElements.define("status-bar", StatusBar);
