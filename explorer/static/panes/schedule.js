/**
 * `<pane-schedule>`: the schedule of pipelined loops, iterations by turns, and the operations of a turn in order.
 *
 * Its state is the number of the loop, from 1; then ".a" for all operations of a turn.
 *
 * @import { OperationOrigin, ScheduledLoop, ScheduledOperation, ScheduleDocument } from "../core/types.js"
 */
import { api } from "../core/api.js";
import { plural } from "../core/format.js";
import { isFile } from "../core/host.js";
import { emptyPane, finishedId, Loaded, Pane, whyEmpty } from "../core/pane.js";
import { hover, pin, putCursor } from "../core/selection.js";
import { store } from "../core/store.js";
import { html, live, nothing, prose, styles } from "../core/template.js";
import { drawnIterations, inOrder, isComplete, isPlain, stageIn, turnsOf, workOf } from "./schedule/turns.js";

const WAITING = "The schedule is being read.";
const PARTS = {
  prologue: ["Before the loop", "Prologue: the first iterations begin"],
  full: ["In the loop", "Each turn executes all stages, each of another iteration"],
  epilogue: ["Last turns", "Epilogue: the last iterations end and none begins"],
};

class SchedulePane extends Pane {
  static slices = /** @type {(typeof Pane)["slices"]} */ (["result", "pinned"]);
  static properties = { stage: { state: true } };

  schedule = new Loaded(this, finishedId, (id) => api.analysis(id, "schedule"));
  /** The lines of the operations, which a second compilation tells. */
  lines = new Loaded(
    this,
    () =>
      this.schedule.answer && this.loop?.operations.length && !isFile ? [store.state.result?.id ?? ""] : null,
    async (id) => new Map((await api.analysis(id, "schedule_lines")).map((origin) => [origin.line, origin])),
  );

  constructor() {
    super();
    /** The stage whose operations are marked; null: none. @type {number | null} */
    this.stage = null;
  }

  /** The number of the loop in the address, from 1; 0: the first pipelined one. */
  get number() {
    return Number.parseInt(this.paneState, 10) || 0;
  }

  get showsAll() {
    return this.paneState.endsWith(".a");
  }

  /** The loop that is shown. @returns {ScheduledLoop | undefined} */
  get loop() {
    const loops = this.schedule.last?.loops ?? [];
    return loops[this.number - 1] ?? loops.find(({ last_stage: last }) => last > 0) ?? loops[0] ?? undefined;
  }

  /** @param {{number?: number, showsAll?: boolean}} changes */
  show({ number = this.number, showsAll = this.showsAll }) {
    this.keepState(`${number || ""}${showsAll ? ".a" : ""}`);
  }

  /** @override */
  render() {
    return this.schedule.render({
      empty: whyEmpty("Compile a kernel to see how its loops are pipelined.", WAITING),
      waiting: WAITING,
      ready: (document) =>
        document.loops.length ? this.content(document) : emptyPane("The kernel has no loop."),
      failed: ({ detail }) => emptyPane(detail),
    });
  }

  /** @param {ScheduleDocument} document */
  content(document) {
    const { loop } = this;
    if (!loop) return nothing;
    return html`<div class="schedule">
        ${document.loops.length > 1 ? this.choice(document.loops, loop) : nothing}
        ${loop.last_stage ? this.picture(loop) : this.notPipelined(loop, document)}
      </div>
      <div class="pane-foot">${this.sources(document)}<span class="facts">${factWords(document, loop)}</span></div>`;
  }

  /** @param {ScheduledLoop[]} loops @param {ScheduledLoop} shown */
  choice(loops, shown) {
    const choose = (/** @type {{target: HTMLSelectElement}} */ { target }) => {
      this.stage = null;
      this.show({ number: Number(target.value) });
    };
    return html`<label class="schedule-choice">Loop
      <select @change=${choose}>${loops.map(
        (loop, index) =>
          html`<option value=${index + 1} .selected=${live(loop === shown)}>${`${"– ".repeat(loop.depth)}${index + 1}: ${this.words(loop)}`}</option>`,
      )}</select>
    </label>`;
  }

