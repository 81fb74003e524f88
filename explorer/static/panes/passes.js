/**
 * `<pane-passes>`: the passes of the lowering, what each one did, and an operation's way through them.
 *
 * Its state is "STAGE.INDEX", the pass that is looked at, or "llvm.INDEX", one of LLVM's own; then ".u" for
 * the diff one text below the other, ".t" for the whole text, ".l12" for the operation in line 12 of the module after it.
 *
 * @import { CompilationDocument, PassRow } from "../types.js"
 */
import { ApiError, api } from "../api.js";
import { registerFamily } from "../commands.js";
import { ComparisonDiff } from "../compare/diff.js";
import { make, prose, setText } from "../dom.js";
import { duration, literal, plural } from "../format.js";
import { isFile } from "../host.js";
import { paneInUse } from "../pane_in_use.js";
import { passChanges } from "../passes/documents.js";
import { PassLineage } from "../passes/lineage.js";
import { LlvmPasses } from "../passes/llvm.js";
import { PassContent } from "../passes/pass_content.js";
import { passGroups } from "../passes/pass_list.js";
import { passesWithLayouts } from "../passes/snapshots.js";
import { hueClass } from "../stages.js";
import { store } from "../store.js";

const LLVM = "llvm";
/** @type {Promise<Map<string, string>> | null} */
let explanations = null;

class PassesPane extends HTMLElement {
  state = "";
  onlyChanged = true;
  loaded = "";
  /** whose changed lines were asked for */
  counted = "";
  /** @type {(() => void)[]} */
  watches = [];
  /** @type {PassRow[]} */
  shown = [];
  /** @type {PassRow | null} */
  chosen = null;
  diff = new ComparisonDiff();
  lineage = new PassLineage();
  /** @type {LlvmPasses | null} */
  llvm = null;

  get paneState() {
    return this.state;
  }

  /** @param {string} state */
  set paneState(state) {
    this.state = state;
    if (this.list) this.draw();
  }

  connectedCallback() {
    if (!this.list) this.build();
    this.watches = [store.watch(["result"], () => this.draw())];
  }

  disconnectedCallback() {
    for (const end of this.watches) end();
  }

  build() {
    this.changedBox = make("input", { type: "checkbox", onchange: () => { this.onlyChanged = this.changedBox?.checked ?? true; this.draw(); } });
    this.changedBox.checked = true;
    this.summary = make("span", { class: "summary" });
    this.list = make("div", { class: "pass-list", role: "listbox", tabindex: "0", "aria-label": "Passes", onkeydown: (/** @type {KeyboardEvent} */ event) => this.key(event) });
    this.llvmBox = make("div", { class: "pass-llvm" });
    this.title_ = make("h3", {});
    this.facts = make("span", { class: "pass-facts" });
    this.options = make("span", { class: "chips" });
    this.words = make("p", { class: "pass-words" });
    this.place = make("span", { class: "count", role: "status" });
    this.tools = make("span", { class: "pass-tools" });
    this.message = make("div", { class: "empty" });
    this.note = make("p", { class: "pass-note" });
    this.addEventListener("change-shown", () => this.drawPlace());
    this.addEventListener("line-chosen", (event) => this.chooseLine(/** @type {CustomEvent<{before: number, after: number}>} */ (event).detail));
    this.addEventListener("lineage-closed", () => this.ask({ line: 0 }));
    this.lineage.go = (index, line) => this.ask({ index, line });
    this.body = make(
      "div",
      { class: "pass-body" },
      make("div", { class: "pass-side" }, make("div", { class: "pass-head" }, make("label", { class: "check" }, this.changedBox, "changed only"), this.summary), this.list, this.llvmBox),
      make(
        "section",
        { class: "pass-detail", "aria-label": "The pass" },
        make("header", {}, make("div", { class: "pass-line" }, this.title_, this.facts, this.tools), this.words, this.options),
        this.lineage,
        make("div", { class: "pass-texts" }, this.diff, this.note),
      ),
    );
    this.append(this.body, this.message);
  }

  /** What the state says. */
  get view() {
    const [stage = "", index = "", ...flags] = this.state.split(".");
    const line = flags.find((flag) => /^l\d+$/.test(flag));
    return {
      stage, index: index === "" ? null : Number(index), unified: flags.includes("u"), whole: flags.includes("t"), line: line ? Number(line.slice(1)) : 0,
    };
  }

