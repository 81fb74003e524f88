/**
 * `<matrix-table>`: a kernel for several configurations, targets and Triton versions.
 *
 * All metrics are a list, with a row for each cell. One metric is a grid, with a row for each configuration and
 * a column for each target and version. A value opens its result, two that are ticked can be compared.
 *
 * @import { MatrixCell, MatrixColumn, MatrixDocument, Problem } from "../core/types.js"
 * @import { Order } from "../launch/variant_rows.js"
 * @import { Standing } from "./cells.js"
 */
import { LitElement } from "lit";
import { orderedUrl } from "../compare/address.js";
import { html, live, nothing, styles } from "../core/template.js";
import { nextOrder, sortedBy, tick } from "../launch/variant_rows.js";
import {
  columnsOf,
  isIncomplete,
  PLACE,
  placeOf,
  placesOf,
  progressWords,
  show,
  standings,
  stateOf,
  TIME,
  numberOf,
} from "./cells.js";

/** How strongly the best and the worst are tinted, in percent. */
const TINT = 26;
const LIST = "all";

export class MatrixTable extends LitElement {
  static properties = {
    matrix: { attribute: false },
    problem: { attribute: false },
    order: { state: true },
    ticked: { state: true },
    metric: { state: true },
  };

  constructor() {
    super();
    /** @type {MatrixDocument | null} */
    this.matrix = null;
    /** @type {Problem | null} */
    this.problem = null;
    /** @type {Order} */
    this.order = null;
    /** The indices of the cells that are ticked, as texts, the last one last. @type {string[]} */
    this.ticked = [];
    /** The metric of the grid, or `LIST`. */
    this.metric = decodeURIComponent(location.hash.slice(1)) || LIST;
  }

  /** The page's style sheet applies: there is no shadow root. @override */
  createRenderRoot() {
    return this;
  }

  /** @override */
  render() {
    const { matrix, problem } = this;
    const alert = problem
      ? html`<p class="matrix-problem" role="alert"><b>${problem.title}.</b> ${problem.detail}</p>`
      : nothing;
    if (!matrix)
      return problem ? alert : html`<p class="matrix-problem" role="status">Loading the matrix …</p>`;
    const columns = columnsOf(matrix);
    const column = columns.find(({ name }) => name === this.metric);
    return html`<div class="matrix-head">${alert}${this.bar(matrix)}${this.place(matrix)}${this.choices(columns)}</div>
      <div class="matrix-rows" tabindex="0" role="group" aria-label="Results">
        ${column ? this.grid(matrix, column) : this.list(matrix, columns)}
      </div>`;
  }

  /** The actions for the matrix. @param {MatrixDocument} matrix */
  bar(matrix) {
    const { cells, api, is_at_work: isAtWork } = matrix;
    const done = cells.filter(({ state }) =>
      ["complete", "failed", "kernels_found", "refused"].includes(state),
    ).length;
    const [one, other] = this.ticked.flatMap((index) => {
      const { id, triton = null } = cells[Number(index)] ?? {};
      return id ? [{ id, triton }] : [];
    });
    const request = (/** @type {string} */ what) => () => {
      this.problem = null;
      this.dispatchEvent(new CustomEvent(what));
    };
    return html`<div class="matrix-bar">
      <progress aria-label="Compiled so far" ?hidden=${!isAtWork} max=${cells.length} .value=${done}></progress>
      <span role="status" class="progress-words">${progressWords(matrix)}</span>
      <button type="button" class="link" ?hidden=${!isAtWork} @click=${request("matrix-cancel")}>Cancel</button>
      <button type="button" class="button small" ?hidden=${isAtWork || !isIncomplete(matrix)}
        @click=${request("matrix-compile")}>Compile the others</button>
      ${
        one && other
          ? html`<a class="button small primary" href=${orderedUrl(one, other)}>Compare the two</a>`
          : html`<span class="hint">Tick two results to compare them.</span>`
      }
      <span class="matrix-files"><a href="${api}/table.md?links=1">Markdown</a>
        <a href="${api}/table.csv" download="matrix.csv">CSV</a> <a href=${api}>JSON</a></span>
    </div>`;
  }

  /** Where all times were measured; a column tells it where they differ. @param {MatrixDocument} matrix */
  place({ cells }) {
    const [place, ...others] = placesOf(cells);
    return place && !others.length
      ? html`<p class="matrix-place">Times were measured at ${place}.</p>`
      : nothing;
  }

