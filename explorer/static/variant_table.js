/**
 * `<variant-table>`: variants of one compilation, a row each, with what became of it.
 *
 * A row opens its result, a column's title sorts, two ticked rows can be compared. Arrow keys go through the
 * rows; one of them at a time is a stop of the Tab key.
 *
 * @import { BatchKind, Outcome, Variant } from "./variants.js"
 */
import { make, setText, toast } from "./dom.js";
import { duration, plural, size } from "./format.js";
import { stageTitle } from "./stages.js";
import { store } from "./store.js";
import { cancelVariants, compileVariants, isOpen } from "./variants.js";
import { visible } from "./visible.js";

/**
 * @typedef {object} Column
 * @property {string} name
 * @property {string} title short enough for the head of a column
 * @property {string} words the same for tips and screen readers
 * @property {boolean} [isText] not a number
 *
 * `title` stands in the row, `words` is for those who do not see its column's head.
 * @typedef {Variant & {title: string, words: string, cells: Record<string, string | number>, isShown: boolean, open: () => void}} Row
 */

/** @type {(Column & {read: (outcome: Outcome) => number | null, show: (value: number) => string, warn?: (value: number) => boolean})[]} */
const RESULTS = [
  { name: "registers", title: "regs", words: "Registers per thread", read: of("registers"), show: String },
  { name: "spills", title: "spills", words: "Spilled bytes, stores and loads", read: spills, show: (value) => (value ? size(value) : "0"), warn: (value) => value > 0 },
  { name: "shared", title: "shared", words: "Shared memory per block", read: of("shared_bytes"), show: size },
  { name: "occupancy", title: "occ.", words: "Occupancy", read: of("occupancy"), show: (value) => `${Math.round(value * 100)} %`, warn: (value) => value < 0.125 },
  { name: "time", title: "time", words: "Time to compile", read: ({ milliseconds }) => milliseconds, show: duration },
];
const STATES = { waiting: "waits", compiling: "compiling", complete: "complete", failed: "failed", refused: "not taken" };

export class VariantTable extends HTMLElement {
  /** @type {BatchKind} */
  kind = "configs";
  /** @type {Row[]} */
  rows = [];
  /** what the rows are */
  subject = "";
  /** @type {Column[]} */
  columns = [];
  /** @type {{name: string, descending: boolean} | null} null: the order they came in */
  order = null;
  /** @type {string[]} keys of the rows that are ticked, the last one last */
  ticked = [];
  /** the key of the row that the Tab key stops at */
  current = "";
  /** @type {Map<string, RowElements>} */
  elements = new Map();

  connectedCallback() {
    if (this.table) return;
    this.all = make("button", { type: "button", class: "button small", onclick: () => this.compileAll() }, "Compile all");
    this.cancel = make("button", { type: "button", class: "link", onclick: () => cancelVariants(this.kind) }, "Cancel");
    this.progress = make("progress", { "aria-label": "Compiled so far" });
    this.words = make("span", { role: "status", class: "progress-words" });
    this.compare = make("a", { class: "button small" }, "Compare");
    this.head = make("thead");
    this.table = make("table", { onkeydown: (/** @type {KeyboardEvent} */ event) => this.move(event) }, this.head);
    this.scroller = make("div", { class: "variant-rows" }, this.table);
    this.append(make("div", { class: "variant-bar" }, this.all, this.progress, this.words, this.cancel, this.compare), this.scroller);
    store.watch(["outcomes", "batches"], () => this.draw());
  }

  /** @param {{kind: BatchKind, label: string, subject: string, columns: Column[], rows: Row[]}} content */
  show({ kind, label, subject, columns, rows }) {
    this.kind = kind;
    this.rows = rows;
    const known = new Set(rows.map(({ key }) => key));
    this.ticked = this.ticked.filter((key) => known.has(key));
    if (!known.has(this.current)) this.current = rows.find(({ isShown }) => isShown)?.key ?? rows[0]?.key ?? "";
    for (const [key, { body }] of this.elements) {
      if (known.has(key)) continue;
      body.remove();
      this.elements.delete(key);
    }
    const changed = JSON.stringify([subject, columns]) !== JSON.stringify([this.subject, this.columns]);
    this.columns = columns;
    this.subject = subject;
    if (changed) {
      for (const { body } of this.elements.values()) body.remove();
      this.elements.clear();
      if (!this.allColumns().some(({ name }) => name === this.order?.name)) this.order = null;
      this.drawHead();
    }
    this.table?.setAttribute("aria-label", label);
    this.draw();
  }

