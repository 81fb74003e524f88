/**
 * `<pane-roofline>`: how far a run is from the limits of the GPU, what was measured, and where the time goes.
 *
 * Its state is the run and the tab: "<run id>.measured"; without a run the best one is shown, without a tab the roofline.
 *
 * @import { RunDocument, RunsDocument } from "../run/documents.js"
 * @import { RunResult } from "../run/run_result.js"
 */
import { ApiError, api } from "../api.js";
import { register } from "../commands.js";
import { make, prose } from "../dom.js";
import { toggleHeat } from "../heat.js";
import { canCompile } from "../host.js";
import { paneInUse } from "../pane_in_use.js";
import { PlotFigure } from "../plot.js";
import { floorTable, hintList, lossList, missingList, verdictOf } from "../roofline/analysis.js";
import { drawRoofline, roofLegend, rooflineTable } from "../roofline/drawing.js";
import { hotLines } from "../roofline/hot_lines.js";
import { checkLine, conditionsTable, counterTables, fileList, timingList } from "../roofline/measured.js";
import { RunChoice, bestRun } from "../roofline/run_choice.js";
import { TimelineView } from "../roofline/timeline.js";
import { countsSection } from "../run/counts.js";
import { launchSection } from "../run/facts.js";
import { RunProgress } from "../run/progress.js";
import { loadRuns, openRun } from "../run/runner.js";
import { strangerWords } from "../run/words.js";
import { putCursor, show } from "../selection.js";
import { store } from "../store.js";

const TABS = /** @type {const} */ ({ roofline: "Roofline", measured: "Measured", hot: "Hot lines", timeline: "Timeline" });
/** @typedef {keyof typeof TABS} Tab */

class RooflinePane extends HTMLElement {
  state = "";
  /** @type {(() => void)[]} */
  watches = [];
  /** the compilation whose runs were asked for */
  asked = "";
  /** @type {RunResult | null} */
  shown = null;
  /** the run that was asked for last */
  wanted = "";
  /** what the body shows: drawn again only when that is another */
  drawn = "";
  choice = new RunChoice((id) => this.go({ run: id }));
  progress = new RunProgress();
  tabs = make("div", { class: "roofline-tabs", role: "tablist", "aria-label": "What of the run" });
  body = make("div", { class: "roofline-body", role: "tabpanel", tabindex: "0" });
  figure = new PlotFigure();
  timeline = new TimelineView();

  get paneState() {
    return this.state;
  }

  /** @param {string} state */
  set paneState(state) {
    this.state = state;
    if (this.childElementCount) this.choose();
  }

  connectedCallback() {
    this.watches = [
      store.watch(["result", "runs", "runResults"], () => this.choose()),
      store.watch(["shownRun", "runs"], () => this.follow()),
      store.watch(["withHeat"], () => this.redrawHeat()),
    ];
  }

  disconnectedCallback() {
    for (const end of this.watches) end();
  }

  /** The run and the tab of the address. @returns {{run: string, tab: Tab}} */
  get place() {
    const [, run = "", tab = ""] = /^(.*?)(?:\.(\w+))?$/.exec(this.state) ?? [];
    return { run, tab: tab in TABS ? /** @type {Tab} */ (tab) : "roofline" };
  }

  /** @param {Partial<{run: string, tab: Tab}>} changes */
  go(changes) {
    const { run, tab } = { ...this.place, ...changes };
    const state = tab === "roofline" ? run : `${run}.${tab}`;
    this.dispatchEvent(new CustomEvent("pane-state", { bubbles: true, detail: state }));
    this.paneState = state;
  }

  /** Another pane shows another run of the same result. */
  follow() {
    const { shownRun, runs } = store.state;
    if (!shownRun || !this.shown || shownRun === this.shown) return;
    const isKnown = [...(runs?.document?.runs ?? []), ...(runs?.document?.recordings ?? [])].some(({ id }) => id === shownRun.id);
    if (isKnown) this.go({ run: shownRun.id });
  }

  /** Show the run of the address, or the best one. */
  choose() {
    const { result, runs } = store.state;
    if (!result?.finished) return this.say(result ? "What was measured can be shown once the compilation is done." : "Compile a kernel to see how far it is from the limits of the GPU.");
    if (this.asked !== result.id) {
      this.asked = result.id;
      this.wanted = "";
      this.shown = null;
      if (runs?.compilation !== result.id) void loadRuns(result.id);
    }
    if (runs?.compilation !== result.id || (!runs.document && !runs.problem)) return this.say("Looking for runs of this kernel.");
    if (!runs.document) return this.say(runs.problem?.detail ?? "");
    const known = [...runs.document.runs, ...runs.document.recordings];
    const { run } = this.place;
    const id = run || (known.some((each) => each.id === store.state.shownRun?.id) ? store.state.shownRun?.id : bestRun(runs.document)?.id);
    if (!id) return this.offer(runs.document);
    if (this.wanted !== id) void this.open(id);
    else if (this.shown) this.draw(runs.document, this.shown);
    return undefined;
  }

