/**
 * `<pipeline-path>`: the lowering as a path from Python to machine code, filling in while it is compiled.
 *
 * @import { StageRow } from "../core/types.js"
 * @import { Result } from "../core/result.js"
 */
import { showFailure } from "../launch/compiler.js";
import { scrollSideways } from "../core/dom.js";
import { duration, plural, short } from "../core/format.js";
import { hueClass, shownStage, stageTitle, targetStages } from "../core/stages.js";
import { store } from "../core/store.js";
import { html, nothing, render } from "../core/template.js";

/** @typedef {"waiting" | "running" | "done" | "failed" | "absent"} NodeState */

const STATE_WORDS = {
  waiting: "waiting",
  running: "running",
  done: "",
  failed: "failed here",
  absent: "not reached",
};

/**
 * The stages on the path: the stages of the result, and the stages of its target that have not arrived yet.
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
  const place = (/** @type {string} */ name) =>
    store.state.stageKinds.findIndex((kind) => kind.name === name);
  return [...new Set(names)].sort((one, other) => place(one) - place(other));
}

class PipelinePath extends HTMLElement {
  connectedCallback() {
    this.setAttribute("role", "navigation");
    this.setAttribute("aria-label", "Stages of the lowering");
    store.watch(["result", "run", "failure", "targets", "stageKinds", "visible", "sending", "draft"], () =>
      this.schedule(),
    );
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
    const { failure, result, visible, sending } = store.state;
    const run = store.state.run?.isShown ? store.state.run : null;
    const shown = run?.result ?? failure ?? (sending && !result ? null : result);
    const path = pathOf(shown);
    const visibleStages = new Set(visible.map((state) => shownStage(state)));
    const first = path.find((name) => !shown?.stage(name));
    /** @param {string} name @returns {NodeState} */
    const stateOf = (name) => {
      if (shown?.stage(name)) return "done";
      // Between the last event and the index of the result, its outcome is not known.
      const status = run ? null : shown?.document.status;
      if (status === "failed" || status === "kernels_found")
        return name === first && status === "failed" ? "failed" : "absent";
      if (run && run.result.document.status !== "queued" && name === first) return "running";
      return "waiting";
    };
    this.classList.toggle("is-busy", Boolean(run || sending));
    const parts = path.map((name, index) => [
      index > 0 ? this.arrow(name, shown, stateOf(name)) : nothing,
      this.node(name, shown?.stage(name) ?? null, stateOf(name), visibleStages.has(name), index),
    ]);
    render(html`<ol>${parts}</ol>`, this);
    const seen = [shown?.id, ...visible].join();
    if (seen === this.seen) return;
    // In a narrow window, the path shows the stage that the panes show.
    this.seen = seen;
    const node = this.querySelector("[aria-pressed=true]");
    if (node) scrollSideways(this, node);
  }

  /**
   * @param {string} name
   * @param {StageRow | null} row
   * @param {NodeState} state
   * @param {boolean} isVisible
   * @param {number} index
   */
  node(name, row, state, isVisible, index) {
    const title = stageTitle(name);
    const summary = store.state.stageKinds.find((kind) => kind.name === name)?.summary ?? "";
    const facts = row
      ? [
          duration(row.milliseconds),
          row.lines < 1000 ? plural(row.lines, "line") : `${short(row.lines)} lines`,
        ]
      : [STATE_WORDS[state]];
    return html`<li class="node-item">
      <button
        type="button"
        class="node ${hueClass(name)} is-${state}"
        data-stage=${name}
        aria-label=${[title, summary, ...(row ? facts : [STATE_WORDS[state]])].filter(Boolean).join(", ")}
        aria-pressed=${String(isVisible)}
        title=${[row && facts.join(", "), index < 9 && `Alt+${index + 1}`].filter(Boolean).join(" · ") || nothing}
        @click=${() => this.openPane(state === "failed" ? "log" : `stage:${name}`)}
        ><span class="node-title">${title}</span
        ><span class="node-summary">${summary}</span
        ><span class="node-facts">${facts.map((fact) => html`<span>${fact}</span>`)}</span></button
      >
    </li>`;
  }

  /** @param {string} name the stage it leads to @param {Result | null} shown @param {NodeState} state */
  arrow(name, shown, state) {
    const passes = shown?.passesOf(name) ?? [];
    const changed = passes.filter((pass) => pass.changed).length;
    const time = passes.reduce((sum, pass) => sum + pass.milliseconds, 0);
    const facts = `${changed} changed something, ${duration(time)}`;
    // As wide from the beginning as it was before, so that nothing moves when they arrive.
    const room = passes.length || store.state.result?.passesOf(name).length ? " has-passes" : "";
    if (passes.length === 0)
      return html`<li class="arrow is-${state}${room}" aria-hidden="true"><span class="line"></span></li>`;
    const count = plural(passes.length, "pass");
    return html`<li class="arrow is-${state}${room}">
      <button
        type="button"
        class=${hueClass(name)}
        aria-label=${`${count} to ${stageTitle(name)}, ${facts}`}
        title=${`${count}, ${facts}`}
        @click=${() => this.openPane(`passes:${name}`)}
        ><span class="count">${count}</span><span class="line"></span
        ><span class="changed">${changed} changed</span></button
      >
    </li>`;
  }

  /** @param {string} address */
  openPane(address) {
    showFailure();
    this.dispatchEvent(new CustomEvent("pane-open", { bubbles: true, detail: address }));
  }
}

customElements.define("pipeline-path", PipelinePath);
