/**
 * `<pane-roofline>`: the distance of a run from the limits of the GPU, its measurements, and its hot lines.
 *
 * Its state is the run and the tab: "<run id>.measured"; without a run, the best run is shown, without a tab
 * the roofline.
 *
 * @import { RunDocument, RunsDocument } from "../core/types.js"
 * @import { RunResult } from "../runs/run_result.js"
 */
import { sourceTexts } from "../core/source_files.js";
import { ApiError, api } from "../core/api.js";
import { register } from "../core/commands.js";
import { canCompile } from "../core/host.js";
import { emptyPane, finishedId, Loaded, Pane, whyEmpty } from "../core/pane.js";
import { paneInUse } from "../core/pane_in_use.js";
import { putCursor, show } from "../core/selection.js";
import { store } from "../core/store.js";
import { whyNotRun } from "../launch/state.js";
import { html, nothing, prose } from "../core/template.js";
import "../charts/plot.js";
import { countsSection } from "../runs/counts.js";
import { launchSection } from "../runs/facts.js";
import { toggleHeat } from "../runs/heat.js";
import "../runs/progress.js";
import { loadRuns, openRun } from "../runs/runner.js";
import { runNow } from "../runs/start.js";
import { strangerWords } from "../runs/words.js";
import { floorTable, hintList, lossList, missingList, verdictOf } from "./roofline/analysis.js";
import { drawRoofline, roofLegend, rooflineTable } from "./roofline/drawing.js";
import { hotLines } from "./roofline/hot_lines.js";
import { checkLine, conditionsTable, counterTables, fileList, timingList } from "./roofline/measured.js";
import { bestRun, runChoice } from "./roofline/run_choice.js";
import "./roofline/timeline.js";

/** @typedef {"roofline" | "measured" | "hot" | "timeline"} Tab */
/** @typedef {(pane: RooflinePane) => unknown} Draw */

/** @type {Record<Tab, {title: string, load: (run: RunResult) => Promise<Draw>}>} */
const TABS = {
  roofline: { title: "Roofline", load: loadRoofline },
  measured: { title: "Measured", load: loadMeasured },
  hot: { title: "Hot lines", load: loadHotLines },
  timeline: { title: "Timeline", load: loadTimeline },
};

class RooflinePane extends Pane {
  static slices = /** @type {(typeof Pane)["slices"]} */ ([
    "result",
    "runs",
    "runResults",
    "shownRun",
    "withHeat",
  ]);

  /** The run of the address, or the run of a different pane, or the best run. */
  opened = new Loaded(
    this,
    () => {
      const { result } = store.state;
      const id = this.wanted;
      return result?.finished && id ? [id, result.id] : null;
    },
    (id, compilation) => this.open(id, compilation),
  );

  /** The content of the tab. A run in progress is drawn again with each measurement. */
  content = new Loaded(
    this,
    () => {
      const run = this.shown;
      return run
        ? /** @type {const} */ ([run, this.place.tab, run.finished, run.document.measurements.length])
        : null;
    },
    async (run, tab, _finished, _measurements) => ({ run, draw: await TABS[tab].load(run) }),
  );

  constructor() {
    super();
    /** @type {(() => void)[]} */
    this.endFollow = [];
  }

  /** @override */
  connectedCallback() {
    super.connectedCallback();
    this.endFollow = [
      store.watch(["result"], () => this.choose()),
      store.watch(["shownRun", "runs"], () => this.follow()),
    ];
  }

  /** @override */
  disconnectedCallback() {
    super.disconnectedCallback();
    for (const end of this.endFollow) end();
  }

  /** The run and the tab of the address. @returns {{run: string, tab: Tab}} */
  get place() {
    const [, run = "", tab = ""] = /^(.*?)(?:\.(\w+))?$/.exec(this.paneState) ?? [];
    return { run, tab: tab in TABS ? /** @type {Tab} */ (tab) : "roofline" };
  }

  /** @param {Partial<{run: string, tab: Tab}>} changes */
  go(changes) {
    const { run, tab } = { ...this.place, ...changes };
    this.keepState(tab === "roofline" ? run : `${run}.${tab}`);
  }

  /** The runs of the compilation; null: not known. */
  get runs() {
    const { runs, result } = store.state;
    return runs?.compilation === result?.id ? (runs?.document ?? null) : null;
  }

  /** The id of the run to show. */
  get wanted() {
    const { runs } = this;
    if (!runs) return "";
    const { shownRun } = store.state;
    const isKnown = [...runs.runs, ...runs.imported, ...runs.recordings].some(
      ({ id }) => id === shownRun?.id,
    );
    return this.place.run || (isKnown && shownRun?.id) || bestRun(runs)?.id || "";
  }

  /** The shown run. It stays while the next run is fetched. */
  get shown() {
    const { run, words } = this.opened.answer ?? this.opened.last ?? { run: null, words: "" };
    return run && !words && run.compilation === store.state.result?.id ? run : null;
  }

  /** Fetch the runs of the compilation. */
  choose() {
    const { result, runs } = store.state;
    if (result?.finished && runs?.compilation !== result.id) void loadRuns(result.id);
  }

