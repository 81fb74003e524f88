/**
 * `<pane-run>`: run the compiled kernel, and see whether its result is right and how fast it is.
 *
 * Its state is the id of a run; without one it shows that which says most.
 *
 * @import { Device, Devices, RunsDocument } from "../run/documents.js"
 * @import { Preset } from "../run/form_state.js"
 * @import { RunResult } from "../run/run_result.js"
 */
import { ApiError } from "../api.js";
import { make, setText } from "../dom.js";
import { canCompile, isFile } from "../host.js";
import { MEASURES, PRESETS, deviceOf, formFor, formOf } from "../run/form_state.js";
import { RunProgress } from "../run/progress.js";
import { RunResultView } from "../run/result_view.js";
import { runList } from "../run/run_list.js";
import { loadRuns, openRun } from "../run/runner.js";
import { RunSetup } from "../run/setup.js";
import { changeForm, runNow } from "../run/start.js";
import { INTERPRETED, outcomeOf, strangerWords } from "../run/words.js";
import { store } from "../store.js";

const EMPTY = "Compile a kernel to run it: see whether its result is right, what it moves and computes, and how fast it is.";

class RunPane extends HTMLElement {
  state = "";
  /** @type {(() => void)[]} */
  watches = [];
  /** the compilation that the pane is about */
  subject = "";
  /** @type {RunResult | null} */
  shown = null;
  /** what was wrong with the run that was asked for */
  message = "";
  /** a run that was started here, and is shown as soon as there is something of it to see @type {RunResult | null} */
  awaited = null;
  /** the compilation before this one, of which a run was shown; "": none */
  earlier = "";

  get paneState() {
    return this.state;
  }

  /** @param {string} state */
  set paneState(state) {
    if (this.state === state) return;
    this.state = state;
    if (this.isConnected) void this.follow();
  }

  connectedCallback() {
    if (!this.body) this.build();
    this.watches = [
      store.watch(["result"], () => this.choose()),
      store.watch(["result", "runs", "runResults", "runUnderWay", "startingRun", "runProblem", "runForm"], () => this.draw()),
      store.watch(["runUnderWay"], () => this.await()),
    ];
    // Behind another tab, the state may have changed.
    if (this.subject) void this.follow();
  }

  disconnectedCallback() {
    for (const end of this.watches) end();
  }

  build() {
    this.setup = new RunSetup();
    this.progress = new RunProgress();
    this.view = new RunResultView(this.id, () => store.state.result?.document.request.source ?? "");
    this.device = make("select", { "aria-label": "Run on", onchange: () => changeForm({ device: /** @type {Device} */ (this.device?.value), measures: null }) });
    this.buttons = /** @type {[Preset, typeof PRESETS.run][]} */ (Object.entries(PRESETS)).map(([name, { title, words }]) => ({
      name, words, button: make("button", { type: "button", class: name === "run" ? "button primary" : "button", "aria-keyshortcuts": name === "run" ? "Control+Shift+Enter" : null, onclick: () => void this.start(name) }, title),
    }));
    this.note = make("p", { class: "hint run-device-note" });
    this.problem = make("p", { class: "run-refusal", role: "alert" });
    this.earlierHint = make("p", { class: "hint" });
    this.empty = make("p", { class: "hint run-nothing" });
    this.list = make("div", { class: "run-lists" });
    this.body = make("div", { class: "run" },
      canCompile && make("div", { class: "run-bar" }, this.device, ...this.buttons.map(({ button }) => button)),
      this.note, canCompile && this.setup.element, this.problem, this.progress.element, this.earlierHint, this.list, this.empty, this.view.element);
  }

  /** @param {Preset} preset */
  async start(preset) {
    await runNow(preset);
    if (this.setup?.element.classList.contains("has-problem")) this.setup.open();
  }

