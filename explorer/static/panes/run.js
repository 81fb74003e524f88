/**
 * `<pane-run>`: run the compiled kernel, check its result and measure its speed.
 *
 * Its state is the id of a run; without one it shows the run that says most.
 *
 * @import { Device, Devices } from "../core/types.js"
 * @import { Preset } from "../runs/form_state.js"
 * @import { RunResult } from "../runs/run_result.js"
 */
import { sourceTexts } from "../core/source_files.js";
import { ApiError } from "../core/api.js";
import { canCompile, isFile } from "../core/host.js";
import { emptyPane, Loaded, Pane, whyEmpty } from "../core/pane.js";
import { store } from "../core/store.js";
import { html, nothing } from "../core/template.js";
import { whyNotRun } from "../launch/state.js";
import { deviceOf, firstRun, formFor, formOf, lackOf, PRESETS } from "../runs/form_state.js";
import "../runs/progress.js";
import { loadRuns, openRun } from "../runs/runner.js";
import { changeForm, runNow } from "../runs/start.js";
import { INTERPRETED, strangerWords } from "../runs/words.js";
import { onValue } from "./run/fields.js";
import { resultView } from "./run/result_view.js";
import { runList } from "./run/run_list.js";
import { setup } from "./run/setup.js";

const EMPTY =
  "Compile a kernel to run it: check its result, count what it moves and computes, and measure its speed.";
const NOTHING_RUN =
  "This kernel has no runs. Run compares the result with the reference. The other buttons measure times and what limits them.";

class RunPane extends Pane {
  static slices = /** @type {(typeof Pane)["slices"]} */ ([
    "result",
    "measures",
    "runs",
    "runResults",
    "runUnderWay",
    "startingRun",
    "runProblem",
    "runForm",
    "shownRun",
  ]);

  /** The run of the address, or the first one. */
  opened = new Loaded(
    this,
    () => {
      const id = this.paneState || (this.runs && firstRun(this.runs)?.id);
      return this.subject && id ? [id, this.subject] : null;
    },
    (id, compilation) => this.open(id, compilation),
  );

  constructor() {
    super();
    /** The compilation that the pane is about. */
    this.subject = "";
    /** The compilation before that, of which a run was shown; "": none. */
    this.earlier = "";
    /** The run that was last started on this page. @type {RunResult | null} */
    this.started = null;
    /** The same, until it is shown: with its first measurement. @type {RunResult | null} */
    this.awaited = null;
    /** @type {(() => void)[]} */
    this.endFollow = [];
  }

  /** @override */
  connectedCallback() {
    super.connectedCallback();
    this.endFollow = [
      store.watch(["result"], () => this.choose()),
      store.watch(["runUnderWay", "runResults"], () => this.follow()),
    ];
  }

  /** @override */
  disconnectedCallback() {
    super.disconnectedCallback();
    for (const end of this.endFollow) end();
  }

  /** The runs of the compilation; null: not known. */
  get runs() {
    const { runs } = store.state;
    return runs?.compilation === this.subject ? runs.document : null;
  }

  /** The run that was opened last with the compilation. */
  get lastOpened() {
    const { run } = this.opened.answer ?? this.opened.last ?? { run: null };
    return run?.compilation === this.subject ? run : null;
  }

  /** The shown run. It stays while the next run is fetched. */
  get shown() {
    const { lastOpened: run } = this;
    const { result } = store.state;
    return run && result && !strangerWords(run.document, result.document) ? run : null;
  }

  /** Start again when another compilation is shown. */
  choose() {
    const { result, runForm } = store.state;
    if (!result?.finished || result.id === this.subject) return;
    const ran = this.lastOpened?.document;
    if (this.subject) {
      const isOwn = ran?.compilation === this.subject && !ran.recorded;
      this.earlier = isOwn && ran.kernel === result.document.kernel ? this.subject : "";
      this.awaited = null;
      if (this.paneState) this.keepState("");
    }
    this.subject = result.id;
    store.update({ runForm: formFor(result.document, runForm), runProblem: null, shownRun: null });
    void loadRuns(result.id);
  }

  /** Show a run that was started on this page as soon as it has something to show. */
  follow() {
    const { runUnderWay } = store.state;
    if (runUnderWay && runUnderWay !== this.started && runUnderWay.compilation === this.subject)
      this.started = this.awaited = runUnderWay;
    const { awaited } = this;
    if (!awaited || (!awaited.finished && awaited.document.measurements.length === 0)) return;
    this.awaited = null;
    this.earlier = "";
    this.keepState(awaited.id);
  }

  /** @param {string} id @param {string} compilation */
  async open(id, compilation) {
    try {
      const run = await openRun(id, compilation);
      const { result, runForm, shownRun } = store.state;
      if (result?.id === compilation) {
        const isStranger = strangerWords(run.document, result.document) !== "";
        // A link sets the form, too.
        const isLinked = this.paneState === id && !shownRun && !isStranger;
        store.update({
          shownRun: isStranger ? null : run,
          ...(isLinked ? { runForm: formOf(run.document, runForm) } : {}),
        });
      }
      return { run, problem: "" };
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      return { run: null, problem: `${error.problem.title}. ${error.problem.detail}` };
    }
  }