  /** Show the run that another pane shows. */
  follow() {
    const { shown, runs } = this;
    const { shownRun } = store.state;
    if (!shownRun || !shown || shownRun === shown || !runs) return;
    if ([...runs.runs, ...runs.imported, ...runs.recordings].some(({ id }) => id === shownRun.id))
      this.go({ run: shownRun.id });
  }

  /** @param {string} id @param {string} compilation */
  async open(id, compilation) {
    try {
      const run = await openRun(id, compilation);
      const { result } = store.state;
      const words = result ? strangerWords(run.document, result.document) : "";
      // Another pane may have shown a run meanwhile: that one is wanted then.
      if (!words && result?.id === compilation && this.wanted === id) store.update({ shownRun: run });
      return { run, words };
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      return {
        run: null,
        words: `This run cannot be shown: ${error.problem.detail || error.problem.title}`,
      };
    }
  }

  /** @override */
  render() {
    const { result, runs: known } = store.state;
    if (!result || !finishedId())
      return emptyPane(
        whyEmpty(
          "Compile a kernel to see how far it is from the limits of the GPU.",
          "Measurements can be shown when the compilation is complete.",
        ),
      );
    const { runs, shown, wanted } = this;
    if (!runs)
      return emptyPane(
        (known?.compilation === result.id && known.problem?.detail) || "Looking for runs of this kernel.",
      );
    if (!wanted) return this.offer(runs);
    const answer = this.opened.answer;
    if (answer?.words) return this.refusal(answer.words, answer.run?.document ?? null);
    if (!shown) return nothing;
    const { tab } = this.place;
    return html`<div class="roofline-head">
        ${runChoice(runs, shown.document, result.document.triton ?? "", (id) => this.go({ run: id }))}
        ${this.tabs(tab)}
      </div>
      <run-progress .run=${shown.finished ? null : shown}></run-progress>
      <div class="roofline-body" role="tabpanel" tabindex="0" aria-label=${TABS[tab].title}>${this.content.render(
        {
          waiting: () => (this.content.last?.run === shown ? this.content.last.draw(this) : nothing),
          ready: ({ draw }) => draw(this),
          failed: ({ title, detail }) => html`<p>${detail || title}</p>`,
        },
      )}</div>`;
  }

  /**
   * Why the run of the address is not shown.
   * @param {string} words
   * @param {RunDocument | null} run that belongs to another compilation
   */
  refusal(words, run) {
    const link = () =>
      html`<p><a href=${`/k/${run?.compilation}#panes=roofline:${run?.id}`}>Open the compilation of the run</a></p>`;
    return html`<div class="empty">
      <p>${words}</p>
      ${run?.compilation ? link() : nothing}
      <button type="button" class="button" @click=${() => this.go({ run: "" })}>Show another run</button>
    </div>`;
  }

  /** Say how to fill the pane. @param {RunsDocument} document */
  offer({ devices: { gpu, interpreter } }) {
    const run = () => {
      this.dispatchEvent(new CustomEvent("pane-open", { bubbles: true, detail: "run" }));
      void runNow("run");
    };
    const interpreted = interpreter.available ? "in the interpreter, which counts" : "";
    const where = gpu.available ? `on ${gpu.names.join(" or ")}` : interpreted;
    const { result } = store.state;
    const refusal = result ? whyNotRun(result.document) : "";
    return html`<div class="empty">
      <p>This kernel has no runs and no profiles.</p>
      ${refusal || !gpu.available ? html`<p>${refusal || gpu.reason}</p>` : nothing}
      <p>The kernels of the gallery have profiles recorded on an H200.</p>
      ${
        where && canCompile && !refusal
          ? html`<button type="button" class="button" @click=${run}>Run the kernel ${where}</button>`
          : nothing
      }
    </div>`;
  }

  /** @param {Tab} shown */
  tabs(shown) {
    const tab = (/** @type {Tab} */ name) =>
      html`<button type="button" role="tab" data-tab=${name} aria-selected=${name === shown}
        tabindex=${name === shown ? 0 : -1} @click=${() => this.go({ tab: name })}>${TABS[name].title}</button>`;
    return html`<div class="roofline-tabs" role="tablist" aria-label="Views of the run" @keydown=${this.tabKey}>
      ${/** @type {Tab[]} */ (Object.keys(TABS)).map(tab)}
    </div>`;
  }

  /** @param {KeyboardEvent} event */
  async tabKey(event) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    this.stepTab(step);
    await this.updateComplete;
    /** @type {HTMLElement | null} */ (this.querySelector("[role=tab][aria-selected=true]"))?.focus();
  }

  /** @param {number} step */
  stepTab(step) {
    const names = /** @type {Tab[]} */ (Object.keys(TABS));
    this.go({ tab: names[(names.indexOf(this.place.tab) + step + names.length) % names.length] });
  }

  /** @param {number} line */
  showLine(line) {
    show([line], this.id);
  }
}

