/**
 * `<variant-table>`: variants of one compilation, with a row for each variant and its result.
 *
 * A row opens its result, a column's title sorts, two ticked rows can be compared. Arrow keys go through the
 * rows; one of them at a time is a stop of the Tab key.
 *
 * @import { Draft } from "../core/types.js"
 * @import { BatchKind, Outcome } from "./variants.js"
 * @import { Column, Order, ResultColumn, Row } from "./variant_rows.js"
 *
 * `matrix` are the drafts of the matrix that the table can be opened as; omitted: the drafts of the rows.
 * @typedef {{kind: BatchKind, label: string, subject: string, columns: Column[], rows: Row[],
 *   matrix?: Draft[]}} Variants
 */
import { LitElement } from "lit";
import { orderedUrl } from "../compare/address.js";
import { repeat } from "lit/directives/repeat.js";
import { ApiError, api } from "../core/api.js";
import { toast } from "../core/dom.js";
import { plural } from "../core/format.js";
import { follow } from "../core/pane.js";
import { stageTitle } from "../core/stages.js";
import { store } from "../core/store.js";
import { html, live, nothing } from "../core/template.js";
import { matrixOf } from "./matrix_request.js";
import { headOf, nextOrder, RESULT_COLUMNS, sortedRows, tick } from "./variant_rows.js";
import { cancelVariants, compileVariants, isOpen } from "./variants.js";

const STATES = {
  waiting: "waits",
  compiling: "compiling",
  complete: "complete",
  failed: "failed",
  kernels_found: "kernels found",
  refused: "not taken",
};

export class VariantTable extends LitElement {
  static properties = {
    variants: { attribute: false },
    order: { state: true },
    ticked: { state: true },
    current: { state: true },
    isOpening: { state: true },
  };

  constructor() {
    super();
    /** @type {Variants | null} */
    this.variants = null;
    /** @type {Order} */
    this.order = null;
    /** The keys of the rows that are ticked, the last one last. @type {string[]} */
    this.ticked = [];
    /** The key of the row that the Tab key stops at. */
    this.current = "";
    /** The server has been asked for the matrix of the rows. */
    this.isOpening = false;
    follow(this, ["outcomes", "batches"], () => this.requestUpdate());
  }

  /** @override */
  createRenderRoot() {
    return this;
  }

  /** @override */
  willUpdate() {
    if (!this.variants) return;
    const { rows, columns } = this.variants;
    const keys = rows.map(({ key }) => key);
    this.ticked = this.ticked.filter((key) => keys.includes(key));
    if (!keys.includes(this.current))
      this.current = rows.find(({ isShown }) => isShown)?.key ?? keys[0] ?? "";
    if (![...columns, ...RESULT_COLUMNS].some(({ name }) => name === this.order?.name)) this.order = null;
  }

  /** @override */
  render() {
    if (!this.variants) return nothing;
    const { label, subject, columns } = this.variants;
    const { outcomes } = store.state;
    const keyOf = (/** @type {Row} */ { key }) => key;
    return html`${this.bar(this.variants)}
      <div class="variant-rows">
        <table aria-label=${label} @keydown=${this.move}>
          <thead><tr>
            <th scope="col" class="column-subject">${subject}</th>
            ${[...columns, ...RESULT_COLUMNS].map((column) => this.head(column))}
          </tr></thead>
          ${repeat(this.sorted(), keyOf, (row) => this.row(row, columns, outcomes.get(row.key)))}
        </table>
      </div>`;
  }

  /** The actions for all variants. @param {Variants} variants */
  bar({ kind, rows, matrix }) {
    const { outcomes, batches } = store.state;
    const batch = batches[kind];
    const isRunning = Boolean(batch?.stop);
    const stateOf = (/** @type {Row} */ { key }) => outcomes.get(key)?.state;
    const missing = rows.filter((row) => stateOf(row) !== "complete").length;
    const failed = rows.filter((row) => ["failed", "refused"].includes(stateOf(row) ?? "")).length;
    const isEarlier = batch?.keys.every((key) => rows.every((row) => row.key !== key));
    const words =
      isRunning && batch
        ? `${batch.done} of ${batch.keys.length}${isEarlier ? ", of the previous batch" : ""}`
        : failed
          ? plural(failed, "failure")
          : "";
    const [one, other] = this.ticked.flatMap((key) => {
      const id = outcomes.get(key)?.id;
      return id ? [{ id, triton: rows.find((row) => row.key === key)?.draft.triton ?? null }] : [];
    });
    const others = missing === rows.length ? "Compile all" : `Compile the other ${missing}`;
    return html`<div class="variant-bar">
      <button type="button" class="button small" ?hidden=${isRunning} ?disabled=${missing === 0}
        @click=${() => void compileVariants(kind, rows)}>${missing === 0 ? "All compiled" : others}</button>
      <progress aria-label="Compiled so far" ?hidden=${!isRunning}
        max=${batch?.keys.length ?? 1} .value=${batch?.done ?? 0}></progress>
      <span role="status" class="progress-words">${words}</span>
      <button type="button" class="link" ?hidden=${!isRunning} @click=${() => cancelVariants(kind)}>Cancel</button>
      ${
        one && other
          ? html`<a class="button small" href=${orderedUrl(one, other)}>Compare</a>`
          : html`<span class="hint" ?hidden=${isRunning || rows.length - missing < 2}>Tick two rows to compare
              them.</span>`
      }
      <button type="button" class="link" ?hidden=${(matrix ?? rows).length < 2} ?disabled=${this.isOpening}
        title="Compile all of them and show more metrics, on a separate page"
        @click=${() => void this.openMatrix(matrix ?? rows.map(({ draft }) => draft))}>Open as a matrix</button>
    </div>`;
  }