  /** A loop in the words of the source as soon as its line is known. @param {ScheduledLoop} loop */
  words(loop) {
    const words =
      sourceWords(this.origin(loop.line)).replace(/:$/, "") ||
      loop.text.replace(/ iter_args\(.*| : .*|\{$/, "");
    const stages = loop.last_stage ? `, ${loop.last_stage + 1} stages` : ", not pipelined";
    return (loop.partition ? `${loop.partition}, ` : "") + words + stages;
  }

  /** @param {ScheduledLoop} loop @param {ScheduleDocument} document */
  notPipelined(loop, document) {
    const stages = loop.num_stages ?? document.num_stages;
    return html`<p class="schedule-words"><strong>This loop is not pipelined.</strong> ${prose(loop.reason)}</p>
      <p class="hint">Observed: no operation of it has a later <code>loop.stage</code> than another.${
        stages === null ? nothing : html` Its <code>num_stages</code> is ${stages}.`
      } The reason is inferred from the rules of the compiler.</p>`;
  }

  /** @param {ScheduledLoop} loop */
  picture(loop) {
    const turns = turnsOf(loop);
    const count = drawnIterations(loop);
    const { last_stage: last } = loop;
    const parts = /** @type {const} */ (["prologue", "full", "epilogue"]);
    return html`<p class="schedule-words">An iteration takes ${plural(last + 1, "stage")}, one in each turn. A turn of the
      loop ends iteration <var>i</var> and begins iteration <var>i</var> + ${last}.</p>
      <div class="schedule-scroll">
        <table class="schedule-turns" ${styles({ "--turns": String(turns.length) })} aria-label="Stages by iteration and turn" @keydown=${moveFocus}>
          <thead>
            <tr>
              <td></td>
              ${parts.map((part) => {
                const span = turns.filter((turn) => turn.part === part).length;
                const [title, words] = PARTS[part];
                return span
                  ? html`<th scope="colgroup" colspan=${span} class="is-${part}" title=${words ?? ""}>${title}</th>`
                  : nothing;
              })}
            </tr>
            <tr><th scope="row">turn</th>${turns.map(
              ({ number, part }) =>
                html`<th scope="col" class="is-${part}">${String(number).replace("-", "−")}</th>`,
            )}</tr>
          </thead>
          <tbody>${Array.from({ length: count }, (_, iteration) => this.row(loop, iteration))}</tbody>
        </table>
      </div>
      ${this.legend(loop)}
      <p class="hint">${
        isComplete(loop)
          ? `All ${count} iterations.`
          : `Drawn for ${count} iterations${loop.iterations ? ` of ${loop.iterations}` : ": the number is known when the kernel runs"}.`
      } Observed: the stage and the cluster of each operation. The turns follow from them.</p>
      ${this.order(loop)}`;
  }

  /** @param {ScheduledLoop} loop @param {number} iteration */
  row(loop, iteration) {
    return html`<tr>
      <th scope="row">iteration ${iteration}</th>
      ${turnsOf(loop).map(({ number, part }) => {
        const stage = stageIn(loop, iteration, number);
        if (stage === null) return html`<td class="is-${part}"></td>`;
        const work = workOf(loop, stage);
        const words = work.length > 2 ? [...work.slice(0, 2), "…"] : work;
        return html`<td class="is-${part}"><button
          type="button"
          class="schedule-stage schedule-cell"
          ${shade(loop, stage)}
          tabindex=${iteration === 0 && stage === 0 ? 0 : -1}
          aria-pressed=${this.stage === stage}
          aria-label="Iteration ${iteration}, turn ${number}, stage ${stage}: ${workWords(work)}"
          title=${`Stage ${stage}: ${workWords(work)}`}
          @mouseenter=${() => hover(this.stageLines(loop, stage), this.id)}
          @mouseleave=${() => hover([], this.id)}
          @focus=${() => hover(this.stageLines(loop, stage), this.id)}
          @blur=${() => hover([], this.id)}
          @click=${() => this.chooseStage(loop, stage)}
        ><b>${stage}</b><span>${words.join(", ")}</span></button></td>`;
      })}
    </tr>`;
  }

  /** What each stage does, where the cells have no room for words. @param {ScheduledLoop} loop */
  legend(loop) {
    return html`<dl class="schedule-legend">${Array.from(
      { length: loop.last_stage + 1 },
      (_, stage) =>
        html`<dt class="schedule-stage" ${shade(loop, stage)}>${stage}</dt><dd>${workWords(workOf(loop, stage))}</dd>`,
    )}</dl>`;
  }

  /** The operations of a turn in the order in which they run. @param {ScheduledLoop} loop */
  order(loop) {
    const operations = inOrder(loop);
    const shown = operations.filter(
      (each) => this.showsAll || !isPlain(each) || (this.stage !== null && each.stage === this.stage),
    );
    const hidden = operations.filter(isPlain).length;
    return html`<h3>One turn of the loop, in order</h3>
      <label class="check" ?hidden=${hidden === 0}><input
        type="checkbox"
        .checked=${live(this.showsAll)}
        @change=${() => this.show({ showsAll: !this.showsAll })}
      >with addresses, masks and arithmetic (${hidden})</label>
      <div class="schedule-scroll"><table class="schedule-order" aria-label="Operations of a turn in order">
        <thead><tr>
          <th scope="col" title="loop.cluster: the order within a turn">cluster</th>
          <th scope="col" title="loop.stage, counted from the first one of the loop">stage</th>
          <th scope="col">iteration</th>
          <th scope="col">operation</th>
          <th scope="col" title="Observed after the pass that pipelines: how often it is before the loop, in it and after it">before · in · after</th>
          <th scope="col">source</th>
        </tr></thead>
        <tbody>${shown.map((each) => this.operation(loop, each))}</tbody>
      </table></div>
      ${this.lines.render({
        waiting: () =>
          html`<p class="hint" role="status">Compiling with location snapshots, for the source lines …</p>`,
        ready: () => nothing,
        failed: ({ detail }) => html`<p class="hint">${detail}</p>`,
      })}
      ${isFile ? html`<p class="hint">A saved page has no source lines here.</p>` : nothing}
      ${
        loop.unscheduled
          ? html`<p class="hint">${plural(loop.unscheduled, "operation")} of the loop ${
              loop.unscheduled === 1 ? "has" : "have"
            } no schedule: the pass that pipelines places them with the operations that use them.</p>`
          : nothing
      }`;
  }

  /** @param {ScheduledLoop} loop @param {ScheduledOperation} operation */
  operation(loop, operation) {
    const { stage, cluster, text, operation: name, waited_in: waited } = operation;
    const origin = this.origin(operation.line);
    const ahead = loop.last_stage - stage;
    const lines = origin?.source_lines ?? [];
    const pinned = lines.length > 0 && lines.every((line) => store.state.pinned.includes(line));
    return html`<tr class="${this.stage === stage ? "is-chosen" : ""} ${pinned ? "is-pinned" : ""}">
      <td>${cluster}</td>
      <td>${stage}</td>
      <td><var>i</var>${ahead ? ` + ${ahead}` : ""}</td>
      <td><button
        type="button"
        class="schedule-operation"
        title=${text}
        @mouseenter=${() => hover(lines, this.id)}
        @mouseleave=${() => hover([], this.id)}
        @focus=${() => hover(lines, this.id)}
        @blur=${() => hover([], this.id)}
        @click=${() => this.choose(origin)}
      >${name}</button>${
        waited === null ? nothing : html`<span class="hint"> waited for in stage ${waited}</span>`
      }</td>
      <td>${origin ? madeWords(origin, name) : nothing}</td>
      <td class="schedule-source">${sourceWords(origin)}</td>
    </tr>`;
  }

  /** @param {number} line of the module before the pipelining pass @returns {OperationOrigin | undefined} */
  origin(line) {
    return this.lines.answer?.get(line);
  }

  /** Return the source lines of the operations of a stage. @param {ScheduledLoop} loop @param {number} stage */
  stageLines(loop, stage) {
    const own = loop.operations.filter((each) => each.stage === stage);
    const telling = own.filter((each) => !isPlain(each));
    const lines = (telling.length ? telling : own).flatMap(
      (each) => this.origin(each.line)?.source_lines ?? [],
    );
    return [...new Set(lines)].sort((one, other) => one - other);
  }

  /** Mark the operations of a stage, and pin their lines. @param {ScheduledLoop} loop @param {number} stage */
  chooseStage(loop, stage) {
    this.stage = this.stage === stage ? null : stage;
    pin(this.stageLines(loop, stage), this.id);
  }

  /** Pin the source lines of an operation, and put the cursor of TTGIR on it. @param {OperationOrigin | undefined} origin */
  choose(origin) {
    if (!origin) return;
    const [line] = origin.ttgir_lines;
    pin(origin.source_lines, this.id);
    if (line !== undefined) putCursor("ttgir", line, this.id);
  }

  /** The passes that the schedule is read from. @param {ScheduleDocument} document */
  sources({ loops, pass_index: before, scheduled_by: name, pipelined_by: after }) {
    if (loops.every(({ operations }) => operations.length === 0)) return nothing;
    const button = (/** @type {number} */ index, /** @type {string} */ words, /** @type {string} */ title) =>
      html`<button type="button" class="toggle" title=${title} @click=${() =>
        this.openBeside(`passes:ttgir.${index}`)}>${words}</button>`;
    return html`${button(before, `after ${name}`, "The pass whose module has the attributes")}
      ${button(after, "after the pipeliner", "The module after the pass that pipelines loops")}`;
  }
}

/** The shade of a stage: darker from the first to the last. @param {ScheduledLoop} loop @param {number} stage */
const shade = ({ last_stage: last }, stage) => styles({ "--share": `${12 + (30 * stage) / last}%` });

/** @param {string[]} work */
const workWords = (work) => work.join(", ") || "nothing";

/** @param {OperationOrigin | undefined} origin */
function sourceWords(origin) {
  const [line] = origin?.source_lines ?? [];
  return origin && line ? `${line}: ${origin.source_text}` : "";
}

/**
 * Return the number of copies of an operation after the pipelining pass. If it was split, count the operation that does
 * its work.
 * @param {OperationOrigin} origin @param {string} name
 */
function madeWords({ made }, name) {
  const copy =
    made.find(({ operation }) => operation === name) ??
    made.find(({ operation }) => /copy_global/.test(operation));
  if (!copy) return nothing;
  const words = `${copy.before} · ${copy.inside} · ${copy.after}`;
  return html`<span title=${copy.operation}>${words}</span>`;
}

/** @param {ScheduleDocument} document @param {ScheduledLoop} loop */
function factWords({ loops, total_loops: total }, { operations, total_operations: all }) {
  const cut = all > operations.length ? `${operations.length} of ${plural(all, "operation")} · ` : "";
  return `${cut}${total > loops.length ? `${loops.length} of ` : ""}${plural(total, "loop")}`;
}

/** Move the focus between the cells of the picture. @param {KeyboardEvent} event */
function moveFocus(event) {
  const table = /** @type {HTMLTableElement} */ (event.currentTarget);
  const cell = /** @type {HTMLElement} */ (event.target).closest("td");
  const row = cell?.parentElement;
  const step = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] }[event.key];
  if (!cell || !row || !step) return;
  event.preventDefault();
  const rows = [...table.tBodies[0].rows];
  const [down = 0, right = 0] = step;
  const target =
    rows[rows.indexOf(/** @type {HTMLTableRowElement} */ (row)) + down]?.cells[
      /** @type {HTMLTableCellElement} */ (cell).cellIndex + right
    ];
  const button = target?.querySelector("button");
  if (!button) return;
  for (const each of table.querySelectorAll("button")) each.tabIndex = each === button ? 0 : -1;
  button.focus();
}

customElements.define("pane-schedule", SchedulePane);