/** @param {RunResult} run @returns {Promise<Draw>} */
async function loadRoofline(run) {
  if (!run.finished) return () => html`<p>The roofline is drawn when the run ends.</p>`;
  const [document, check] = await Promise.all([
    api.roofline(run.id, run.compilation),
    run.measurement("check"),
  ]);
  const checked = check ? checkLine(check) : nothing;
  if (document.reason)
    return () => html`<p>${prose(document.reason)}</p>${checked} ${missingList(document.missing)}`;
  /** @type {import("../charts/plot.js").PlotContent} */
  const plot = {
    label: `Roofline of ${document.gpu}. ${document.verdict}`,
    fileName: `roofline-${run.document.kernel ?? run.id}`,
    draw: (colors, size) => drawRoofline(document, colors, size),
    table: rooflineTable(document),
  };
  const drawing =
    document.dots.length > 0
      ? html`<plot-figure .content=${plot}></plot-figure>${legend()} ${roofLegend(document)}`
      : html`<p class="hint">
          The kernel moves data without computing, so the plot has no dot for it. The table below has its numbers.
        </p>`;
  return (pane) => html`${verdictOf(document)}
    ${document.is_modelled ? html`<p class="hint">Not run on a GPU: compared with ${document.gpu}.</p>` : nothing}
    ${drawing} ${checked}
    <div class="roofline-columns">
      ${hintList(document.hints, (line) => pane.showLine(line))} ${floorTable(document)} ${lossList(document)}
      ${missingList(document.missing)}
    </div>`;
}

/** The meaning of the lines in the plot. */
function legend() {
  return html`<p class="roofline-legend hint">
    <span class="key is-solid">datasheet</span><span class="key is-dashed">measured</span><span
      class="key is-band">within 80 % of the roof</span><span class="key is-ridge">ridge</span>
  </p>`;
}

/** @param {RunResult} run @returns {Promise<Draw>} */
async function loadMeasured(run) {
  const [check, timings, counters, counts, environment, launch, files] = await Promise.all([
    run.measurement("check"),
    run.measurement("timings"),
    run.measurement("counters"),
    run.measurement("counts"),
    run.measurement("environment"),
    run.measurement("launch"),
    run.measurement("files"),
  ]);
  if (![check, timings, counters, counts, environment, launch, files].some(Boolean))
    return () =>
      html`<p>${run.finished ? "This run has measured nothing." : "Nothing has been measured yet."}</p>`;
  const request = store.state.result?.document.request;
  const source = request ? sourceTexts(request) : [];
  return (pane) => html`${check ? checkLine(check) : nothing} ${timings ? timingList(timings) : nothing}
    ${counters ? counterTables(counters) : nothing} ${counts ? countsSection(counts, source, pane.id) : nothing}
    ${launch ? launchSection(launch) : nothing} ${environment ? conditionsTable(environment) : nothing}
    ${files ? fileList(files.files, (name) => fileAddress(run, name)) : nothing}`;
}

/** @param {RunResult} run @returns {Promise<Draw>} */
async function loadHotLines(run) {
  if (!run.finished) return () => html`<p>The samples are shown when the run ends.</p>`;
  if (!run.has("samples"))
    return () => html`<p>
      This run took no samples of the program counter. Run it on a GPU with samples among its measures.
    </p>`;
  const heat = await api.heat(run.id, run.compilation);
  const request = store.state.result?.document.request;
  const source = request ? sourceTexts(request) : [];
  return (pane) => {
    const showHottest = (/** @type {number} */ line) => {
      pane.showLine(line);
      const [hottest] = heat.instructions
        .filter((each) => each.source_line === line)
        .sort((one, other) => other.samples - one.samples);
      if (hottest) putCursor("sass", hottest.line, pane.id);
    };
    return hotLines(heat, source, showHottest, toggleHeat, store.state.withHeat);
  };
}

/** @param {RunResult} run @returns {Promise<Draw>} */
async function loadTimeline(run) {
  const [timeline, files] = await Promise.all([run.measurement("timeline"), run.measurement("files")]);
  if (!timeline) {
    const words =
      'This run recorded no scopes. Mark them in the kernel with `with pl.scope("load"):`, of `triton.profiler.language`, and run it on a GPU with the timeline among its measures.';
    return () => html`<p>${prose(words)}</p>`;
  }
  if (timeline.reason || timeline.scopes.length === 0)
    return () => html`<p>${prose(timeline.reason || "The kernel marks no scopes.")}</p>`;
  const traces = files?.files.filter(({ name }) => /trace/.test(name)) ?? [];
  return () => html`<timeline-view .timeline=${timeline}></timeline-view>
    ${fileList(traces, (name) => fileAddress(run, name), "For chrome://tracing and Perfetto")}`;
}

/** @param {RunResult} run @param {string} name */
function fileAddress(run, name) {
  return api.runUrl(run.id, `files/${encodeURIComponent(name)}`);
}

const inUse = () => paneInUse(RooflinePane);

register([
  { name: "roofline-next", title: "Roofline: next tab", group: "Roofline", run: () => inUse()?.stepTab(1) },
  {
    name: "roofline-previous",
    title: "Roofline: previous tab",
    group: "Roofline",
    run: () => inUse()?.stepTab(-1),
  },
]);

customElements.define("pane-roofline", RooflinePane);