  /** The choice of the list or of the metric of the grid. @param {MatrixColumn[]} columns */
  choices(columns) {
    const choose = (/** @type {string} */ name) => () => {
      this.metric = name;
      this.order = null;
      history.replaceState(null, "", name === LIST ? location.pathname : `#${name}`);
    };
    const chosen = columns.some(({ name }) => name === this.metric) ? this.metric : LIST;
    return html`<div class="matrix-choices" role="group" aria-label="Metric">
      ${[{ name: LIST, title: "All metrics" }, ...columns].map(
        (column) => html`<button type="button" aria-pressed=${column.name === chosen ? "true" : "false"}
          @click=${choose(column.name)}>${column.title}</button>`,
      )}
    </div>`;
  }

  /** @param {MatrixDocument} matrix @param {MatrixColumn[]} columns */
  list(matrix, columns) {
    const { cells, configurations, targets, tritons } = matrix;
    const standing = new Map(columns.map((column) => [column.name, standings(cells, column)]));
    const names = new Map(targets.map((target) => [target.name, target]));
    const has = {
      configuration: configurations.length > 1,
      triton: tritons.length > 1,
      places: placesOf(cells).length > 1,
    };
    const heads = [
      ...(has.configuration ? [{ name: "configuration", title: "Configuration", isText: true }] : []),
      { name: "target", title: "Target", isText: true },
      ...(has.triton ? [{ name: "triton", title: "Triton", isText: true }] : []),
      ...columns.map((column) => ({ name: column.name, title: column.title, isText: false })),
      ...(has.places ? [{ ...PLACE, isText: true }] : []),
    ];
    const titleOf = (/** @type {MatrixCell} */ cell) => configurations[cell.configuration]?.title ?? "";
    return html`<table class="matrix-list">
      <thead><tr>${heads.map((head) => this.head(head))}</tr></thead>
      ${this.sorted(cells, columns).map((cell) => {
        const [index, title] = [cells.indexOf(cell), titleOf(cell)];
        const target = names.get(cell.target);
        const words = `${title}, ${target?.architecture}, Triton ${cell.triton}`;
        const name = has.configuration ? title : (target?.architecture ?? cell.target);
        const { text, reason } = stateOf(cell);
        const isTold = ["failed", "kernels_found", "refused"].includes(cell.state);
        const facts = html`${
          has.configuration
            ? html`<td class="is-text" title=${target?.title ?? ""}>${target?.architecture}</td>`
            : nothing
        }${has.triton ? html`<td class="is-text">${cell.triton}</td>` : nothing}`;
        return html`<tbody class="is-${cell.state}"><tr>
            <th scope="row"><span class="row-head">${this.box(cell, index, words)}${
              cell.url ? html`<a href=${cell.url}>${name}</a>` : html`<span>${name}</span>`
            }</span></th>${facts}
            ${
              cell.metrics
                ? columns.map((column) => {
                    const value = numberOf(cell, column);
                    if (value === null) return html`<td>–</td>`;
                    const shown = this.value(value, column, standing.get(column.name)?.get(cell));
                    return html`<td>${
                      cell.time && column.name === TIME.name
                        ? html`<a href=${cell.time.url} title="Measured on ${cell.time.gpu}">${shown}</a>`
                        : shown
                    }</td>`;
                  })
                : html`<td class="is-text matrix-state" colspan=${columns.length} title=${reason}>${
                    isTold ? text : reason
                  }${isTold ? html`<span class="matrix-reason">${reason}</span>` : nothing}</td>`
            }
            ${has.places ? html`<td class="is-text matrix-place">${placeOf(cell)}</td>` : nothing}
          </tr></tbody>`;
      })}
    </table>`;
  }

