/**
 * `<pane-passes>`: the passes of the lowering, what each one did, and an operation's way through them.
 *
 * Its state is "STAGE.INDEX", the selected pass, or "llvm.INDEX", one of LLVM's own; then ".u" for a unified
 * diff, ".s" for one side by side, ".t" for the whole text, ".w" for the width of the page, ".y" for types in
 * full, ".l12" for the operation in line 12 of the module after the pass; then ";kind=tt.load" for the changes
 * of one kind of operation and ";search=mma" for the passes in which a text appears or vanishes.
 *
 * @import { ComparisonDiff } from "../compare/diff.js"
 * @import { CompilationDocument, PassRow } from "../core/types.js"
 * @import { OperationLineage } from "../lineage/operation_lineage.js"
 * @import { PassView } from "./passes/pass_view.js"
 */
import { guard } from "lit/directives/guard.js";
import { passCounts } from "../compare/change_counts.js";
import { api } from "../core/api.js";
import "../compare/diff.js";
import { explanations } from "../core/explanations.js";
import "../lessons/lesson_link.js";
import { duration, literal, plural } from "../core/format.js";
import { isFile } from "../core/host.js";
import { emptyPane, Loaded, Pane, whyEmpty } from "../core/pane.js";
import { paneInUse } from "../core/pane_in_use.js";
import { passesWithLayouts } from "../core/snapshots.js";
import { hueClass } from "../core/stages.js";
import { isOver } from "../core/status.js";
import { store } from "../core/store.js";
import { html, live, nothing, prose } from "../core/template.js";
import "../lineage/operation_lineage.js";
import { registerCommands } from "./passes/commands.js";
import { LlvmPasses } from "./passes/llvm.js";
import { loadPassTexts } from "./passes/pass_content.js";
import { PassEditing } from "./passes/pass_editing.js";
import { passGroups } from "./passes/pass_list.js";
import {
  countWords,
  formatPassView,
  LLVM,
  listedPasses,
  parsePassView,
  previousChange,
  selectedPass,
} from "./passes/pass_view.js";
import { toolButton } from "./passes/tool_button.js";

/** The passes that schedule and pipeline loops. */
const SCHEDULES = /^triton(?:amd)?gpu-(?:schedule-loops|pipeline)$/;

export class PassesPane extends Pane {
  static slices = /** @type {(typeof Pane)["slices"]} */ (["result", "lineage", "draft"]);
  static properties = {
    onlyChanged: { state: true },
    selected: { state: true },
  };

  view = parsePassView("");
  /** Whether the pane has the whole page. */
  isWide = false;
  /** The passes in the list. @type {PassRow[]} */
  listed = [];
  /** @type {LlvmPasses | null} */
  llvm = null;
  editing = new PassEditing(this);

  words = new Loaded(
    this,
    () => this.selected && [this.selected.name],
    async (name) => (await explanations("passes")).get(name) ?? "",
  );
  /** The change of the selected pass. */
  texts = new Loaded(
    this,
    () => {
      const { subject, selected } = this;
      const hasTexts = subject && selected && (selected.changed || this.view.whole);
      return hasTexts ? [subject.id, selected.index] : null;
    },
    (id, index) => loadPassTexts(id, index, this.subject?.passes ?? []),
  );
  /** The changed lines of each pass. Counting takes too long for the compilation's own document. */
  counts = new Loaded(
    this,
    () => {
      const { subject } = this;
      return subject && isOver(subject) && subject.passes.some(({ lines_added }) => lines_added === null)
        ? [subject]
        : null;
    },
    async (subject) => {
      for (const { index, ...counts } of await api.analysis(subject.id, "changes"))
        Object.assign(subject.passes.find((pass) => pass.index === index) ?? {}, counts);
    },
  );

  /** The passes that a search has found, by index. */
  found = new Loaded(
    this,
    () => (this.subject && this.view.search ? [this.subject.id, this.view.search] : null),
    async (id, text) => new Map((await api.passSearch(id, text)).map((match) => [match.index, match])),
  );

  constructor() {
    super();
    this.onlyChanged = true;
    /** @type {PassRow | null} */
    this.selected = null;
    new ResizeObserver(() => this.revealRow()).observe(this);
  }

  /**
   * The compilation whose passes are shown: the result, or the compilation that records LLVM's passes.
   * @returns {CompilationDocument | null}
   */
  get subject() {
    if (this.view.stage === LLVM) return this.llvm?.progress.document ?? null;
    return store.state.result?.document ?? null;
  }

  /** @returns {ComparisonDiff | null} */
  get diff() {
    return this.querySelector("comparison-diff");
  }

