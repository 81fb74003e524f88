/**
 * `<session-table>`: the kernels of a captured program. A row opens what the program compiled, a column's
 * title sorts.
 *
 * @import { SessionDocument, SessionRow } from "../core/types.js"
 * @import { Order } from "../launch/variant_rows.js"
 */
import { LitElement } from "lit";
import { plural } from "../core/format.js";
import { isOver } from "../core/status.js";
import { html, nothing } from "../core/template.js";
import { headOf, nextOrder } from "../launch/variant_rows.js";
import { agreementOf, COLUMNS, configurationOf, inOrder } from "./rows.js";

const HEADS = [
  { name: "kernel", title: "kernel", words: "Kernel and configuration" },
  ...COLUMNS,
  {
    name: "agreement",
    title: "compiled here",
    words: "The compilation of this server, compared with the program's binary",
  },
];

export class SessionTable extends LitElement {
  static properties = {
    session: { attribute: false },
    problem: { attribute: false },
    order: { state: true },
  };

  constructor() {
    super();
    /** @type {SessionDocument | null} */
    this.session = null;
    /** @type {import("../core/types.js").Problem | null} */
    this.problem = null;
    /** @type {Order} */
    this.order = null;
  }

  /** The page's style sheet applies: there is no shadow root. @override */
  createRenderRoot() {
    return this;
  }

  /** @override */
  render() {
    const { session, problem } = this;
    if (problem)
      return html`<p class="session-note" role="alert"><b>${problem.title}.</b> ${problem.detail}</p>`;
    if (!session) return html`<p class="session-note" role="status">Loading the kernels …</p>`;
    if (!session.kernels.length)
      return html`<p class="session-note" role="status">No kernels: the server has removed
        ${session.removed === 1 ? "the only one" : `all ${session.removed}`}. Push the capture again.</p>`;
    const rows = inOrder(session.kernels, this.order);
    const isMachineKnown = hasOneMachine(session);
    return html`<div class="session-note"><p role="status">${words(session)}</p>${problemsOf(session)}</div>
      <div class="session-rows" tabindex="0" role="group" aria-label="Kernels of the program">
        <table>
          <thead><tr>${HEADS.map((column) => this.head(column))}</tr></thead>
          <tbody>${rows.map((each) => row(each, isMachineKnown))}</tbody>
        </table>
      </div>`;
  }

  /** @param {{name: string, title?: string, words?: string}} column */
  head(column) {
    const { name, title, words: explanation } = headOf(column);
    const { order } = this;
    const sorted = order?.name === name ? (order.isDescending ? "descending" : "ascending") : null;
    return html`<th scope="col" aria-sort=${sorted ?? nothing}><button
      type="button"
      title="${explanation}: sort"
      @click=${() => (this.order = nextOrder(order, name))}
    >${title}<span class="sort-mark" aria-hidden="true">${
      sorted ? (sorted === "descending" ? "▾" : "▴") : nothing
    }</span></button></th>`;
  }
}

/** The files that could not be read. @param {SessionDocument} session */
function problemsOf({ problems }) {
  if (!problems.length) return nothing;
  return html`<details class="session-problems"><summary>${plural(problems.length, "problem")}</summary>
    <ul>${problems.map(({ name, reason }) => html`<li><b>${name}</b>: ${reason}</li>`)}</ul></details>`;
}

/** The content of the session, in a line. @param {SessionDocument} session */
function words(session) {
  const { kernels, removed } = session;
  const names = new Set(kernels.map(({ kernel }) => kernel));
  const failed = kernels.filter(({ status }) => status === "failed").length;
  const waiting = kernels.filter((each) => !isOver(each) || each.agreement === "waiting").length;
  return [
    plural(names.size, "kernel"),
    plural(kernels.length, "specialization"),
    ...(hasOneMachine(session) ? [machineOf(kernels[0])] : []),
    ...(failed ? [`${failed} failed in the program`] : []),
    ...(waiting ? [`${waiting} being compiled here`] : []),
    ...(removed ? [`${removed} removed from the server`] : []),
  ].join(" · ");
}

/** The target and the version of Triton. @param {SessionRow} row */
function machineOf({ target, triton }) {
  return `${target} · Triton ${triton}`;
}

/** Whether all kernels have one target and one version, so that no row has to name them. @param {SessionDocument} session */
function hasOneMachine({ kernels }) {
  return new Set(kernels.map(machineOf)).size === 1;
}

/** @param {SessionRow} each @param {boolean} isMachineKnown */
function row(each, isMachineKnown) {
  const { kernel, url, status, error, compare_url: comparison } = each;
  const agreement = agreementOf(each);
  return html`<tr class="is-${status}">
    <th scope="row"><a class="session-kernel" href=${url} title="Open the kernel of the program">${kernel}</a>
      <span class="session-facts">${configurationOf(each)}</span>
      ${isMachineKnown ? nothing : html`<span class="session-facts">${machineOf(each)}</span>`}
      ${status === "failed" ? html`<span class="session-error">${reasonOf(error)}</span>` : nothing}</th>
    ${COLUMNS.map((column) => {
      const value = column.read(each);
      const isWarning = typeof value === "number" && column.warn?.(value);
      return html`<td class="number-cell ${isWarning ? "is-warning" : ""}">${
        typeof value === "number" ? column.show(value) : "–"
      }</td>`;
    })}
    <td class="agreement is-${each.agreement.replace(" ", "-")}">${
      comparison && each.agreement !== "unknown"
        ? html`<a href=${comparison} title="${agreement.words} Compare them">${agreement.title}</a>`
        : html`<span title=${agreement.words}>${agreement.title}</span>`
    }</td>
  </tr>`;
}

/**
 * The line of a compiler's message that says why: Python's exceptions have it at the end, below the source.
 * @param {string | null} text
 */
function reasonOf(text) {
  const lines = (text ?? "").split("\n").filter((line) => line.trim());
  return (lines[0]?.endsWith(":") ? lines.at(-1) : lines[0]) ?? "The compilation failed in the program.";
}

customElements.define("session-table", SessionTable);
