/**
 * Start the page: fetch the server's stages, panes and targets, restore the view of the address, and compile.
 *
 * @import { Dock } from "./dock/dock.js"
 */
import { ApiError, api } from "./core/api.js";
import "./page/first_steps.js";
import { startFrameSelection } from "./page/frame_selection.js";
import "./page/pane_rail.js";
import { startCommands } from "./menus/actions.js";
import { startKeys } from "./core/commands.js";
import { byId, debounce, setText } from "./core/dom.js";
import { keptDraft, unsentDraft } from "./launch/draft.js";
import {
  begin,
  choose,
  compileNow,
  firstOpening,
  openExample,
  openResult,
  switchLive,
} from "./launch/edit.js";
import { kernelFacts, targetTitle } from "./core/format.js";
import { canCompile, compilationId, hasAddress, isEmbedded } from "./core/host.js";
import { startLive } from "./launch/live.js";
import "./launch/panel.js";
import { startMenus } from "./menus/menus.js";
import { LOWERING } from "./dock/presets.js";
import { permalink } from "./menus/share.js";
import { startSplitter } from "./page/splitter.js";
import "./page/status.js";
import { foundWords } from "./core/status.js";
import { hasGuesses } from "./core/result.js";
import { store } from "./core/store.js";
import { loadLater } from "./core/modules.js";
import { keep, kept } from "./core/storage.js";
import { formatView, parseLayout, parseView } from "./core/view.js";
import { visible } from "./core/visible.js";

async function start() {
  startSplitter();
  startKeys();
  // All modules are requested at once. Each module then runs in a separate, short task.
  const documents = Promise.all([api.page(), api.targets(), api.tritons(), api.gallery()]);
  documents.catch(() => undefined);
  const docking = import("./dock/dock.js");
  const { startEditor } = await import("./editor/editor.js");
  const editor = startEditor(byId("editor"));
  await nextTask();
  if (canCompile) {
    byId("compile-button").addEventListener("click", () => {
      void compileNow();
      editor.focus();
    });
    const liveButton = byId("live-button");
    liveButton.addEventListener("click", () => switchLive(!store.state.live));
    store.watch(["live"], () => liveButton.setAttribute("aria-pressed", String(store.state.live)));
  }
  store.watch(["run", "sending", "result", "edited", "liveFailure"], () => {
    const { edited, liveFailure, run, sending, result } = store.state;
    document.body.classList.toggle("is-busy", Boolean(run?.isShown || sending));
    const isStale = edited || sending || liveFailure || (run && run.result !== result);
    document.body.classList.toggle("is-stale", Boolean(isStale) && result !== null);
  });
  store.watch(["result"], () =>
    document.body.classList.toggle("has-guesses", hasGuesses(store.state.result?.document.specialization)),
  );
  store.watch(["failure", "run"], () =>
    document.body.classList.toggle("has-failed", store.state.failure !== null && !store.state.run?.isShown),
  );
  store.watch(["result", "draft", "inspection", "targets"], drawSubject);
  // After the first result, so that nothing delays that; before it, only if there is something to say.
  store.watch(["problem", "failure", "result"], () => {
    const { problem, failure, result } = store.state;
    if (problem || failure || result?.finished) void loadLater(() => import("./page/banner.js"));
  });

  try {
    const [page, targets, tritons, gallery] = await documents;
    store.update({
      paneKinds: page.panes,
      workers: page.workers,
      stageKinds: page.stages,
      languages: page.languages,
      metrics: page.metrics,
      measures: page.measures,
      firstExample: page.first_example,
      defaultTarget: page.default_target,
      argumentTypes: page.argument_types,
      typePattern: page.type_pattern,
      sourceLimits: page.source_limits,
      mostCells: page.most_cells,
      draft: { ...store.state.draft, target: page.default_target },
      targets,
      tritons,
      gallery,
    });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    store.update({ problem: error.problem });
    return;
  }
  const view = parseView(location.hash);
  const isLink = location.hash !== "";
  const { Dock } = await docking;
  const dock = new Dock(byId("panes"), () => writeAddress(dock));
  // A link restores the arrangement of its sender; a visit without a link restores the arrangement of the last visit.
  dock.show(view.layout ?? (location.pathname === "/" ? parseLayout(kept(LAYOUT_KEY) ?? "") : null));
  store.update({
    // The line numbers in the address refer to the source of its result.
    pinned: firstOpening.aborted ? [] : view.pinned,
    cursor: view.cursor ?? null,
    openFile: view.file ?? "",
    reading: view.reading,
    lesson: view.lesson || document.body.dataset.lesson || "",
    withSource: isEmbedded && view.withSource === true,
    origin: "address",
  });
  store.watch(["reading"], () =>
    document.body.classList.toggle("is-reading", store.state.reading || !canCompile),
  );
  document.body.classList.toggle("has-source", store.state.withSource);
  startCommands(dock, editor);
  startMenus(dock);
  loadResultPartsLater(dock);
  startLive();
  document.addEventListener("pane-open", (event) => {
    dock.open(/** @type {CustomEvent<string>} */ (event).detail);
    // In a narrow window, the panes are below the source: scroll to them.
    byId("panes").scrollIntoView({ block: "nearest" });
  });
  store.watch(["lesson"], () => {
    if (store.state.lesson) void import("./lessons/lessons.js").then((lessons) => lessons.showLesson(dock));
  });
  document.addEventListener("pane-beside", (event) =>
    dock.openBeside(/** @type {CustomEvent<string>} */ (event).detail),
  );
  store.watch(["pinned", "result", "failure", "reading", "openFile", "lesson"], () => writeAddress(dock));
  store.watch(
    ["cursor"],
    debounce(() => writeAddress(dock), CURSOR_PAUSE_MS),
  );
  addEventListener("popstate", () => {
    const next = parseView(location.hash);
    lastStep = stepOf(location.hash);
    isReturning = true;
    dock.change(next.layout);
    store.update({
      pinned: next.pinned,
      cursor: next.cursor ?? null,
      openFile: next.file ?? "",
      reading: next.reading,
      lesson: next.lesson ?? "",
      origin: "address",
    });
    isReturning = false;
    writeAddress(dock);
  });
  await nextTask();
  await openFirst(isLink);
  startFrameSelection();
}