  compileAll() {
    if (this.rows.length) void compileVariants(this.kind, this.rows);
    else toast("There is nothing here to compile all of.");
  }

  allColumns() {
    return [...this.columns, ...RESULTS];
  }

  drawHead() {
    const heads = this.allColumns().map(({ name, title, words }) => {
      const sorted = this.order?.name === name ? (this.order.descending ? "descending" : "ascending") : null;
      return make(
        "th",
        { scope: "col", class: `column-${name}`, "aria-sort": sorted },
        make("button", { type: "button", title: `${words}: sort`, "aria-label": words, "data-column": name, onclick: () => this.sortBy(name) }, title, make("span", { class: "sort-mark", "aria-hidden": "true" }, sorted ? (sorted === "descending" ? "▾" : "▴") : "")),
      );
    });
    this.head?.replaceChildren(make("tr", {}, make("th", { scope: "col", class: "column-subject" }, this.subject), ...heads));
  }

  /** Up, down, and back to the order they came in. @param {string} name */
  sortBy(name) {
    const { order } = this;
    this.order = order?.name !== name ? { name, descending: false } : order.descending ? null : { name, descending: true };
    this.drawHead();
    /** @type {HTMLElement | null | undefined} */ (this.head?.querySelector(`[data-column="${CSS.escape(name)}"]`))?.focus();
    this.draw();
  }

  /** @returns {Row[]} */
  sorted() {
    const { order } = this;
    if (!order) return this.rows;
    const result = RESULTS.find(({ name }) => name === order.name);
    const value = (/** @type {Row} */ { key, cells }) => {
      const outcome = store.state.outcomes.get(key);
      return result ? (outcome ? result.read(outcome) : null) : (cells[order.name] ?? null);
    };
    const sign = order.descending ? -1 : 1;
    return [...this.rows].sort((one, other) => {
      const [left, right] = [value(one), value(other)];
      // What is not known yet stands last either way.
      if (left === null || right === null) return Number(left === null) - Number(right === null);
      if (typeof left === "number" && typeof right === "number") return sign * (left - right);
      return sign * String(left).localeCompare(String(right), "en", { numeric: true });
    });
  }

  draw() {
    if (!this.table || !this.all || !this.cancel || !this.progress || !this.words || !this.compare) return;
    const { outcomes, batches } = store.state;
    const rows = this.sorted();
    const bodies = rows.map((row) => this.drawRow(row, outcomes.get(row.key)));
    // Moving a row takes the focus from it: only those out of place are moved.
    let before = /** @type {Element} */ (this.head);
    for (const body of bodies) {
      if (before.nextElementSibling !== body) before.after(body);
      before = body;
    }
    const batch = batches[this.kind];
    const running = Boolean(batch?.stop);
    const missing = rows.filter(({ key }) => outcomes.get(key)?.state !== "complete").length;
    this.all.hidden = running;
    this.all.disabled = missing === 0;
    setText(this.all, missing === 0 ? "All compiled" : missing === rows.length ? "Compile all" : `Compile the other ${missing}`);
    this.cancel.hidden = this.progress.hidden = !running;
    if (batch) {
      this.progress.max = batch.keys.length;
      this.progress.value = batch.done;
    }
    const failed = rows.filter(({ key }) => ["failed", "refused"].includes(outcomes.get(key)?.state ?? "")).length;
    const isEarlier = batch?.keys.every((key) => rows.every((row) => row.key !== key));
    const words =
      running && batch ? `${batch.done} of ${batch.keys.length}${isEarlier ? ", of what was asked before" : ""}`
      : failed ? `${plural(failed, "failure")}`
      : "";
    setText(this.words, words);
    const ids = this.ticked.map((key) => outcomes.get(key)?.id).filter(Boolean);
    this.compare.hidden = ids.length !== 2;
    if (ids.length === 2) this.compare.href = `/compare/${ids[0]}..${ids[1]}`;
  }

  /** @param {Row} row @param {Outcome | undefined} outcome */
  drawRow(row, outcome) {
    let elements = this.elements.get(row.key);
    if (!elements) this.elements.set(row.key, (elements = new RowElements(this, row.key)));
    elements.draw(row, outcome);
    return elements.body;
  }

  /** Tick a row; a third one lets the first go. @param {string} key @param {boolean} on */
  tick(key, on) {
    this.ticked = [...this.ticked.filter((each) => each !== key), ...(on ? [key] : [])].slice(-2);
    this.draw();
  }