  /** @override */
  willUpdate() {
    const { result } = store.state;
    this.view = parsePassView(this.paneState);
    const isLlvm = this.view.stage === LLVM;
    if (result?.finished && this.llvm?.id !== result.id)
      this.llvm = new LlvmPasses(result.id, () => this.requestUpdate());
    if (isLlvm && result?.finished && this.llvm?.progress.state === "idle" && !isFile) void this.llvm.start();
    this.listed = listedPasses(this.subject?.passes ?? [], this.view, this.onlyChanged, this.foundPasses);
    this.selected = selectedPass(this.listed, this.view);
    this.className = `${hueClass(this.selected?.stage ?? "")} ${this.view.wide ? "is-wide" : ""}`;
  }

  /** @override */
  render() {
    const { result } = store.state;
    if (!result?.document.passes.length) {
      const unfinished = result?.finished
        ? "This compilation has no recorded passes."
        : "The passes appear here as soon as the compiler has run them.";
      return emptyPane(whyEmpty("Compile a kernel to see what each pass does to it.", unfinished));
    }
    return html`<div class="pass-body" @keydown=${this.leave}>
      <div class="pass-side">
        ${this.list()}
        <div class="pass-llvm">${isFile ? nothing : this.llvmControls()}</div>
      </div>
      <section class="pass-detail" aria-label="Selected pass">
        ${this.heading()}
        <operation-lineage
          role="region"
          aria-label="Lineage of the operation"
          ?hidden=${!this.operation}
          .operation=${this.operation}
          .passes=${this.subject?.passes ?? []}
          @lineage-step=${(/** @type {CustomEvent<{index: number, line: number}>} */ { detail }) =>
            this.show(detail)}
          @lineage-closed=${() => this.show({ line: 0 })}
        ></operation-lineage>
        <div class="pass-texts">${this.change()}</div>
      </section>
    </div>`;
  }

  /** @param {Map<string, unknown>} changed @override */
  updated(changed) {
    if (this.view.wide !== this.isWide) this.widen(this.view.wide);
    if (changed.has("selected")) this.revealRow();
  }

