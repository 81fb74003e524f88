/** Start the page: learn what the server has, restore what the address says, and compile. */
import { ApiError, api } from "./api.js";
import "./banner.js";
import { open } from "./compiler.js";
import { DEFAULT_LAYOUT, Dock } from "./dock.js";
import { byId } from "./dom.js";
import { keptDraft } from "./draft.js";
import { choose, compileNow } from "./edit.js";
import { startEditor } from "./editor.js";
import { targetTitle } from "./format.js";
import { startHelp } from "./help.js";
import "./launch.js";
import { openExample, startMenus } from "./menus.js";
import { pathOf } from "./pipeline.js";
import { unpin } from "./selection.js";
import { startSplitter } from "./splitter.js";
import "./status.js";
import { store } from "./store.js";
import { formatView, parseView } from "./view.js";

async function start() {
  startSplitter();
  startHelp();
  startKeys();
  const editor = startEditor(byId("editor"));
  byId("compile-button").addEventListener("click", () => {
    void compileNow();
    editor.focus();
  });
  store.watch(["run", "sending", "result"], () => {
    const { run, sending, result } = store.state;
    const isBusy = Boolean(run || sending);
    document.body.classList.toggle("is-busy", isBusy);
    document.body.classList.toggle("is-stale", Boolean(sending || (run && run.result !== result)) && result !== null);
  });
  store.watch(["failure"], () => document.body.classList.toggle("has-failed", store.state.failure !== null));
  store.watch(["result", "draft", "inspection", "targets"], drawSubject);

  try {
    const [page, targets, tritons, gallery] = await Promise.all([api.page(), api.targets(), api.tritons(), api.gallery()]);
    store.update({ paneKinds: page.panes, stageKinds: page.stages, firstExample: page.first_example, targets, tritons, gallery });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    store.update({ problem: error.problem });
    return;
  }
  const view = parseView(location.hash);
  const dock = new Dock(byId("panes"), () => writeAddress(dock));
  dock.show(view.layout);
  store.update({ pinned: view.pinned, origin: "address" });
  startMenus(dock);
  document.addEventListener("pane-open", (event) => dock.open(/** @type {CustomEvent<string>} */ (event).detail));
  store.watch(["pinned", "result", "failure"], () => writeAddress(dock));
  addEventListener("hashchange", () => {
    const next = parseView(location.hash);
    dock.show(next.layout);
    store.update({ pinned: next.pinned, origin: "address" });
  });
  await openFirst();
}

/** What this visit begins with: the result of the address, what was edited last, or an example. */
async function openFirst() {
  const id = /^\/k\/([\w-]+)/.exec(location.pathname)?.[1];
  const draft = keptDraft();
  if (id) await open(id);
  else if (draft) choose({ ...draft });
  else await openExample(store.state.firstExample);
}

/** @param {Dock} dock */
function writeAddress(dock) {
  const { result, failure, pinned } = store.state;
  const view = formatView({ layout: dock.layout(), pinned });
  // An address without panes stands for those of a first visit.
  const hash = view === formatView({ layout: DEFAULT_LAYOUT, pinned }) ? formatView({ layout: null, pinned }) : view;
  const latest = failure ?? result;
  const path = latest ? `/k/${latest.id}` : location.pathname;
  if (path + hash !== location.pathname + location.hash) history.replaceState(null, "", path + hash);
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
    [options.num_warps && `${options.num_warps} warps`, options.num_stages && `${options.num_stages} stages`].filter(Boolean).join(", "),
  ].filter(Boolean);
  const name = document.createElement("b");
  name.textContent = kernel ?? "";
  const rest = document.createElement("span");
  rest.textContent = facts.join("  ·  ");
  subject.replaceChildren(name, rest);
  document.title = kernel ? `${kernel} · ${target.architecture} · triton·explorer` : "triton·explorer";
}

function startKeys() {
  document.addEventListener("keydown", (event) => {
    const isTyping = event.target instanceof HTMLElement && event.target.closest("input, select, textarea, .cm-editor") !== null;
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !event.defaultPrevented) {
      event.preventDefault();
      void compileNow();
    } else if (event.altKey && /^Digit[1-9]$/.test(event.code)) {
      const stage = pathOf(store.state.result)[Number(event.code.slice(5)) - 1];
      if (!stage) return;
      event.preventDefault();
      document.dispatchEvent(new CustomEvent("pane-open", { detail: `stage:${stage}` }));
    } else if (event.key === "Escape") {
      unpin();
    } else if (event.key === "?" && !isTyping) {
      byId("help-button").click();
    }
  });
}

void start();