  /** @param {string} id */
  async open(id) {
    this.wanted = id;
    const compilation = this.asked;
    try {
      const shown = await openRun(id, compilation);
      if (this.wanted !== id || !this.isConnected) return;
      const { result } = store.state;
      const words = result ? strangerWords(shown.document, result.document) : "";
      if (words) return this.refuse(words, shown.document);
      this.shown = shown;
      this.drawn = "";
      store.update({ shownRun: shown });
      this.choose();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (this.wanted === id) this.refuse(`This run cannot be shown: ${error.problem.detail || error.problem.title}`);
    }
    return undefined;
  }

  /** The run of the address is not shown: there are others. @param {string} words @param {RunDocument} [run] that has a place of its own */
  refuse(words, run) {
    this.say(words,
      run?.compilation ? make("p", {}, make("a", { href: `/k/${run.compilation}#panes=roofline:${run.id}` }, "See it with what it was a run of")) : null,
      make("button", { type: "button", class: "button", onclick: () => this.go({ run: "" }) }, "Show another run"));
  }

  /** What would fill the pane. @param {RunsDocument} document */
  offer({ devices: { gpu, interpreter } }) {
    const run = () => this.dispatchEvent(new CustomEvent("pane-open", { bubbles: true, detail: "run" }));
    const where = gpu.available ? `on ${gpu.names.join(" or ")}` : interpreter.available ? "in the interpreter, which counts" : "";
    this.say(
      "Nothing was run of this kernel yet.",
      make("p", {}, gpu.available ? "" : gpu.reason),
      make("p", {}, "Kernels of the gallery have recordings of a real GPU."),
      where && canCompile ? make("button", { type: "button", class: "button", onclick: run }, `Run it ${where}`) : null,
    );
  }

  /** @param {string} words @param {...(Node | null)} more */
  say(words, ...more) {
    this.drawn = "";
    this.shown = null;
    this.replaceChildren(make("div", { class: "empty" }, make("p", {}, words), ...more));
  }

  /** @param {RunsDocument} document @param {RunResult} run */
  draw(document, run) {
    const { result } = store.state;
    const { tab } = this.place;
    if (!this.choice.element.isConnected) {
      this.replaceChildren(make("div", { class: "roofline-head" }, this.choice.element, this.tabs), this.progress.element, this.body);
    }
    this.choice.draw(document, run.document, result?.document.triton ?? "");
    this.progress.draw(run.finished ? null : run, false);
    this.drawTabs(tab);
    // A run under way is drawn again with each measurement that arrives.
    const key = `${run.id} ${tab} ${run.finished} ${run.document.measurements.length}`;
    if (key === this.drawn) return;
    this.drawn = key;
    void this.drawBody(run, tab, key);
  }

  /** @param {Tab} shown */
  drawTabs(shown) {
    if (!this.tabs.childElementCount) {
      this.tabs.append(...Object.entries(TABS).map(([name, title]) =>
        make("button", { type: "button", role: "tab", "data-tab": name, onclick: () => this.go({ tab: /** @type {Tab} */ (name) }) }, title)));
      this.tabs.addEventListener("keydown", (event) => this.tabKey(event));
    }
    for (const button of this.tabs.querySelectorAll("button")) {
      const isShown = button.dataset.tab === shown;
      button.setAttribute("aria-selected", String(isShown));
      button.tabIndex = isShown ? 0 : -1;
    }
    this.body.setAttribute("aria-label", TABS[shown]);
  }

  /** @param {KeyboardEvent} event */
  tabKey(event) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    this.stepTab(step);
    /** @type {HTMLElement | null} */ (this.tabs.querySelector("[aria-selected=true]"))?.focus();
  }

  /** @param {number} step */
  stepTab(step) {
    const names = /** @type {Tab[]} */ (Object.keys(TABS));
    this.go({ tab: names[(names.indexOf(this.place.tab) + step + names.length) % names.length] });
  }

  /** @param {RunResult} run @param {Tab} tab @param {string} key */
  async drawBody(run, tab, key) {
    let content;
    try {
      content = await { roofline: drawFloor, measured: drawMeasured, hot: drawHot, timeline: drawTimeline }[tab](this, run);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      content = [make("p", {}, error.problem.detail || error.problem.title)];
    }
    if (this.drawn === key) this.body.replaceChildren(...content);
  }

  redrawHeat() {
    if (this.place.tab !== "hot" || !this.shown) return;
    const box = this.body.querySelector("input");
    if (box) box.checked = store.state.withHeat;
  }

  /** @param {number} line */
  showLine(line) {
    show([line], this.id);
  }
}

