/**
 * `<pane-compile-time>`: the time by step and by pass, the instructions by source line, the tensors with the most
 * elements per thread, and why the code is long.
 *
 * @import { TemplateResult } from "lit"
 * @import { AnalysisAnswer } from "../core/types.js"
 */
import { api } from "../core/api.js";
import { duration, grouped } from "../core/format.js";
import { lineText } from "../core/line_words.js";
import { finishedId, Loaded, Pane, whyEmpty } from "../core/pane.js";
import { pin, putCursor } from "../core/selection.js";
import { stageTitle } from "../core/stages.js";
import { html, nothing } from "../core/template.js";
import { marked } from "../glossary/marks.js";

/** @typedef {AnalysisAnswer<"compile_time">} CompileTime */

/** The rows of a table that are shown at first. */
const FIRST_ROWS = 12;

class CompileTimePane extends Pane {
  answer = new Loaded(this, finishedId, (id) => api.analysis(id, "compile_time"));

  /** @override */
  render() {
    return this.answer.render({
      empty: whyEmpty(
        "Compile a kernel to see what its compilation takes the time for.",
        "The compile time is known when the compilation is finished.",
      ),
      waiting: "The compile time is being computed.",
      ready: (answer) => html`<div class="compile-time">
        ${this.cause(answer)} ${this.steps(answer)} ${this.passes(answer)} ${this.lines(answer)}
        ${this.tensors(answer)}
      </div>`,
    });
  }

  /** @param {CompileTime} answer */
  cause({ cause }) {
    if (!cause)
      return html`<p class="cause">No single cause of the compile time or of the code size stands out.</p>`;
    return html`<p class="cause is-found">${marked(cause.text)} ${marked(cause.advice)} ${this.place(cause.source_line)}</p>`;
  }

  /** A button that pins a source line. @param {number} line */
  place(line) {
    if (!line) return nothing;
    return html`<button type="button" class="link" @click=${() => pin([line], this.id)}>${lineText(line)}</button>`;
  }

  /** @param {CompileTime} answer */
  steps({ steps, milliseconds }) {
    const rows = steps.map((step) => [step.name, duration(step.milliseconds)]);
    return table(
      "Time by step",
      ["step", "time"],
      milliseconds ? [...rows, ["in all", duration(milliseconds)]] : rows,
    );
  }

  /** @param {CompileTime} answer */
  passes({ passes }) {
    const rows = passes.map(({ stage, name, runs, milliseconds, index }) => [
      html`<button type="button" class="link" @click=${() => this.openBeside(`passes:${stage}.${index}`)}>${name}</button>`,
      String(runs),
      stageTitle(stage),
      duration(milliseconds),
    ]);
    return table("Time by pass", ["pass", "runs", "to", "time"], rows);
  }

  /** @param {CompileTime} answer */
  lines({ lines, operations }) {
    const stages = Object.keys(operations);
    const counts = (/** @type {Record<string, number>} */ each) =>
      stages.map((name) => grouped(each[name] ?? 0));
    const rows = lines.map(({ line, text, operations: own }) => [
      line ? html`${this.place(line)} <code>${text}</code>` : "no source line",
      ...counts(own),
    ]);
    if (rows.length) rows.unshift(["in all", ...counts(operations)]);
    return table("Operations and instructions by source line", ["source", ...stages.map(stageTitle)], rows);
  }

  /** @param {CompileTime} answer */
  tensors({ tensors }) {
    const rows = tensors.map((each) => [
      html`<button type="button" class="link" @click=${() => putCursor("ttgir", each.ttgir_line, this.id)}>${each.name}</button>
        <code>${each.expression}</code>`,
      `${each.shape.join("×")} ${each.element}`,
      grouped(each.threads),
      grouped(each.elements_per_thread),
    ]);
    return table("Elements per thread", ["tensor of TTGIR", "type", "threads", "elements per thread"], rows);
  }
}

/**
 * A table with its heading. The first rows are shown, the others on request.
 * @param {string} title @param {string[]} heads @param {(string | TemplateResult)[][]} rows the first cell names the row
 */
function table(title, heads, rows) {
  if (rows.length === 0) return nothing;
  const drawn = rows.map(
    ([name, ...cells]) =>
      html`<tr><th scope="row">${name}</th>${cells.map((cell) => html`<td>${cell}</td>`)}</tr>`,
  );
  const part = (/** @type {string} */ label, /** @type {TemplateResult[]} */ shown) =>
    html`<table aria-label=${label}>
      <thead><tr>${heads.map((head) => html`<th scope="col">${marked(head)}</th>`)}</tr></thead>
      <tbody>${shown}</tbody>
    </table>`;
  const more = drawn.slice(FIRST_ROWS);
  return html`<section>
    <h3>${title}</h3>
    ${part(title, drawn.slice(0, FIRST_ROWS))}
    ${more.length ? html`<details><summary>${more.length} more</summary>${part(`${title}, more`, more)}</details>` : nothing}
  </section>`;
}

customElements.define("pane-compile-time", CompileTimePane);
