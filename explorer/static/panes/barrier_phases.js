/**
 * mbarriers and warp-specialized partitions: in steps, the phases of each mbarrier, what each partition does or
 * waits for, and the copies and products under way.
 *
 * @import { BarrierPhasesDocument } from "../core/types.js"
 * @import { Cell, Row } from "./barrier_phases/rows.js"
 */
import { api } from "../core/api.js";
import { grouped, plural } from "../core/format.js";
import { finishedId, Loaded, Pane, whyEmpty } from "../core/pane.js";
import { hover, pin, putCursor } from "../core/selection.js";
import { html, nothing, prose, styles } from "../core/template.js";
import { groupsOf, inWindow, isUsed, linesOf } from "./barrier_phases/rows.js";

const NONE =
  "The kernel uses no mbarrier and no partitions. The compiler makes mbarriers for tensor descriptors, for the matrix products of sm_100, and for `warp_specialize`.";
/** In place of a picture. @param {string} text */
const words = (text) => html`<div class="empty"><p>${prose(text)}</p></div>`;
/** Steps that are drawn at once. */
const WINDOW = 48;

class BarrierPhasesPane extends Pane {
  static slices = /** @type {(typeof Pane)["slices"]} */ (["result", "pinned"]);
  static properties = { cell: { state: true } };

  phases = new Loaded(this, finishedId, (id) => api.analysis(id, "barrier_phases"));

  constructor() {
    super();
    /** The cell that last had the focus or the mouse. @type {Cell | null} */
    this.cell = null;
  }

  /** The first step that is drawn, which the address says. */
  get from() {
    return Number.parseInt(this.paneState, 10) || 0;
  }

  /** @override */
  render() {
    return this.phases.render({
      empty: whyEmpty(
        "Compile a kernel to see the phases of its mbarriers.",
        "The phases are computed when the compilation is complete.",
      ),
      waiting: "The phases are being computed.",
      ready: (document) => this.content(document),
      failed: ({ detail }) => words(detail),
    });
  }

  /** @param {BarrierPhasesDocument} document */
  content(document) {
    if (!document.threads.length) return words(NONE);
    return html`<div class="phases">
        ${document.findings.map(
          ({ kind, line, text }) =>
            html`<p class="phases-finding"><strong>${kind}</strong> <button
              type="button"
              class="phases-line"
              @click=${() => this.choose(document, line)}
            >TTGIR ${line}</button> ${text}</p>`,
        )}
        <p class="phases-words">One program, step by step, in an order that its mbarriers permit. A partition that waits is
          held until the phase with the other parity begins. Steps are not times: durations are not known.</p>
        ${this.assumptions(document)}
        ${this.navigation(document)}
        ${this.picture(document)}
        ${this.detail(document)}
        <p class="hint">The row of an mbarrier has the number of its phase, and the pending arrivals or bytes. Observed
          in TTGIR: operations, arrivals and bytes. Modelled: the order. In each step, each partition executes one operation
          unless it waits, and the copy unit and the matrix unit complete their oldest one.
          ${document.findings.length ? nothing : "No deadlock and no early access was found in this order and in two others, which is no proof."}</p>
      </div>
      <div class="pane-foot"><span class="facts">${factWords(document)}</span></div>`;
  }

  /** @param {BarrierPhasesDocument} document */
  assumptions({ assumed }) {
    if (!assumed.length) return nothing;
    return html`<p class="hint">Assumed, as no launch says it: ${assumed.map(
      ({ name, value }, index) => html`${index ? ", " : ""}<code>${name}</code> = ${value}`,
    )}.</p>`;
  }

  /** @param {BarrierPhasesDocument} document */
  navigation({ recorded_steps: steps }) {
    if (steps <= WINDOW) return nothing;
    const to = Math.min(this.from + WINDOW, steps);
    const button = (/** @type {string} */ words, /** @type {number} */ target) =>
      html`<button type="button" class="button small" ?disabled=${target === this.from} @click=${() => this.goTo(target)}>${words}</button>`;
    return html`<p class="phases-steps" role="group" aria-label="Steps">
      ${button("Earlier", Math.max(0, this.from - WINDOW))}
      <span role="status">Steps ${this.from} to ${to - 1} of ${grouped(steps)}</span>
      ${button("Later", to < steps ? this.from + WINDOW : this.from)}
    </p>`;
  }

  /** @param {number} step */
  goTo(step) {
    this.keepState(step ? String(step) : "");
  }