  /** Another result is shown: runs of the one before are not its. */
  choose() {
    const { result } = store.state;
    if (!result?.finished || result.id === this.subject) return;
    const before = this.subject;
    this.subject = result.id;
    if (before) {
      const ran = this.shown?.document;
      this.earlier = ran && !ran.recorded && ran.kernel === result.document.kernel ? before : "";
      this.awaited = null;
      this.put(null);
      if (this.state) this.keep("");
    }
    store.update({ runForm: formFor(result.document, store.state.runForm), runProblem: null });
    void loadRuns(result.id).then(() => this.follow());
  }

  /** Put the state into the address. @param {string} state */
  keep(state) {
    this.dispatchEvent(new CustomEvent("pane-state", { bubbles: true, detail: state }));
    this.paneState = state;
  }

  /** @param {RunResult | null} result */
  put(result) {
    this.shown = result;
    store.update({ shownRun: result });
    this.draw();
  }

  /** Show the run of the address, or the first. */
  async follow() {
    const { subject } = this;
    const runs = store.state.runs?.compilation === subject ? store.state.runs.document : null;
    const wanted = this.state || (runs && firstOf(runs)?.id);
    this.message = "";
    if (!wanted) return this.put(null);
    if (this.shown?.id === wanted) return this.put(this.shown);
    try {
      const result = await openRun(wanted, subject);
      if (this.subject !== subject || (this.state && this.state !== wanted)) return undefined;
      this.message = store.state.result ? strangerWords(result.document, store.state.result.document) : "";
      if (!this.message) {
        if (this.state && this.shown === null) store.update({ runForm: formOf(result.document, store.state.runForm) });
        return this.put(result);
      }
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.message = `${error.problem.title}. ${error.problem.detail}`;
    }
    return this.put(null);
  }

  /** A run was started on this page: it takes the place of the one before with its first measurement. */
  await() {
    const { runUnderWay } = store.state;
    if (runUnderWay && runUnderWay.compilation === this.subject && runUnderWay !== this.shown) this.awaited = runUnderWay;
    this.advance();
  }

  advance() {
    const { awaited } = this;
    if (!awaited || (!awaited.finished && awaited.document.measurements.length === 0)) return;
    this.awaited = null;
    this.earlier = "";
    this.keep(awaited.id);
  }

  draw() {
    const { result, runs: known, runUnderWay, startingRun, runProblem, runForm } = store.state;
    const { setup, progress, view, body, problem, note, empty, list } = this;
    if (!setup || !progress || !view || !body || !problem || !note || !empty || !list) return;
    if (!result || (!result.finished && result.id !== this.subject)) {
      this.replaceChildren(make("div", { class: "empty" }, make("p", {}, result ? "The kernel can be run as soon as it is compiled." : EMPTY)));
      return;
    }
    if (body.parentElement !== this) this.replaceChildren(body);
    if (result.id !== this.subject) return;
    this.advance();
    const runs = known?.compilation === result.id ? known : null;
    this.drawDevices(runs?.document?.devices ?? null);
    if (canCompile) setup.draw(result.document, runForm, deviceOf(runForm, runs?.document?.devices ?? null));
    const words = runProblem ? `${runProblem.title}. ${runProblem.detail}` : this.message;
    setText(problem, words);
    problem.hidden = !words;
    progress.draw(this.shown && !this.shown.finished ? this.shown : runUnderWay, startingRun);
    this.drawEarlier();
    this.drawList(list, runs?.document ?? null);
    view.show(this.shown);
    const isBusy = Boolean(runUnderWay || startingRun);
    empty.hidden = Boolean(this.shown) || isBusy || Boolean(words);
    setText(empty, runs?.problem ? `${runs.problem.title}. ${runs.problem.detail}` : !runs?.document ? "Looking for runs of this kernel." : canCompile ? "Nothing was run yet. Run compares the result with the reference; the rest says how fast it is, and why." : isFile ? "This kernel was not run before it was saved." : "This kernel was not run yet.");
  }

