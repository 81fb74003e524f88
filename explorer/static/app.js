/**
 * Start the page: learn what the server has, restore what the address says, and compile.
 *
 * @import { Dock } from "./dock.js"
 */
import { ApiError, api } from "./api.js";
import "./banner.js";
import { startCommands } from "./actions.js";
import { startKeys } from "./commands.js";
import { startCompareMenu } from "./compare_menu.js";
import { byId, debounce, setText } from "./dom.js";
import { keptDraft, unsentDraft } from "./draft.js";
import { choose, compileNow, openExample, openResult } from "./edit.js";
import { kernelFacts, targetTitle } from "./format.js";
import { startHistoryMenu } from "./history_menu.js";
import { canCompile, compilationId, isEmbedded } from "./host.js";
import { startHeat } from "./heat.js";
import "./launch.js";
import { startMenus } from "./menus.js";
import { LOWERING } from "./presets.js";
import { permalink, startShare } from "./share.js";
import { startSplitter } from "./splitter.js";
import "./status.js";
import { store } from "./store.js";
import { keep, kept } from "./storage.js";
import { formatView, parseLayout, parseView } from "./view.js";
import { visible } from "./visible.js";

async function start() {
  startSplitter();
  startKeys();
  // Asked for together; each module is then run as a task of its own, and none of them for long.
  const documents = Promise.all([api.page(), api.targets(), api.tritons(), api.gallery()]);
  documents.catch(() => undefined);
  const docking = import("./dock.js");
  const { startEditor } = await import("./editor.js");
  const editor = startEditor(byId("editor"));
  if (canCompile) {
    byId("compile-button").addEventListener("click", () => {
      void compileNow();
      editor.focus();
    });
  }
  store.watch(["run", "sending", "result"], () => {
    const { run, sending, result } = store.state;
    const isBusy = Boolean(run || sending);
    document.body.classList.toggle("is-busy", isBusy);
    document.body.classList.toggle("is-stale", Boolean(sending || (run && run.result !== result)) && result !== null);
  });
  store.watch(["failure", "run"], () => document.body.classList.toggle("has-failed", store.state.failure !== null && !store.state.run));
  store.watch(["result", "draft", "inspection", "targets"], drawSubject);

  try {
    const [page, targets, tritons, gallery] = await documents;
    store.update({
      paneKinds: page.panes, workers: page.workers, stageKinds: page.stages, firstExample: page.first_example, defaultTarget: page.default_target,
      argumentTypes: page.argument_types, typePattern: page.type_pattern,
      draft: { ...store.state.draft, target: page.default_target }, targets, tritons, gallery,
    });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    store.update({ problem: error.problem });
    return;
  }
  const view = parseView(location.hash);
  const { Dock } = await docking;
  const dock = new Dock(byId("panes"), () => writeAddress(dock));
  // A link shows what its sender saw; a visit by name begins as the last one ended.
  dock.show(view.layout ?? (location.pathname === "/" ? parseLayout(kept(LAYOUT_KEY) ?? "") : null));
  store.update({ pinned: view.pinned, cursor: view.cursor ?? null, reading: view.reading, withSource: isEmbedded && view.withSource === true, origin: "address" });
  store.watch(["reading"], () => document.body.classList.toggle("is-reading", store.state.reading || !canCompile));
  document.body.classList.toggle("has-source", store.state.withSource);
  startCommands(dock, editor);
  if (!isEmbedded) startShare();
  if (canCompile) {
    startCompareMenu();
    startHistoryMenu();
  }
  startMenus(dock);
  startHeat();
  document.addEventListener("pane-open", (event) => dock.open(/** @type {CustomEvent<string>} */ (event).detail));
  document.addEventListener("pane-beside", (event) => dock.openBeside(/** @type {CustomEvent<string>} */ (event).detail));
  store.watch(["pinned", "result", "failure", "reading"], () => writeAddress(dock));
  store.watch(["cursor"], debounce(() => writeAddress(dock), CURSOR_PAUSE_MS));
  addEventListener("popstate", () => {
    const next = parseView(location.hash);
    isReturning = true;
    dock.change(next.layout);
    store.update({ pinned: next.pinned, cursor: next.cursor ?? null, reading: next.reading, origin: "address" });
    isReturning = false;
    writeAddress(dock);
  });
  await openFirst();
}