/**
 * Open the result of the address, the last draft, or an example. Text that was typed while the page started takes
 * precedence. A first visit starts at the loop of the example, with a line that all stages have pinned.
 * @param {boolean} isLink whether the address has a view
 */
async function openFirst(isLink) {
  if (compilationId) {
    const opened = openAgain(compilationId);
    begin();
    await opened;
    return;
  }
  begin();
  // A lesson opens its own kernel.
  if (firstOpening.aborted || store.state.lesson) return;
  const draft = keptDraft(store.state.defaultTarget);
  if (draft) choose({ ...draft });
  else await openExample(store.state.firstExample, firstOpening, isLink ? "" : "tl.dot(");
}

/**
 * Open the result of the address. If this tab was reloaded, restore its draft, too.
 * @param {string} id
 */
async function openAgain(id) {
  const [visit] = performance.getEntriesByType("navigation");
  const isLink = !(visit instanceof PerformanceNavigationTiming) || visit.type === "navigate";
  const unsent = isLink ? null : unsentDraft(id, store.state.defaultTarget);
  await openResult(id, firstOpening);
  // Text that was typed meanwhile is kept.
  if (unsent && !store.state.edited) choose(unsent);
}

/**
 * Load the modules about a result when the first result is shown: samples beside the lines, its findings, and keys
 * of tabs.
 * @param {Dock} dock
 */
function loadResultPartsLater(dock) {
  let isLoaded = false;
  const load = () =>
    loadLater(
      () =>
        Promise.all([import("./runs/heat.js"), import("./findings/settle.js"), import("./dock/tab_keys.js")]),
      ([{ startHeat }, { startSettling }, { startTabKeys }]) => {
        if (isLoaded) return;
        isLoaded = true;
        startHeat();
        startSettling();
        startTabKeys(dock);
      },
    );
  store.watch(["result"], () => {
    if (!isLoaded && store.state.result?.finished) setTimeout(load);
  });
}

