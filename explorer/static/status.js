/** `<status-bar>`: the result in one line, always in sight. */
import { NO_ANSWER } from "./api.js";
import { cancel } from "./compiler.js";
import { make, setText } from "./dom.js";
import { duration, literal, plural, size } from "./format.js";
import { canCompile } from "./host.js";
import { store } from "./store.js";

class StatusBar extends HTMLElement {
  connectedCallback() {
    this.setAttribute("role", "contentinfo");
    this.setAttribute("aria-label", "Result");
    // In a narrow window it scrolls, which must be possible by keyboard, too.
    this.tabIndex = 0;
    this.state = make("span", { class: "state", role: "status" });
    this.facts = make("span", { class: "facts" });
    this.cancel = make("button", { type: "button", class: "link", onclick: () => cancel() }, "Cancel");
    this.remarks = this.opener("log");
    this.onward = make("span", { class: "onward" }, this.opener("run", "Run it"), this.opener("roofline", "Roofline"));
    this.link = make("a", { class: "permalink" });
    this.append(this.state, this.cancel, this.facts, this.onward, this.remarks, this.link);
    store.watch(["result", "run", "isAlone", "sending", "problem", "failure", "edited"], () => this.draw());
  }

  /** A button that opens a pane. @param {string} pane @param {string} words */
  opener(pane, words = "") {
    const open = () => this.dispatchEvent(new CustomEvent("pane-open", { bubbles: true, detail: pane }));
    return make("button", { type: "button", class: "link", onclick: open }, words);
  }

  draw() {
    const { result, run, isAlone, sending, problem, failure, edited } = store.state;
    if (!this.state || !this.facts || !this.onward || !this.remarks || !this.link || !this.cancel) return;
    const latest = failure ?? result;
    const [name, words] =
      run && isAlone ? ["busy", NO_ANSWER]
      : run ? ["busy", run.result.document.status === "queued" ? "waiting for a turn" : "compiling"]
      : sending ? ["busy", "sending"]
      : problem ? ["failed", problem.title]
      : !latest ? ["none", "nothing compiled yet"]
      : latest.document.status === "failed" ? ["failed", `failed after ${duration(latest.document.milliseconds)}`]
      : ["complete", `complete in ${duration(latest.document.milliseconds)}${edited ? ", edited since" : ""}`];
    this.state.className = `state is-${name}`;
    setText(this.state, words);
    this.cancel.hidden = !(run || sending);
    // Numbers of the result before would seem to be those of the failure.
    const resources = failure ? null : result?.document.resources;
    this.facts.replaceChildren(...(resources ? factsOf(resources) : []));
    this.onward.hidden = !resources || !canCompile;
    const diagnostics = latest?.document.diagnostics ?? [];
    const counts = /** @type {const} */ (["warning", "remark", "note"])
      .map((severity) => [severity, diagnostics.filter((each) => each.severity === severity).length])
      .filter(([, count]) => count);
    this.remarks.textContent = counts.map(([severity, count]) => plural(Number(count), String(severity))).join(", ");
    this.remarks.hidden = counts.length === 0;
    setText(this.link, latest ? `/k/${latest.id}` : "");
    if (latest) this.link.href = `/k/${latest.id}${location.hash}`;
  }
}

/** @param {import("./types.js").Resources} resources */
function factsOf(resources) {
  /** @type {HTMLElement[]} */
  const facts = [];
  const add = (/** @type {string} */ name, /** @type {string} */ value, /** @type {string} */ more = "", warning = false) =>
    facts.push(make("span", { class: "fact" }, `${name} `, make("b", warning ? { class: "warning" } : {}, value), more && ` ${more}`));
  const { registers, spill_stores_bytes, spill_loads_bytes, shared_bytes, shared_limit_bytes, warps, occupancy, limiter } = resources;
  if (typeof registers === "number") add("registers", String(registers));
  if (typeof spill_stores_bytes === "number") {
    const spills = spill_stores_bytes + Number(spill_loads_bytes ?? 0);
    add("spills", spills ? size(spills) : "0", "", spills > 0);
  }
  if (typeof shared_bytes === "number") add("shared", size(shared_bytes), typeof shared_limit_bytes === "number" ? `of ${size(shared_limit_bytes)}` : "");
  if (typeof warps === "number") add("warps", String(warps));
  if (typeof occupancy === "number") add("occupancy", `${Math.round(occupancy * 100)} %`, limiter ? `by ${literal(limiter)}` : "", occupancy < 0.5);
  return facts;
}

customElements.define("status-bar", StatusBar);