/** What this visit begins with: the result of the address, what was edited last, or an example. */
async function openFirst() {
  const draft = keptDraft(store.state.defaultTarget);
  if (compilationId) await openAgain(compilationId);
  else if (draft) choose({ ...draft });
  else await openExample(store.state.firstExample);
}

/** The result of the address; where this tab is loaded again, what was being edited, too. @param {string} id */
async function openAgain(id) {
  const [visit] = performance.getEntriesByType("navigation");
  const isLink = !(visit instanceof PerformanceNavigationTiming) || visit.type === "navigate";
  const unsent = isLink ? null : unsentDraft(id, store.state.defaultTarget);
  await openResult(id);
  // Who has typed meanwhile goes on from there.
  if (unsent && !store.state.edited) choose(unsent);
}

const LAYOUT_KEY = "layout";
/** Changes of the view in quick succession are one step back; a new result is none. */
const STEP_MS = 800;
/** Browsers refuse an address that changes with every repeat of a held key. */
const CURSOR_PAUSE_MS = 250;
let isReturning = false;
let sameStepUntil = 0;

/**
 * Bring the address up to date: another view is a step for the back button, a moved border or a new result is not.
 * @param {Dock} dock
 */
function writeAddress(dock) {
  if (isReturning) return;
  const { result, failure, pinned, cursor, reading, withSource } = store.state;
  const layout = dock.layout();
  const view = formatView({ layout, pinned, reading, withSource, cursor });
  // An address without panes stands for those of a first visit.
  const isFirst = view === formatView({ layout: LOWERING.layout, pinned, reading, withSource, cursor });
  const hash = isFirst ? formatView({ layout: null, pinned, reading, withSource, cursor }) : view;
  const latest = failure ?? result;
  const path = latest && canCompile ? `/k/${latest.id}` : location.pathname;
  if (latest && isEmbedded) {
    const fragment = formatView({ layout: isFirst ? null : layout, pinned, reading, cursor });
    /** @type {HTMLAnchorElement} */ (byId("open-link")).href = permalink(latest, fragment);
  }
  if (path + hash === location.pathname + location.hash) return;
  keep(LAYOUT_KEY, withoutFolds(formatView({ layout, pinned: [], reading: false }).replace(/^#panes=/, "")));
  const now = performance.now();
  const isView = path === location.pathname && withoutPositions(hash) !== withoutPositions(location.hash);
  // In a frame, the back button belongs to the page around it.
  if (isView && now > sameStepUntil && !isEmbedded) history.pushState(null, "", path + hash);
  else history.replaceState(null, "", path + hash);
  if (isView) sameStepUntil = now + STEP_MS;
}

/** Without what no step back is worth: borders, folds and the cursor. @param {string} hash */
function withoutPositions(hash) {
  return withoutFolds(hash).replace(/@\d+|line=[^&]*&?/g, "").replace(/[#&]+$/, "");
}

/** Without what is folded, which another result does not have at these lines. @param {string} hash */
function withoutFolds(hash) {
  return hash.replace(/;fold=[\w.]*/g, "");
}

/** What is looked at, in the top bar and as the title of the window. */
function drawSubject() {
  const { result } = store.state;
  const subject = byId("subject");
  if (!result) {
    subject.replaceChildren();
    return;
  }
  const { kernel, target, triton, specialization } = result.document;
  const options = specialization?.options ?? {};
  const facts = [
    targetTitle(target),
    `Triton ${triton}`,
    kernelFacts(options),
  ].filter(Boolean);
  const name = document.createElement("b");
  setText(name, kernel ?? "");
  const rest = document.createElement("span");
  setText(rest, facts.join("  ·  "));
  subject.replaceChildren(name, rest);
  document.title = kernel ? `${visible(kernel)} · ${target.architecture} · triton·explorer` : "triton·explorer";
}

void start();