/** Continue in a new task: between two tasks, the browser draws and handles input. */
const nextTask = () => new Promise((resolve) => setTimeout(resolve));

const LAYOUT_KEY = "layout";
/** Changes of the view in quick succession make one entry of the browser's history; a new result makes no entry. */
const STEP_MS = 800;
/** Browsers refuse an address that changes with every repeat of a held key, so that updates are delayed. */
const CURSOR_PAUSE_MS = 250;
let isReturning = false;
let sameStepUntil = 0;
/** The view in the address; null: the page has not written the address yet. @type {string | null} */
let lastStep = null;

/**
 * Update the address. A changed view adds an entry to the browser's history; a moved border or a new result does not.
 * @param {Dock} dock
 */
function writeAddress(dock) {
  if (isReturning || !hasAddress) return;
  const { draft, openFile, result, failure, pinned, cursor, reading, withSource, lesson } = store.state;
  // Until the source has arrived, the file that the address names may belong to it.
  const file = draft.source && !(openFile in draft.files) ? "" : openFile;
  const layout = dock.layout();
  const view = formatView({ layout, pinned, reading, withSource, cursor, file, lesson });
  // An address without panes means the panes of a first visit.
  const isFirst =
    view === formatView({ layout: LOWERING.layout, pinned, reading, withSource, cursor, file, lesson });
  const hash = isFirst
    ? formatView({ layout: null, pinned, reading, withSource, cursor, file, lesson })
    : view;
  const latest = failure ?? result;
  const path = latest && canCompile ? `/k/${latest.id}` : location.pathname;
  if (latest && isEmbedded) {
    const fragment = formatView({ layout: isFirst ? null : layout, pinned, reading, cursor, file, lesson });
    /** @type {HTMLAnchorElement} */ (byId("open-link")).href = permalink(latest, fragment);
  }
  const step = stepOf(hash);
  // Before the first result, there is nothing to go back to.
  const isView = latest && lastStep !== null && path === location.pathname && step !== lastStep;
  lastStep = step;
  if (path + hash === location.pathname + location.hash) return;
  keep(LAYOUT_KEY, withoutFolds(formatView({ layout, pinned: [], reading: false }).replace(/^#panes=/, "")));
  const now = performance.now();
  // In a frame, the back button belongs to the page around it.
  if (isView && now > sameStepUntil && !isEmbedded) history.pushState(null, "", path + hash);
  else history.replaceState(null, "", path + hash);
  if (isView) sameStepUntil = now + STEP_MS;
}

/**
 * Return the part of a view whose changes add a history entry: the view without borders, folds and the cursor.
 * @param {string} hash
 */
function stepOf(hash) {
  const view = parseView(hash);
  const layout = view.layout ?? LOWERING.layout;
  return withoutFolds(formatView({ ...view, layout, cursor: null })).replace(/@\d+/g, "");
}

/** Return the view without its folds, whose line numbers apply to one result only. @param {string} hash */
function withoutFolds(hash) {
  return hash.replace(/;fold=[\w.]*/g, "");
}

/** Show the name of the result in the top bar and in the title of the window. */
function drawSubject() {
  const { result } = store.state;
  const subject = byId("subject");
  if (!result) {
    subject.replaceChildren();
    return;
  }
  const { kernel, output_code: code, status, target, triton, specialization } = result.document;
  const options = specialization?.options ?? {};
  const facts = [targetTitle(target), `Triton ${triton}`, kernelFacts(options)].filter(Boolean);
  const name = document.createElement("b");
  const found = status === "kernels_found" ? foundWords(code?.kernels.length ?? 0) : "No kernel";
  setText(name, kernel ?? found);
  const rest = document.createElement("span");
  setText(rest, facts.join("  ·  "));
  subject.replaceChildren(name, rest);
  document.title = kernel
    ? `${visible(kernel)} · ${target.architecture} · triton·explorer`
    : "triton·explorer";
}

void start();