  /** @override */
  render() {
    const { result, runUnderWay, startingRun, runProblem, runForm } = store.state;
    const why = whyEmpty(EMPTY, this.subject ? "" : "The kernel can be run when it is compiled.");
    if (!result || why) return emptyPane(why);
    const { shown, runs } = this;
    const canRun = canCompile && !whyNotRun(result.document);
    const devices = runs?.devices ?? null;
    const device = deviceOf(runForm, devices);
    const canStart = Boolean(devices?.[device].available) && !startingRun;
    const problem = runProblem ? `${runProblem.title}. ${runProblem.detail}` : this.problem;
    const note = this.note(devices, device);
    const isEmpty = !shown && !runUnderWay && !startingRun && !problem;
    return html`<div class="run">
      ${canRun ? this.bar(devices, device, canStart) : nothing}
      ${note && (canRun || isFile) ? html`<p class="hint run-device-note">${note}</p>` : nothing}
      ${canRun ? setup(result.document, runForm, device, canStart) : nothing}
      ${problem ? html`<p class="run-refusal" role="alert">${problem}</p>` : nothing}
      <run-progress .run=${shown && !shown.finished ? shown : runUnderWay} .isStarting=${startingRun}
      ></run-progress>
      ${
        this.earlier
          ? html`<p class="hint">The kernel has changed since it was run:
              <a href=${`/k/${this.earlier}#panes=run`}>the runs of the version before</a>.</p>`
          : nothing
      }
      ${runs ? runList(runs, shown?.id ?? "", (id) => this.pick(id)) : nothing}
      ${isEmpty ? html`<p class="hint run-nothing">${this.emptyWords}</p>` : nothing}
      ${shown ? resultView(shown, sourceTexts(result.document.request), this.id) : nothing}
    </div>`;
  }

  /** Why the run of the address is not shown; "": it is. */
  get problem() {
    const { run, problem } = this.opened.answer ?? { run: null, problem: "" };
    const { result } = store.state;
    return problem || (run && result ? strangerWords(run.document, result.document) : "");
  }

  get emptyWords() {
    const { result, runs } = store.state;
    if (runs?.problem) return `${runs.problem.title}. ${runs.problem.detail}`;
    if (!this.runs) return "Looking for runs of this kernel.";
    const refusal = result ? whyNotRun(result.document) : "";
    if (refusal) return refusal;
    if (canCompile) return NOTHING_RUN;
    return isFile ? "This kernel was not run before it was saved." : "This kernel was not run yet.";
  }

  /** @param {string} id of a run in the list */
  pick(id) {
    this.awaited = null;
    this.keepState(id);
  }

  /** The device, and a button for each preset. @param {Devices | null} devices @param {Device} device @param {boolean} canStart */
  bar(devices, device, canStart) {
    const gpus = [...new Set(devices?.gpu.names ?? [])].join(", ");
    const option = (/** @type {Device} */ value, /** @type {string} */ words) =>
      html`<option value=${value} ?disabled=${devices?.[value].available === false}
        .selected=${value === device}>${words}</option>`;
    return html`<div class="run-bar">
      <select aria-label="Run on"
        @change=${onValue((value) => changeForm({ device: /** @type {Device} */ (value), measures: null }))}>
        ${option("gpu", gpus ? `GPU: ${gpus}` : "GPU")} ${option("interpreter", "Interpreter on the CPU")}
      </select>
      ${
        /** @type {Preset[]} */ (Object.keys(PRESETS)).map((preset) => {
          const { title, words, measures } = PRESETS[preset];
          const lack = store.state.result && lackOf(preset, device, store.state.result.document);
          return html`<button type="button" class=${preset === "run" ? "button primary" : "button"}
          aria-keyshortcuts=${preset === "run" ? "Control+Shift+Enter" : nothing}
          title=${`${words} ${lack || measures[device].join(", ")}`}
          ?disabled=${!canStart || Boolean(lack)} @click=${() => void this.start(preset)}>${title}</button>`;
        })
      }
    </div>`;
  }

  /** @param {Preset} preset */
  async start(preset) {
    await runNow(preset);
    await this.updateComplete;
    const form = this.querySelector("details.has-problem");
    if (!(form instanceof HTMLDetailsElement)) return;
    form.open = true;
    /** @type {HTMLElement | null} */ (form.querySelector("[aria-invalid=true]"))?.focus();
  }

  /**
   * Say why a device is missing, or describe the chosen device.
   * @param {Devices | null} devices
   * @param {Device} device
   */
  note(devices, device) {
    if (!devices) return "";
    const { gpu, interpreter } = devices;
    const isInterpreted =
      device === "interpreter" && interpreter.available && this.shown?.document.run.device !== "interpreter";
    const reasons = [
      !gpu.available && gpu.reason,
      !interpreter.available && interpreter.reason,
      isInterpreted && INTERPRETED,
    ];
    return [...new Set(reasons.filter(Boolean))].join(" ");
  }
}

customElements.define("pane-run", RunPane);