  /** Whose passes are shown: of the result itself, or of the job that watches LLVM. @returns {CompilationDocument | null} */
  get subject() {
    const document = store.state.result?.document ?? null;
    return this.view.stage === LLVM ? (this.llvm?.progress.document ?? null) : document;
  }

  draw() {
    const { result } = store.state;
    const { list, summary, message, body } = this;
    if (!list || !summary || !message || !body) return;
    if (result && result.finished && this.llvm?.id !== result.id) {
      this.llvm = new LlvmPasses(result.id, () => this.draw());
    }
    if (this.view.stage === LLVM && result?.finished && this.llvm?.progress.state === "idle" && !isFile) void this.llvm.start();
    const all = result?.document.passes ?? [];
    message.hidden = all.length > 0;
    body.hidden = all.length === 0;
    if (all.length === 0) {
      const words = result && !result.finished ? "The passes are on their way." : result ? "No pass of this compilation was recorded." : "Compile a kernel to see what each pass does to it.";
      message.replaceChildren(make("p", {}, words));
      return;
    }
    const { stage, index } = this.view;
    const passes = this.subject?.passes ?? (stage === LLVM ? [] : all);
    const changed = passes.filter((pass) => pass.changed);
    this.shown = this.onlyChanged ? passes.filter((pass) => pass.changed || pass.failed || pass.index === index) : passes;
    const inStage = this.shown.filter((pass) => pass.stage === stage);
    const chosen = this.shown.find((pass) => pass.index === index) ?? inStage[0] ?? this.shown.find((pass) => pass.stage === "ttgir") ?? this.shown[0] ?? null;
    this.chosen = chosen;
    this.className = hueClass(chosen?.stage ?? "");
    setText(summary, passes.length ? `${changed.length} of ${passes.length} changed something` : "");
    const position = list.scrollTop;
    list.replaceChildren(...passGroups(this.id, this.shown, chosen, (pass) => this.ask({ index: pass.index, line: 0 })));
    if (passes.length && this.shown.length === 0) list.append(make("p", { class: "hint" }, "None of them changed anything."));
    list.scrollTop = position;
    list.setAttribute("aria-activedescendant", chosen ? `${this.id}-${chosen.index}` : "");
    requestAnimationFrame(() => list.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" }));
    this.drawLlvm();
    void this.count();
    void this.load();
  }

  /** Have the lines counted that each pass has changed: that takes too long to be part of the index. */
  async count() {
    const { subject } = this;
    const isOver = subject?.status === "complete" || subject?.status === "failed";
    if (!subject || !isOver || this.counted === subject.id || subject.passes.every(({ lines_added }) => lines_added !== null)) return;
    this.counted = subject.id;
    const changes = await passChanges(subject.id).catch(() => []);
    for (const { index, ...counts } of changes) Object.assign(subject.passes.find((pass) => pass.index === index) ?? {}, counts);
    if (this.subject === subject) this.draw();
  }

  /** What is offered of LLVM's own passes, or how far they are. */
  drawLlvm() {
    const { llvm, llvmBox } = this;
    if (!llvm || !llvmBox || isFile) return llvmBox?.replaceChildren();
    const { state, count, words } = llvm.progress;
    const button = (/** @type {string} */ text, /** @type {() => void} */ act) => make("button", { type: "button", class: "button small", onclick: act }, text);
    if (this.view.stage !== LLVM) {
      llvmBox.replaceChildren(button("LLVM's own passes →", () => this.setState(LLVM)), make("p", { class: "hint" }, "Compiles once more and watches LLVM; takes seconds."));
    } else if (state === "running") {
      llvmBox.replaceChildren(make("p", { role: "status" }, `${plural(count, "pass")} so far …`), make("progress", { "aria-label": "LLVM is working" }), button("Cancel", () => llvm.cancel()));
    } else {
      llvmBox.replaceChildren(
        ...(state === "failed" ? [make("p", { class: "hint" }, words), button("Try again", () => { llvm.progress.state = "idle"; void llvm.start(); })] : []),
        button("← Triton's passes", () => this.setState("")),
      );
    }
  }

  /** Show what the chosen pass did. */
  async load() {
    const { subject, chosen: pass, view } = this;
    if (!this.title_ || !this.facts || !this.options || !this.words || !this.note || !this.tools) return;
    if (!subject || !pass) {
      this.loaded = "";
      for (const part of [this.title_, this.facts, this.options, this.words, this.tools]) part.replaceChildren();
      this.say(this.view.stage === LLVM ? "Each pass is here once LLVM is done." : "");
      return;
    }
    const key = `${subject.id} ${pass.index} ${view.unified} ${view.whole}`;
    if (this.loaded === key) return this.followLine();
    this.loaded = key;
    setText(this.title_, pass.name);
    this.facts.replaceChildren(pass.milliseconds ? make("span", { class: "time" }, duration(pass.milliseconds)) : "");
    this.options.replaceChildren(...pass.options.map((option) => make("span", { class: "chip quiet" }, literal(option))));
    explanations ??= api.explanations("passes").then((words) => new Map(Object.entries(words)), () => {
      explanations = null; // they are asked for again
      return new Map();
    });
    this.words.replaceChildren(...prose((await explanations).get(pass.name) ?? ""));
    this.drawTools();
    try {
      const diff = await api.passAlignment(subject.id, pass.index);
      if (this.loaded !== key) return;
      const lines = (/** @type {"before_lines" | "after_lines"} */ side) => diff.runs.reduce((sum, run) => sum + run[side], 0);
      const earlier = subject.passes.some(({ index }) => index === pass.index - 1);
      const error = pass.failed ? subject.diagnostics.find(({ severity }) => severity === "error") : null;
      this.say(error ? `The compilation failed in this pass: ${error.message}` : pass.changed || view.whole ? "" : "This pass changed nothing.");
      if (!pass.changed && !view.whole) return;
      this.facts.replaceChildren(
        make("span", { class: "time" }, pass.milliseconds ? duration(pass.milliseconds) : ""),
        make("span", { class: "added" }, `+${diff.lines_added}`),
        make("span", { class: "removed" }, `−${diff.lines_removed}`),
        ...(diff.moves.length ? [make("span", { class: "moved", title: "Operations that stand elsewhere, but are the same" }, `⇅ ${diff.moves.length} moved`)] : []),
      );
      this.diff.show(
        {
          title: pass.name, diff,
          before: earlier ? new PassContent(subject.id, pass.index - 1, lines("before_lines")) : null,
          after: new PassContent(subject.id, pass.index, lines("after_lines")),
        },
        view.unified || this.clientWidth < 720 || !earlier,
      );
      if (view.whole) this.diff.unfoldAll();
      this.followLine();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (this.loaded !== key) return;
      this.loaded = "";
      this.say(`${error.problem.title}. ${error.problem.detail}`);
    }
  }

  /** Show the way of the operation that the state names. */
  followLine() {
    const { line } = this.view;
    if (!line || !this.subject || !this.chosen) {
      this.lineage.hidden = true;
      this.diff.mark(0);
      return;
    }
    this.diff.mark(line);
    void this.lineage.follow(this.subject.id, this.subject.passes, this.chosen.index, line);
  }

  /** @param {string} words instead of a difference */
  say(words) {
    if (!this.note) return;
    setText(this.note, words);
    this.note.hidden = !words;
    this.diff.hidden = Boolean(words);
  }

  drawTools() {
    const { view } = this;
    const button = (/** @type {string} */ text, /** @type {string} */ title, /** @type {() => void} */ act, /** @type {boolean | null} */ isPressed = null) =>
      make("button", { type: "button", class: "button small", title, "aria-label": title, "aria-pressed": isPressed === null ? null : String(isPressed), onclick: act }, text);
    this.tools?.replaceChildren(
      this.place ?? "",
      button("↑", "Previous change (P)", () => this.diff.step(-1)),
      button("↓", "Next change (N)", () => this.diff.step(1)),
      button("Unified", "One text below the other (U)", () => this.toggle("unified"), view.unified),
      button("All lines", "Equal lines, too (E)", () => this.toggle("whole"), view.whole),
      this.hasGraph ? button("Graph", "Graph of the module after this pass (G)", () => this.openGraph()) : "",
      this.hasLayouts ? button("Layouts", "Layouts after this pass", () => this.openLayouts()) : "",
    );
  }

  /** Whether the module after the pass can be drawn: LLVM's own passes belong to another compilation. */
  get hasGraph() {
    return this.chosen !== null && this.view.stage !== LLVM && !isFile;
  }

  get hasLayouts() {
    return this.hasGraph && passesWithLayouts(this.subject?.passes ?? []).some((pass) => pass === this.chosen);
  }

  openGraph() {
    if (this.chosen && this.hasGraph) this.openBeside(`graph:${this.chosen.stage};pass=${this.chosen.index}`);
  }

  openLayouts() {
    if (this.chosen && this.hasLayouts) this.openBeside(`layouts:;pass=${this.chosen.index}`);
  }

  /** @param {string} address of a pane */
  openBeside(address) {
    this.dispatchEvent(new CustomEvent("pane-beside", { bubbles: true, detail: address }));
  }

  drawPlace() {
    if (!this.place) return;
    const { count, position } = this.diff;
    this.place.textContent = position ? `${position} of ${count}` : plural(count, "change");
  }

  /** An operation was clicked: see its way. @param {{before: number, after: number}} lines 0: none on that side */
  chooseLine({ before, after }) {
    if (!this.chosen || !this.subject) return;
    if (after) this.ask({ line: after });
    else if (before) {
      const earlier = this.subject.passes.filter((pass) => pass.changed && pass.index < /** @type {PassRow} */ (this.chosen).index).at(-1);
      if (earlier) this.ask({ index: earlier.index, line: before });
    }
  }

  /** @param {"unified" | "whole"} what */
  toggle(what) {
    this.ask({ [what]: !this.view[what] });
  }

  /** @param {1 | -1} step */
  stepPass(step) {
    const at = this.shown.findIndex((pass) => pass === this.chosen);
    const next = this.shown[at + step];
    if (next) this.ask({ index: next.index, line: 0 });
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const step = /** @type {Record<string, 1 | -1>} */ ({ ArrowDown: 1, ArrowUp: -1 })[event.key];
    if (!step) return;
    event.preventDefault();
    this.stepPass(step);
  }

  /** @param {Partial<PassesPane["view"]>} changes */
  ask(changes) {
    const { stage, index, unified, whole, line } = { ...this.view, index: this.chosen?.index ?? null, ...changes };
    const pass = this.subject?.passes.find((each) => each.index === index);
    const group = stage === LLVM ? LLVM : (pass?.stage ?? stage);
    this.setState([group, index ?? "", unified && "u", whole && "t", line > 0 && `l${line}`].filter((part) => part !== false).join("."));
  }

  /** @param {string} state */
  setState(state) {
    this.state = state;
    this.draw();
    this.dispatchEvent(new CustomEvent("pane-state", { bubbles: true, detail: state }));
  }
}

registerFamily(() => {
  const pane = paneInUse("pane-passes", PassesPane);
  return pane ? [
    { name: "pass-next", title: "Next pass", group: "Passes", keys: ["J"], run: () => pane.stepPass(1) },
    { name: "pass-previous", title: "Previous pass", group: "Passes", keys: ["K"], run: () => pane.stepPass(-1) },
    { name: "pass-change-next", title: "Next change of the pass", group: "Passes", keys: ["N"], run: () => pane.diff.step(1) },
    { name: "pass-change-previous", title: "Previous change of the pass", group: "Passes", keys: ["P"], run: () => pane.diff.step(-1) },
    { name: "pass-unified", title: "Pass: side by side or unified", group: "Passes", keys: ["U"], run: () => pane.toggle("unified") },
    { name: "pass-whole", title: "Pass: all lines or changes only", group: "Passes", keys: ["E"], run: () => pane.toggle("whole") },
    ...(pane.hasGraph ? [{ name: "pass-graph", title: "Graph of the module after the pass", group: "Passes", keys: ["G"], run: () => pane.openGraph() }] : []),
    ...(pane.hasLayouts ? [{ name: "pass-layouts", title: "Layouts after the pass", group: "Passes", run: () => pane.openLayouts() }] : []),
    { name: "operation-forward", title: "What became of the operation", group: "Passes", keys: ["F"], run: () => pane.lineage.step(1) },
    { name: "operation-back", title: "Where the operation came from", group: "Passes", keys: ["B"], run: () => pane.lineage.step(-1) },
  ] : [];
});

customElements.define("pane-passes", PassesPane);