  /** Let the server compile several drafts, and show their page. @param {Draft[]} drafts */
  async openMatrix(drafts) {
    this.isOpening = true;
    try {
      location.assign((await api.createMatrix(matrixOf(drafts), { isBatch: true })).url);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      toast(`${error.problem.title}. ${error.problem.detail}`);
    } finally {
      this.isOpening = false;
    }
  }

  /** @param {Column | ResultColumn} column */
  head(column) {
    const { name, title, words } = headOf(column);
    const { order } = this;
    const sorted = order?.name === name ? (order.isDescending ? "descending" : "ascending") : null;
    return html`<th scope="col" class="column-${name}" aria-sort=${sorted ?? nothing}><button
      type="button"
      title="${words}: sort"
      aria-label=${words}
      @click=${() => (this.order = nextOrder(order, name))}
    ><span>${breakable(title)}</span><span class="sort-mark" aria-hidden="true">${
      sorted ? (sorted === "descending" ? "▾" : "▴") : nothing
    }</span></button></th>`;
  }

  /** @param {Row} row @param {Column[]} columns @param {Outcome | undefined} outcome */
  row(row, columns, outcome) {
    const state = outcome?.state ?? "idle";
    const words = !outcome
      ? "not compiled"
      : outcome.state === "compiling" && outcome.stage
        ? `reached ${stageTitle(outcome.stage)}`
        : STATES[outcome.state];
    const stop = this.current === row.key ? "0" : "-1";
    const become = () => (this.current = row.key);
    const message = ["failed", "refused"].includes(state)
      ? outcome?.message || "The compilation failed without a message. See its log."
      : "";
    return html`<tbody>
      <tr class="variant is-${state} ${row.isShown ? "is-shown" : ""}" aria-current=${row.isShown ? "true" : nothing}>
        <th scope="row"><span class="row-head"
          ><input type="checkbox" tabindex=${stop} aria-label="Compare ${row.words}"
            ?disabled=${!outcome?.id || isOpen(outcome)}
            .checked=${live(this.ticked.includes(row.key))}
            @change=${(/** @type {{target: HTMLInputElement}} */ { target }) =>
              (this.ticked = tick(this.ticked, row.key, target.checked))}
            @focus=${become}
          ><button type="button" class="opener" tabindex=${stop}
            title="${words}: ${outcome && !isOpen(outcome) ? "show" : "compile and show"}"
            @click=${row.open} @focus=${become}
            ><span class="mark" aria-hidden="true"></span><span class="name">${row.title}</span
            ><span class="visually-hidden">, ${row.words}, ${words}</span></button
        ></span></th>
        ${columns.map(
          ({ name, isText }) =>
            html`<td class="column-${name} ${isText ? "is-text" : ""}">${row.cells[name] ?? ""}</td>`,
        )}
        ${RESULT_COLUMNS.map(({ name, read, show, warn }) => {
          const value = outcome ? read(outcome) : null;
          const unknown = name === "registers" && isOpen(outcome) ? "…" : "";
          return html`<td class="column-${name} ${value !== null && warn?.(value) ? "warning" : ""}">${
            value === null ? unknown : show(value)
          }</td>`;
        })}
      </tr>
      ${
        message
          ? html`<tr class="variant-message">
              <td colspan=${columns.length + RESULT_COLUMNS.length + 1}>${message}</td>
            </tr>`
          : nothing
      }
    </tbody>`;
  }

  sorted() {
    return sortedRows(this.variants?.rows ?? [], this.order, store.state.outcomes);
  }

  /** Go to another row, to its check box if the focus is on one. @param {KeyboardEvent} event */
  move(event) {
    if (!(event.target instanceof HTMLElement) || !event.target.closest("tbody")) return;
    const rows = this.sorted();
    const at = rows.findIndex(({ key }) => key === this.current);
    const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: rows.length - 1 }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    const place = Math.min(Math.max(next, 0), rows.length - 1);
    const line = this.querySelectorAll("tr.variant")[place];
    const wanted = event.target instanceof HTMLInputElement ? "input:enabled, .opener" : ".opener";
    /** @type {HTMLElement | null | undefined} */ (line?.querySelector(wanted))?.focus();
  }
}

/** A name that may break after an underscore. @param {string} name */
function breakable(name) {
  return name.split(/(?<=_)/).map((part) => html`${part}<wbr>`);
}

customElements.define("variant-table", VariantTable);