  /** @param {KeyboardEvent} event */
  move(event) {
    if (!(event.target instanceof HTMLElement) || !event.target.closest("tbody")) return;
    const rows = this.sorted();
    const at = rows.findIndex(({ key }) => key === this.current);
    const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: rows.length - 1 }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    const row = rows[Math.min(Math.max(next, 0), rows.length - 1)];
    if (!row) return;
    this.current = row.key;
    const wanted = event.target instanceof HTMLInputElement ? "tick" : "opener";
    this.draw();
    const elements = this.elements.get(row.key);
    (elements?.[wanted].disabled ? elements.opener : elements?.[wanted])?.focus();
  }
}

/** The elements of one row, brought up to date in place so that a focus stays where it is. */
class RowElements {
  /** @param {VariantTable} table @param {string} key */
  constructor(table, key) {
    this.table = table;
    /** @type {Row | null} */
    this.row = null;
    this.mark = make("span", { class: "mark", "aria-hidden": "true" });
    this.name = make("span", { class: "name" });
    this.state = make("span", { class: "visually-hidden" });
    this.opener = make("button", { type: "button", class: "opener", onclick: () => this.row?.open(), onfocus: () => this.become() }, this.mark, this.name, this.state);
    this.tick = make("input", { type: "checkbox", onchange: () => table.tick(key, this.tick.checked), onfocus: () => this.become() });
    this.cells = table.allColumns().map(({ name, isText }) => make("td", { class: `column-${name}${isText ? " is-text" : ""}` }));
    this.line = make("tr", {}, make("th", { scope: "row" }, make("span", { class: "row-head" }, this.tick, this.opener)), ...this.cells);
    this.message = make("td", { colspan: String(this.cells.length + 1) });
    this.messageLine = make("tr", { class: "variant-message" }, this.message);
    this.body = make("tbody", {}, this.line);
  }

  become() {
    if (!this.row || this.table.current === this.row.key) return;
    this.table.current = this.row.key;
    this.table.draw();
  }

  /** @param {Row} row @param {Outcome | undefined} outcome */
  draw(row, outcome) {
    this.row = row;
    const state = outcome?.state ?? "idle";
    const words = outcome ? (outcome.state === "compiling" && outcome.stage ? `has come to ${stageTitle(outcome.stage)}` : STATES[outcome.state]) : "not compiled";
    const isCurrent = this.table.current === row.key;
    this.line.className = `variant is-${state}${row.isShown ? " is-shown" : ""}`;
    if (row.isShown) this.line.setAttribute("aria-current", "true");
    else this.line.removeAttribute("aria-current");
    setText(this.name, row.title);
    setText(this.state, `, ${row.words}, ${words}`);
    this.opener.title = visible(`${words}: ${outcome && !isOpen(outcome) ? "show" : "compile and show"}`);
    this.opener.tabIndex = isCurrent ? 0 : -1;
    this.tick.tabIndex = isCurrent ? 0 : -1;
    this.tick.disabled = !outcome?.id || isOpen(outcome);
    this.tick.checked = this.table.ticked.includes(row.key);
    this.tick.setAttribute("aria-label", visible(`Compare ${row.words}`));
    const values = [
      ...this.table.columns.map(({ name }) => ({ text: String(row.cells[name] ?? ""), warn: false })),
      ...RESULTS.map(({ name, read, show, warn }) => {
        const value = outcome ? read(outcome) : null;
        if (value !== null) return { text: show(value), warn: warn?.(value) ?? false };
        return { text: name === "registers" && isOpen(outcome) ? "…" : "", warn: false };
      }),
    ];
    this.cells.forEach((cell, index) => {
      const { text, warn } = values[index] ?? { text: "", warn: false };
      setText(cell, text);
      cell.classList.toggle("warning", warn);
    });
    const message = state === "failed" || state === "refused" ? outcome?.message || "It failed without a word; its log says more." : "";
    setText(this.message, message);
    if (message && !this.messageLine.isConnected) this.body.append(this.messageLine);
    if (!message) this.messageLine.remove();
  }
}

/** @param {string} name @returns {(outcome: Outcome) => number | null} */
function of(name) {
  return ({ resources }) => {
    const value = resources?.[name];
    return typeof value === "number" ? value : null;
  };
}

/** @param {Outcome} outcome */
function spills({ resources }) {
  if (typeof resources?.spill_stores_bytes !== "number") return null;
  return resources.spill_stores_bytes + Number(resources.spill_loads_bytes ?? 0);
}

customElements.define("variant-table", VariantTable);