  /** @param {HTMLElement} list @param {RunsDocument | null} runs */
  drawList(list, runs) {
    const shown = this.shown?.id ?? "";
    const key = JSON.stringify([shown, runs?.left_out, runs && [...runs.runs, ...runs.recordings].map((known) => {
      const row = store.state.runResults.get(known.id)?.document ?? known;
      return [row.id, row.status, row.matches, outcomeOf(row)];
    })]);
    if (list.dataset.key === key) return;
    list.dataset.key = key;
    const focused = list.contains(document.activeElement) ? /** @type {HTMLElement} */ (document.activeElement).dataset.run : undefined;
    const top = list.firstElementChild?.scrollTop ?? 0;
    const entries = runs && runList(runs, shown, (id) => {
      this.awaited = null;
      this.keep(id);
    });
    list.replaceChildren(...[entries, runs?.left_out ? make("p", { class: "hint" }, runs.left_out) : null].filter((each) => each instanceof Node));
    if (entries) entries.scrollTop = top;
    if (focused) /** @type {HTMLElement | null} */ (list.querySelector(`[data-run="${CSS.escape(focused)}"]`))?.focus();
  }

  /** @param {Devices | null} devices */
  drawDevices(devices) {
    const { device, note } = this;
    if (!device || !note) return;
    const { runForm, startingRun } = store.state;
    const chosen = deviceOf(runForm, devices);
    const gpus = devices?.gpu.names ?? [];
    const choices = /** @type {const} */ ([["gpu", gpus.length ? `GPU: ${[...new Set(gpus)].join(", ")}` : "GPU"], ["interpreter", "Interpreter on the CPU"]]);
    const key = JSON.stringify([choices, devices]);
    if (device.dataset.key !== key) {
      device.dataset.key = key;
      device.replaceChildren(...choices.map(([value, words]) => make("option", { value, disabled: devices !== null && !devices[value].available }, words)));
    }
    if (device.value !== chosen) device.value = chosen;
    const isAble = devices?.[chosen].available ?? false;
    for (const { name, words, button } of this.buttons ?? []) {
      const measures = PRESETS[name].measures[chosen];
      const lack = measures.length === 0 ? "It needs a GPU." : name === "autotune" && !hasConfigs() ? "This kernel has no autotune configurations." : "";
      button.disabled = !isAble || startingRun || Boolean(lack);
      button.title = `${words} ${lack || MEASURES.filter((each) => measures.includes(each.name)).map(({ title }) => title).join(", ")}`;
    }
    if (this.setup) this.setup.start.disabled = !isAble || startingRun;
    const reasons = devices ? [
      !devices.gpu.available && devices.gpu.reason, !devices.interpreter.available && devices.interpreter.reason,
      chosen === "interpreter" && devices.interpreter.available && this.shown?.document.run.device !== "interpreter" && INTERPRETED,
    ] : [];
    setText(note, [...new Set(reasons.filter(Boolean))].join(" "));
    note.hidden = !note.textContent || !(canCompile || isFile);
  }

  /** Say where the run went that was shown before the kernel was changed. */
  drawEarlier() {
    const { earlierHint: hint, earlier } = this;
    if (!hint) return;
    hint.hidden = !earlier;
    if (hint.hidden || hint.dataset.key === earlier) return;
    hint.dataset.key = earlier;
    hint.replaceChildren("The kernel has changed since it was run: ", make("a", { href: `/k/${earlier}#panes=run` }, "the runs of the version before"), ".");
  }
}

/** The run to begin with: the newest that has found something out, rather than a recording, rather than one that failed. @param {RunsDocument} runs */
function firstOf({ runs, recordings }) {
  const ended = runs.filter(({ status }) => status === "complete" || status === "failed");
  return ended.find(({ measurements }) => measurements.length > 0) ?? recordings[0] ?? ended[0];
}

/** Whether the kernel that is shown can be autotuned. */
function hasConfigs() {
  const { kernels, kernel } = store.state.result?.document ?? { kernels: [], kernel: null };
  return kernels.some(({ name, configs }) => name === kernel && configs.length > 0);
}

customElements.define("pane-run", RunPane);