  /** @param {BarrierPhasesDocument} document */
  picture(document) {
    const to = Math.min(this.from + WINDOW, document.recorded_steps);
    const steps = Array.from({ length: Math.max(0, to - this.from) }, (_, index) => this.from + index);
    return html`<div class="phases-scroll">
      <table
        class="phases-table"
        aria-label="Threads and mbarriers by step"
        ${styles({ "--steps": String(steps.length) })}
        @keydown=${moveFocus}
      >
        <thead><tr><th scope="row">step</th>${steps.map((step) => html`<th scope="col">${step}</th>`)}</tr></thead>
        ${groupsOf(document).map(
          ({ title, rows }, group) => html`<tbody>
            <tr class="phases-group"><th scope="rowgroup">${title}</th><td colspan=${steps.length}></td></tr>
            ${rows.map((row, index) => this.row(document, row, to, group + index === 0))}
          </tbody>`,
        )}
      </table>
    </div>`;
  }

  /** @param {BarrierPhasesDocument} document @param {Row} row @param {number} to @param {boolean} isFirst */
  row(document, row, to, isFirst) {
    const cells = inWindow(row.cells, this.from, to);
    const entry = cells.findIndex(({ cell }) => cell);
    return html`<tr>
      <th scope="row" title=${`${row.title}, ${row.note}`}>${row.title}<small>${row.note}</small></th>
      ${cells.map(({ first, end, cell }, index) => {
        const isNewPhase = cell?.phase !== cells[index - 1]?.cell?.phase;
        if (!cell) return html`<td colspan=${end - first}></td>`;
        const show = () => this.point(document, cell);
        return html`<td colspan=${end - first}><button
          type="button"
          class="phases-cell is-${cell.kind}"
          data-first=${first}
          data-end=${end}
          tabindex=${isFirst && index === entry ? 0 : -1}
          aria-label=${cell.words}
          title=${cell.words}
          @mouseenter=${show}
          @mouseleave=${() => hover([], this.id)}
          @focus=${show}
          @blur=${() => hover([], this.id)}
          @click=${() => this.choose(document, cell.line)}
        >${isNewPhase && cell.phase !== undefined ? html`<b>${end - first > 2 ? `phase ${cell.phase}` : cell.phase}</b> ` : nothing}${cell.label}</button></td>`;
      })}
    </tr>`;
  }

  /** @param {BarrierPhasesDocument} document */
  detail(document) {
    const { cell } = this;
    if (!cell) {
      return html`<p class="phases-detail hint">Point at a cell for its words. Click on it for its line of TTGIR.</p>`;
    }
    const line = linesOf(document).get(cell.line);
    return html`<p class="phases-detail">${cell.words}${
      line ? html`<code>${line.line}: ${line.text}</code>` : nothing
    }</p>`;
  }

  /** Light the source lines of a cell. @param {BarrierPhasesDocument} document @param {Cell} cell */
  point(document, cell) {
    this.cell = cell;
    hover(linesOf(document).get(cell.line)?.source_lines ?? [], this.id);
  }

  /** Put the cursor of TTGIR on a line, and pin its source lines. @param {BarrierPhasesDocument} document @param {number} line */
  choose(document, line) {
    if (!line) return;
    pin(linesOf(document).get(line)?.source_lines ?? [], this.id);
    putCursor("ttgir", line, this.id);
  }
}

/** @param {BarrierPhasesDocument} document */
function factWords({ barriers, total_barriers: total, steps, recorded_steps: recorded, is_cut: isCut }) {
  const unused = barriers.filter((each) => !isUsed(each)).length;
  return [
    isCut ? `more than ${plural(steps, "step")}` : plural(steps, "step"),
    recorded < steps ? `the first ${grouped(recorded)} drawn` : "",
    plural(total, "mbarrier"),
    unused ? `${grouped(unused)} never used` : "",
  ]
    .filter(Boolean)
    .join(" · ");
}

/** Move the focus between the cells of the picture. @param {KeyboardEvent} event */
function moveFocus(event) {
  const table = /** @type {HTMLTableElement} */ (event.currentTarget);
  const button = /** @type {HTMLElement} */ (event.target).closest("button");
  if (!button) return;
  const rows = [...table.rows].map((row) => [...row.querySelectorAll("button")]).filter((row) => row.length);
  const at = rows.findIndex((row) => row.includes(button));
  const own = rows[at] ?? [];
  const step = Number(button.dataset.first);
  const covering = (/** @type {HTMLButtonElement[] | undefined} */ row) =>
    row?.findLast((each) => Number(each.dataset.first) <= step) ?? row?.[0];
  /** @type {Record<string, () => HTMLButtonElement | undefined>} */
  const targets = {
    ArrowRight: () => own[own.indexOf(button) + 1],
    ArrowLeft: () => own[own.indexOf(button) - 1],
    ArrowDown: () => covering(rows[at + 1]),
    ArrowUp: () => covering(rows[at - 1]),
    Home: () => own[0],
    End: () => own.at(-1),
  };
  const target = targets[event.key]?.();
  if (!target) return;
  event.preventDefault();
  for (const each of table.querySelectorAll("button")) each.tabIndex = each === target ? 0 : -1;
  target.focus();
}

customElements.define("pane-barrier-phases", BarrierPhasesPane);