/** @param {RooflinePane} pane @param {RunResult} run */
async function drawFloor(pane, run) {
  if (!run.finished) return [make("p", {}, "The roofline is drawn when the run is done.")];
  const [document, check] = await Promise.all([api.roofline(run.id, run.compilation), run.measurement("check")]);
  const checked = check ? [checkLine(check)] : [];
  if (document.reason) return [make("p", {}, ...prose(document.reason)), ...checked, missingList(document.missing)].filter((each) => each !== null);
  const hasPlot = document.dots.length > 0;
  if (hasPlot) {
    pane.figure.show({
      label: `Roofline of ${document.gpu}. ${document.verdict}`, fileName: `roofline-${run.document.kernel ?? run.id}`,
      draw: (colors, size) => drawRoofline(document, colors, size), table: rooflineTable(document),
    });
  }
  return [
    verdictOf(document),
    document.is_modelled ? make("p", { class: "hint" }, `Not run on a GPU: compared with ${document.gpu}.`) : null,
    hasPlot ? pane.figure : null,
    hasPlot ? legend() : null,
    hasPlot ? roofLegend(document) : make("p", { class: "hint" }, "The kernel only moves data: there is no operation to draw it by, and the table below says all."),
    ...checked,
    make("div", { class: "roofline-columns" }, ...[hintList(document.hints, (line) => pane.showLine(line)), floorTable(document), lossList(document), missingList(document.missing)].filter((each) => each !== null)),
  ].filter((each) => each !== null);
}

/** How the plot is to be read. */
function legend() {
  return make("p", { class: "roofline-legend hint" },
    make("span", { class: "key is-solid" }, "datasheet"), make("span", { class: "key is-dashed" }, "measured"), make("span", { class: "key is-band" }, "within 80 % of the roof"), make("span", { class: "key is-ridge" }, "ridge"));
}

/** @param {RooflinePane} pane @param {RunResult} run */
async function drawMeasured(pane, run) {
  const names = /** @type {const} */ (["check", "timings", "counters", "counts", "environment", "launch", "files"]);
  const [check, timings, counters, counts, environment, launch, files] = /** @type {any} */ (await Promise.all(names.map((name) => run.measurement(name))));
  const found = [
    check && checkLine(check),
    timings && timingList(timings),
    counters && counterTables(counters),
    counts && countsSection(counts, store.state.result?.document.request.source ?? "", pane.id),
    launch && launchSection(launch),
    environment && conditionsTable(environment),
    files && fileList(files, (name) => fileAddress(run, name)),
  ].filter(Boolean);
  return found.length ? found : [make("p", {}, run.finished ? "This run has measured nothing." : "Nothing has been measured yet.")];
}

/** @param {RooflinePane} pane @param {RunResult} run @returns {Promise<Node[]>} */
async function drawHot(pane, run) {
  if (!run.finished) return [make("p", {}, "The samples are placed when the run is done.")];
  if (!run.has("samples")) return [make("p", {}, "This run took no samples of the program counter. Run it on a GPU with samples among its measures.")];
  const heat = await api.heat(run.id, run.compilation);
  const source = store.state.result?.document.request.source.split("\n") ?? [];
  const showHottest = (/** @type {number} */ line) => {
    pane.showLine(line);
    const [first, ...others] = heat.instructions.filter((each) => each.source_line === line);
    if (first) putCursor("sass", others.reduce((hottest, each) => (each.samples > hottest.samples ? each : hottest), first).line, pane.id);
  };
  return hotLines(heat, source, showHottest, toggleHeat, store.state.withHeat);
}

/** @param {RooflinePane} pane @param {RunResult} run @returns {Promise<Node[]>} */
async function drawTimeline(pane, run) {
  const [timeline, files] = await Promise.all([run.measurement("timeline"), run.measurement("files")]);
  if (!timeline) return [make("p", {}, ...prose("This run recorded no scopes. Mark them in the kernel with `with pl.scope(\"load\"):`, of `triton.profiler.language`, and run it on a GPU with the timeline among its measures."))];
  if (timeline.reason || timeline.scopes.length === 0) return [make("p", {}, ...prose(timeline.reason || "The kernel marks no scopes."))];
  pane.timeline.show(timeline);
  const traces = files?.files.filter(({ name }) => /trace/.test(name)) ?? [];
  return [pane.timeline, ...(traces.length ? [fileList({ files: traces }, (name) => fileAddress(run, name), "For chrome://tracing and Perfetto")] : [])].filter((each) => each !== null);
}

/** @param {RunResult} run @param {string} name */
function fileAddress(run, name) {
  return api.runUrl(run.id, `files/${encodeURIComponent(name)}`);
}

const inUse = () => paneInUse("pane-roofline", RooflinePane);

register([
  { name: "roofline-next", title: "Roofline: next tab", group: "Roofline", run: () => inUse()?.stepTab(1) },
  { name: "roofline-previous", title: "Roofline: previous tab", group: "Roofline", run: () => inUse()?.stepTab(-1) },
]);

customElements.define("pane-roofline", RooflinePane);