  /** @param {MatrixDocument} matrix @param {MatrixColumn} column */
  grid(matrix, column) {
    const { cells, configurations, targets, tritons } = matrix;
    const standing = standings(cells, column);
    const hasPlaces = column.name === TIME.name && placesOf(cells).length > 1;
    const places = targets.flatMap((target) => tritons.map((triton) => ({ target, triton })));
    const [columns, versions] = [places.length, tritons.length];
    return html`<table class="matrix-grid" aria-label=${column.title}>
      <thead>
        <tr><th scope="col" rowspan=${versions > 1 ? 2 : 1} class="is-text">${column.title}</th>
          ${targets.map(
            ({ title, architecture }) =>
              html`<th scope="colgroup" colspan=${versions} title=${title}>${architecture}<small>${title}</small></th>`,
          )}</tr>
        ${
          versions > 1
            ? html`<tr>${places.map(({ triton }, at) => html`<th scope="col" class=${at % versions ? "" : "is-first"}>${triton}</th>`)}</tr>`
            : nothing
        }
      </thead>
      <tbody>${configurations.map(
        ({ title }, row) => html`<tr><th scope="row">${title}</th>
          ${places.map(({ target, triton }, at) => {
            const index = row * columns + at;
            const cell = cells[index];
            if (!cell) return html`<td></td>`;
            const words = `${title}, ${target.architecture}, Triton ${triton}`;
            const value = numberOf(cell, column);
            const { text, reason } = stateOf(cell);
            const time = column.name === TIME.name ? cell.time : null;
            const shown =
              value === null
                ? html`<span title=${reason}>${text}<span class="visually-hidden">: ${reason}</span></span>`
                : this.value(value, column, standing.get(cell));
            return html`<td class="is-${cell.state} ${at % versions ? "" : "is-first"}"
              ${styles(tintOf(standing.get(cell), column))}>${this.box(cell, index, words)}${
                cell.url
                  ? html`<a href=${time?.url ?? cell.url} title=${value === null ? reason : words}>${shown}</a>`
                  : shown
              }${time && hasPlaces ? html`<small class="matrix-place">${placeOf(cell)}</small>` : nothing}</td>`;
          })}</tr>`,
      )}</tbody>
    </table>`;
  }

  /** @param {{name: string, title: string, isText: boolean}} head */
  head({ name, title, isText }) {
    const { order } = this;
    const sorted = order?.name === name ? (order.isDescending ? "descending" : "ascending") : null;
    return html`<th scope="col" class=${isText ? "is-text" : ""} aria-sort=${sorted ?? nothing}><button
      type="button" title="${title}: sort" @click=${() => (this.order = nextOrder(order, name))}
    >${title}<span class="sort-mark" aria-hidden="true">${
      sorted ? (sorted === "descending" ? "▾" : "▴") : nothing
    }</span></button></th>`;
  }

  /** The box that chooses a cell for a comparison. @param {MatrixCell} cell @param {number} index @param {string} words */
  box(cell, index, words) {
    const key = String(index);
    return html`<input type="checkbox" aria-label="Compare ${words}"
      ?disabled=${!cell.id || !["complete", "failed", "kernels_found"].includes(cell.state)}
      .checked=${live(this.ticked.includes(key))}
      @change=${(/** @type {{target: HTMLInputElement}} */ { target }) =>
        (this.ticked = tick(this.ticked, key, target.checked))}>`;
  }

  /** @param {number} value @param {MatrixColumn} column @param {Standing | undefined} standing */
  value(value, column, standing) {
    const rank = standing?.isBest ? "best" : standing?.isWorst ? "worst" : "";
    const text = show(value, column);
    return html`<span class="matrix-value ${rank && `is-${rank}`}">${text}<span class="rank" aria-hidden="true">${
      rank === "best" ? "▲" : rank === "worst" ? "▼" : ""
    }</span>${rank ? html`<span class="visually-hidden">, ${rank}</span>` : nothing}</span>`;
  }

  /** @param {MatrixCell[]} cells @param {MatrixColumn[]} columns */
  sorted(cells, columns) {
    const { order } = this;
    if (!order) return cells;
    const column = columns.find(({ name }) => name === order.name);
    return sortedBy(cells, order, (cell) =>
      column
        ? numberOf(cell, column)
        : order.name === PLACE.name
          ? placeOf(cell)
          : cell[/** @type {"target"} */ (order.name)],
    );
  }
}

/**
 * The tint of a cell between the best and the worst, or between the least and the most in a column that is no goal.
 * @param {Standing | undefined} standing @param {MatrixColumn} column
 */
function tintOf(standing, { is_goal: isGoal }) {
  if (!standing) return { background: "" };
  const { share } = standing;
  const [color, strength] = !isGoal
    ? ["--accent", share]
    : share < 0.5
      ? ["--ok", 1 - 2 * share]
      : ["--bad", 2 * share - 1];
  return { background: `color-mix(in srgb, var(${color}) ${Math.round(TINT * strength)}%, transparent)` };
}

customElements.define("matrix-table", MatrixTable);
