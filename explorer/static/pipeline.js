/**
 * `<pipeline-path>`: the lowering as a path from Python to machine code, filling in while it is compiled.
 *
 * @import { StageRow } from "./types.js"
 * @import { Result } from "./result.js"
 */
import { showFailure } from "./compiler.js";
import { make, scrollSideways } from "./dom.js";
import { duration, plural, short } from "./format.js";
import { hueClass, shownStage, stageTitle, targetStages } from "./stages.js";
import { store } from "./store.js";

/** @typedef {"waiting" | "running" | "done" | "failed" | "absent"} NodeState */

const STATE_WORDS = { waiting: "waiting", running: "running", done: "", failed: "failed here", absent: "not reached" };

/**
 * The stages on the path: those that the result has, and those of its target that are still to come.
 * @param {Result | null} result
 */
export function pathOf(result) {
  const expected = targetStages(result);
  if (!result) return expected;
  const present = result.document.stages.map(({ name }) => name);
  if (result.document.status === "complete") return inOrder(present);
  const last = Math.max(...present.map((name) => expected.indexOf(name)), -1);
  return inOrder([...present, ...expected.slice(last + 1)]);
}

/** @param {string[]} names */
function inOrder(names) {
  const place = (/** @type {string} */ name) => store.state.stageKinds.findIndex((kind) => kind.name === name);
  return [...new Set(names)].sort((one, other) => place(one) - place(other));
}

class PipelinePath extends HTMLElement {
  connectedCallback() {
    this.setAttribute("role", "navigation");
    this.setAttribute("aria-label", "Stages of the lowering");
    store.watch(["result", "run", "failure", "targets", "stageKinds", "visible", "sending", "draft"], () => this.schedule());
  }

  frame = 0;
  /** the result that was last drawn, and the stages of it that could be seen */
  seen = "";

  /** Events come in bursts: draw once for all of them. */
  schedule() {
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      this.draw();
    });
  }

  draw() {
    const { run, failure, result, visible, sending } = store.state;
    const shown = run?.result ?? failure ?? (sending && !result ? null : result);
    const path = pathOf(shown);
    const visibleStages = new Set(visible.map(shownStage));
    const first = path.find((name) => !shown?.stage(name));
    /** @param {string} name @returns {NodeState} */
    const stateOf = (name) => {
      if (shown?.stage(name)) return "done";
      if (shown?.document.status === "failed") return name === first ? "failed" : "absent";
      if (sending || run) return name === first ? "running" : "waiting";
      return "waiting";
    };
    /** @type {HTMLElement[]} */
    const parts = [];
    path.forEach((name, index) => {
      if (index > 0) parts.push(this.arrow(name, shown, stateOf(name)));
      parts.push(this.node(name, shown?.stage(name) ?? null, stateOf(name), visibleStages.has(name), index));
    });
    this.classList.toggle("is-busy", Boolean(run || sending));
    const focused = document.activeElement instanceof HTMLElement && this.contains(document.activeElement) ? document.activeElement.dataset.key : null;
    this.replaceChildren(make("ol", {}, ...parts));
    if (focused) /** @type {HTMLElement | null} */ (this.querySelector(`[data-key="${focused}"]`))?.focus();
    const seen = [shown?.id, ...visible].join();
    if (seen === this.seen) return;
    // In a narrow window, the path shows the stage that the panes show.
    this.seen = seen;
    const node = this.querySelector("[aria-pressed=true]");
    if (node) scrollSideways(this, node);
  }

  /** @param {string} name @param {StageRow | null} row @param {NodeState} state @param {boolean} isVisible @param {number} index */
  node(name, row, state, isVisible, index) {
    const title = stageTitle(name);
    const facts = row
      ? [duration(row.milliseconds), row.lines < 1000 ? plural(row.lines, "line") : `${short(row.lines)} lines`]
      : [STATE_WORDS[state]];
    return make(
      "li",
      { class: "node-item" },
      make(
        "button",
        {
          type: "button", class: `node ${hueClass(name)} is-${state}`, "data-key": `node-${name}`, "data-stage": name,
          "aria-label": `${title}, ${row ? facts.join(", ") : STATE_WORDS[state]}`,
          "aria-pressed": String(isVisible), disabled: !row && state !== "failed", title: index < 9 ? `Alt+${index + 1}` : null,
          onclick: () => this.ask(row ? `stage:${name}` : "log"),
        },
        make("span", { class: "node-title" }, title),
        make("span", { class: "node-facts" }, ...facts.map((fact) => make("span", {}, fact))),
      ),
    );
  }

  /** @param {string} name the stage it leads to @param {Result | null} shown @param {NodeState} state */
  arrow(name, shown, state) {
    const passes = shown?.passesOf(name) ?? [];
    const changed = passes.filter((pass) => pass.changed).length;
    const time = passes.reduce((sum, pass) => sum + pass.milliseconds, 0);
    // As wide from the beginning as it was before, so that nothing moves when they arrive.
    const room = passes.length || store.state.result?.passesOf(name).length ? " has-passes" : "";
    if (passes.length === 0) return make("li", { class: `arrow is-${state}${room}`, "aria-hidden": "true" }, make("span", { class: "line" }));
    return make(
      "li",
      { class: `arrow is-${state}${room}` },
      make(
        "button",
        {
          type: "button", class: hueClass(name), "data-key": `arrow-${name}`,
          "aria-label": `${plural(passes.length, "pass")} to ${stageTitle(name)}, ${changed} changed something, ${duration(time)}`,
          title: `${plural(passes.length, "pass")}, ${changed} changed something, ${duration(time)}`,
          onclick: () => this.ask(`passes:${name}`),
        },
        make("span", { class: "count" }, plural(passes.length, "pass")),
        make("span", { class: "line" }),
        make("span", { class: "changed" }, `${changed} changed`),
      ),
    );
  }

  /** @param {string} address */
  ask(address) {
    showFailure();
    this.dispatchEvent(new CustomEvent("pane-open", { bubbles: true, detail: address }));
  }
}

customElements.define("pipeline-path", PipelinePath);