  /** Bring the row of the selected pass into view. */
  revealRow() {
    this.querySelector(".pass-list [aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }

  /** Behind another tab, the pane does not keep the page. @override */
  disconnectedCallback() {
    super.disconnectedCallback();
    if (this.isWide) this.widen(false);
  }

  /** Take the whole page, or give it back. @param {boolean} isWide */
  widen(isWide) {
    this.isWide = isWide;
    this.dispatchEvent(new CustomEvent("pane-wide", { bubbles: true, detail: isWide }));
  }

  /** The matches of a search, by index of the pass; null: no search, or no answer yet. */
  get foundPasses() {
    return this.view.search ? this.found.last : null;
  }

  list() {
    const { listed, selected } = this;
    const passes = this.subject?.passes ?? [];
    const changing = passes.filter((pass) => pass.changed).length;
    const shares = `${changing} of ${plural(passes.length, "pass")} changed something`;
    return html`<div class="pass-head">
        <label class="check" title=${shares}><input
          type="checkbox"
          .checked=${this.onlyChanged}
          @change=${(/** @type {{target: HTMLInputElement}} */ { target }) =>
            (this.onlyChanged = target.checked)}
        >changed only</label>
        <span class="summary" title=${shares}>${countWords(passes)}</span>
        ${isFile ? nothing : this.searchBox()}
      </div>
      <div
        class="pass-list"
        role="listbox"
        tabindex="0"
        aria-label="Passes"
        aria-activedescendant=${selected ? `${this.id}-${selected.index}` : nothing}
        @keydown=${this.key}
      >
        ${passGroups(
          this.id,
          listed,
          selected,
          this.touched,
          ({ index }) => this.show({ index, line: 0 }),
          this.foundPasses,
        )}
        ${passes.length && !listed.length ? html`<p class="hint">${this.nothingListed()}</p>` : nothing}
      </div>`;
  }

  nothingListed() {
    return this.view.search ? "No module has a line with this text." : "No pass changed anything.";
  }

  /** The input for a text that is searched in the modules after all passes. */
  searchBox() {
    const search = (/** @type {{target: HTMLInputElement}} */ { target }) =>
      this.show({ search: target.value.trim() });
    return html`<input
      type="search"
      class="pass-search"
      aria-label="Search all passes"
      placeholder="Search all passes"
      title="List the passes in which a text appears, vanishes, or is in more or fewer lines (O)"
      maxlength="200"
      .value=${live(this.view.search)}
      @change=${search}
      @search=${search}
    >`;
  }

  /** Move the focus to the search. */
  search() {
    /** @type {HTMLInputElement | null} */ (this.querySelector(".pass-search"))?.focus();
  }

  /** The button that records LLVM's own passes, or the progress of the job that does. */
  llvmControls() {
    const { llvm } = this;
    if (!llvm) return nothing;
    const { state, count, words } = llvm.progress;
    const button = (/** @type {string} */ text, /** @type {() => void} */ act) =>
      html`<button type="button" class="button small" @click=${act}>${text}</button>`;
    if (this.view.stage !== LLVM) {
      return html`${button("LLVM's own passes →", () => this.showStage(LLVM))}
        <p class="hint">Compiles the kernel again and records each pass of LLVM. This takes seconds.</p>`;
    }
    if (state === "running") {
      return html`<p role="status">${plural(count, "pass")} so far …</p>
        <progress aria-label="LLVM is running"></progress>
        ${button("Cancel", () => llvm.cancel())}`;
    }
    const retry = () => html`<p class="hint">${words}</p>${button("Try again", () => void llvm.start())}`;
    return html`${state === "failed" ? retry() : nothing}
      ${button("← Triton's passes", () => this.showStage(""))}`;
  }

  heading() {
    const pass = this.selected;
    if (!pass) return html`<header></header>`;
    const texts = this.texts.answer;
    return html`<header>
      <div class="pass-line">
        <h3>${pass.name}</h3>
        <span class="pass-facts">${
          pass.milliseconds ? html`<span class="time">${duration(pass.milliseconds)}</span>` : nothing
        }${texts ? passCounts(texts.diff) : nothing}</span>
        <span class="pass-tools">${this.tools()} ${this.links()}</span>
      </div>
      <p class="pass-words" title=${this.words.answer ?? nothing}>${prose(this.words.answer ?? "")}</p>
      <lesson-link .topic=${pass.name}></lesson-link>
      <span class="chips">${pass.options.map((option) => this.editing.option(literal(option)))}</span>
    </header>`;
  }

  /** Another compilation without the pass, and other panes with the module after the pass. */
  links() {
    return html`${this.editing.leaveOut()} ${
      this.hasGraph
        ? toolButton("Graph", "Graph of the module after this pass (G)", () => this.openGraph())
        : nothing
    } ${
      SCHEDULES.test(this.selected?.name ?? "")
        ? toolButton("Schedule", "Stages and iterations of the pipelined loops", () =>
            this.openBeside("schedule"),
          )
        : nothing
    } ${this.hasLayouts ? toolButton("Layouts", "Layouts after this pass", () => this.openLayouts()) : nothing}`;
  }

  tools() {
    const { view } = this;
    return html`${toolButton("Full width", "Full width (W)", () => this.toggle("wide"), view.wide)}
      <span class="count" role="status">${this.place()}</span>
      ${toolButton("↑", "Previous change (P)", () => void this.stepChange(-1))}
      ${toolButton("↓", "Next change (N)", () => void this.stepChange(1))}
      ${this.kindChoice()}
      ${toolButton("Types", "Types and attributes in full (T)", () => this.toggle("types"), view.types)}
      ${toolButton("Unified", "Both texts in one column (U)", () => this.toggleForm(), this.diff?.isUnified ?? false)}
      ${toolButton("All lines", "Show equal lines (E)", () => this.toggle("whole"), view.whole)}`;
  }

  /** The number of the shown change; "" until the changes of the selected pass have arrived. */
  place() {
    const { diff, texts } = this;
    if (!diff || !texts.answer || diff.texts !== texts.answer) return "";
    return diff.position ? `${diff.position} of ${diff.count}` : plural(diff.count, "change");
  }

  /** The choice of the kind of operation whose changes are shown. */
  kindChoice() {
    const kinds = this.texts.answer?.diff.kinds ?? [];
    if (kinds.length < 2) return nothing;
    return html`<select
      aria-label="Operations that are shown"
      @change=${(/** @type {{target: HTMLSelectElement}} */ { target }) => this.show({ kind: target.value })}
    >
      <option value="" .selected=${live(!this.shownKind)}>all operations</option>
      ${kinds.map(
        ({ name, before_lines: before, after_lines: after }) => html`<option
          value=${name}
          .selected=${live(name === this.shownKind)}
        >${name} +${after.length} −${before.length}</option>`,
      )}
    </select>`;
  }

  /** The chosen kind, if the pass changed an operation of it. */
  get shownKind() {
    return this.texts.last?.diff.kinds.some(({ name }) => name === this.view.kind) ? this.view.kind : "";
  }

  /** The change of the pass, or why there is none. */
  change() {
    const note = this.note();
    const { form, whole } = this.view;
    const texts = this.texts.last;
    return html`<comparison-diff
        ?hidden=${note !== nothing}
        .markedLine=${this.operation?.line ?? 0}
        .foldsTypes=${!this.view.types}
        .comparison=${guard(
          [texts, form, whole, this.shownKind],
          () => texts && { texts, form, whole, kind: this.shownKind },
        )}
        @change-shown=${() => this.requestUpdate()}
        @line-chosen=${this.followLine}
      ></comparison-diff>${note}`;
  }

  /** Why no difference is shown; `nothing`: one is, or it is being fetched. */
  note() {
    const { selected, subject, view } = this;
    const say = (/** @type {string} */ words) => html`<p class="pass-note">${words}</p>`;
    if (!selected || !subject)
      return view.stage === LLVM ? say("LLVM's passes appear here when the job has ended.") : nothing;
    const error = selected.failed && subject.diagnostics.find(({ severity }) => severity === "error");
    if (error) return say(`The compilation failed in this pass: ${error.message}`);
    if (selected.omitted) return say(`The module after this pass is not known: ${selected.omitted}.`);
    if (!selected.changed && !view.whole) return say("This pass changed nothing.");
    return this.texts.render({ ready: () => nothing });
  }

  /** The operation that is followed through the passes. */
  get operation() {
    const { subject, selected, view } = this;
    return subject && selected && view.line
      ? { id: subject.id, pass: selected.index, line: view.line }
      : null;
  }

  /** The passes that touched the operation whose lineage is shown, here or in a stage pane. */
  get touched() {
    const { lineage, result } = store.state;
    return this.subject === result?.document ? lineage?.touched : undefined;
  }

  get lineage() {
    return /** @type {OperationLineage | null} */ (this.querySelector("operation-lineage"));
  }

  /** Whether the module after the pass can be drawn: LLVM's own passes belong to another compilation. */
  get hasGraph() {
    return this.selected !== null && this.view.stage !== LLVM && !isFile;
  }

  get hasLayouts() {
    const { selected } = this;
    return (
      selected !== null && this.hasGraph && passesWithLayouts(this.subject?.passes ?? []).includes(selected)
    );
  }

  openGraph() {
    if (this.selected && this.hasGraph)
      this.openBeside(`graph:${this.selected.stage};pass=${this.selected.index}`);
  }

  openLayouts() {
    if (this.selected && this.hasLayouts) this.openBeside(`layouts:;pass=${this.selected.index}`);
  }

  /**
   * Follow the operation in the line that was clicked; a removed one, in the module before the pass.
   * @param {CustomEvent<{before: number, after: number}>} event 0: no line on that side
   */
  followLine({ detail: { before, after } }) {
    const { subject, selected } = this;
    // The change of the previously selected pass stays visible until the change of this pass has arrived.
    if (!subject || !selected || !this.texts.answer) return;
    const earlier = previousChange(subject.passes, selected);
    if (after) this.show({ line: after });
    else if (before && earlier) this.show({ index: earlier.index, line: before });
  }

  /** Go to the next change of the selected pass, or the one before. @param {1 | -1} step */
  async stepChange(step) {
    const { selected } = this;
    const isDrawn = (await this.texts.drawn()) !== null;
    if (isDrawn && selected === this.selected) this.diff?.step(step);
  }

  toggleForm() {
    if (this.diff) this.show({ form: this.diff.otherForm });
  }

  /** @param {"whole" | "wide" | "types"} what */
  toggle(what) {
    this.show({ [what]: !this.view[what] });
  }

  /** @param {1 | -1} step */
  stepPass(step) {
    const at = this.listed.findIndex((pass) => pass === this.selected);
    const next = this.listed[at + step];
    if (next) this.show({ index: next.index, line: 0 });
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const step = /** @type {Record<string, 1 | -1>} */ ({ ArrowDown: 1, ArrowUp: -1 })[event.key];
    if (!step) return;
    event.preventDefault();
    this.stepPass(step);
  }

  /** Escape leaves the full width and the selected pass for the list. @param {KeyboardEvent} event */
  async leave(event) {
    const list = /** @type {HTMLElement | null} */ (this.querySelector(".pass-list"));
    // Escape removes the text of a search.
    if (event.target instanceof Element && event.target.matches("input, select")) return;
    const isInList = list?.parentElement?.contains(/** @type {Node} */ (event.target));
    if (event.key !== "Escape" || event.defaultPrevented || (isInList && !this.view.wide)) return;
    event.preventDefault();
    if (this.view.wide) this.toggle("wide");
    await this.updateComplete;
    list?.focus();
  }

  /** Show the passes to another stage, or LLVM's own. @param {string} stage */
  showStage(stage) {
    this.keepState(formatPassView({ ...this.view, stage, index: null, line: 0, kind: "" }));
  }

  /** Show something else, and put it into the address. @param {Partial<PassView>} changes */
  show(changes) {
    const view = { ...this.view, index: this.selected?.index ?? null, ...changes };
    const pass = this.subject?.passes.find(({ index }) => index === view.index);
    const stage = view.stage === LLVM ? LLVM : (pass?.stage ?? view.stage);
    this.keepState(formatPassView({ ...view, stage }));
  }
}

registerCommands(() => paneInUse(PassesPane));

customElements.define("pane-passes", PassesPane);
