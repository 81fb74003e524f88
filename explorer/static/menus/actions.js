/**
 * The commands of the page as a whole.
 *
 * @import { EditorView } from "@codemirror/view"
 * @import { Dock } from "../dock/dock.js"
 */
import { register, registerFamily } from "../core/commands.js";
import { cancel } from "../launch/compiler.js";
import { byId } from "../core/dom.js";
import { compileNow, switchLive } from "../launch/edit.js";
import { canCompile, isEmbedded } from "../core/host.js";
import { loadLater } from "../core/modules.js";
import { startPageCommands } from "./page_commands.js";
import { pathOf } from "../page/pipeline.js";
import { PRESETS } from "../dock/presets.js";
import { unpin } from "../core/selection.js";
import { stageTitle } from "../core/stages.js";
import { store } from "../core/store.js";

/**
 * Run the kernel, and open the pane that shows the result.
 * @param {Dock} dock
 * @param {"run" | "profile"} preset
 */
async function startRun(dock, preset) {
  dock.openBeside("run");
  const { runNow } = await import("../runs/start.js");
  await runNow(preset);
}

/** @param {Dock} dock @param {EditorView} editor */
export function startCommands(dock, editor) {
  const click = (/** @type {string} */ id) => () => byId(id).click();
  if (canCompile)
    register([
      {
        name: "compile",
        title: "Compile now",
        group: "Compile",
        keys: ["Ctrl Enter"],
        run: () => void compileNow(),
      },
      {
        name: "live",
        title: "Compile while typing: on or off",
        group: "Compile",
        run: () => switchLive(!store.state.live),
      },
      {
        name: "cancel",
        title: "Cancel the compilation",
        group: "Compile",
        run: () => {
          if (store.state.run || store.state.sending) cancel();
        },
      },
      {
        name: "run",
        title: "Run the kernel",
        group: "Run",
        keys: ["Ctrl Shift Enter"],
        run: () => void startRun(dock, "run"),
      },
      {
        name: "profile",
        title: "Profile the kernel",
        group: "Run",
        run: () => void startRun(dock, "profile"),
      },
      {
        name: "cancel-run",
        title: "Cancel the run",
        group: "Run",
        run: () => void import("../runs/start.js").then(({ cancelNow }) => cancelNow()),
      },
      {
        name: "launch",
        title: "Go to the launch",
        group: "Go to",
        run: () => {
          const fold = /** @type {HTMLElement} */ (document.querySelector("launch-panel .fold-launch"));
          if (fold.ariaExpanded === "false") fold.click();
          fold.focus();
        },
      },
      { name: "gallery", title: "Open the gallery", group: "Page", run: click("gallery-button") },
      { name: "learn", title: "Learn: tours and exercises", group: "Page", run: click("learn-button") },
    ]);
  register([
    ...(isEmbedded && !store.state.withSource
      ? []
      : [{ name: "source", title: "Go to the source", group: "Go to", run: () => editor.focus() }]),
    {
      name: "search-stages",
      title: "Search all stages …",
      group: "Go to",
      keys: ["Ctrl Shift F"],
      run: () =>
        void loadLater(
          () => import("../search/stage_search.js"),
          ({ openStageSearch }) => openStageSearch(dock),
          "The search could not be loaded. Try again.",
        ),
    },
    { name: "panes", title: "Go to the active pane", group: "Go to", run: () => dock.focus() },
    { name: "unpin", title: "Unpin all lines", group: "Go to", keys: ["Esc"], run: unpin },
  ]);
  registerFamily(() =>
    pathOf(store.state.result).map((stage, index) => ({
      name: `stage:${stage}`,
      title: `Show ${stageTitle(stage)}`,
      summary: store.state.stageKinds.find((kind) => kind.name === stage)?.summary ?? "",
      group: "Go to",
      ...(index < 9 ? { keys: [`Alt ${index + 1}`] } : {}),
      run: () => dock.open(`stage:${stage}`),
    })),
  );
  registerFamily(() =>
    store.state.paneKinds
      .filter(({ per_stage }) => !per_stage)
      .map(({ name, title, summary }) => ({
        name: `pane:${name}`,
        title: `Show ${title}`,
        summary,
        group: "Panes",
        run: () => dock.open(name),
      })),
  );
  register([
    { name: "next-tab", title: "Next tab", group: "Panes", keys: ["Ctrl ]"], run: () => dock.stepTab(1) },
    {
      name: "previous-tab",
      title: "Previous tab",
      group: "Panes",
      keys: ["Ctrl ["],
      run: () => dock.stepTab(-1),
    },
    {
      name: "next-group",
      title: "Next group of panes",
      group: "Panes",
      keys: ["F6"],
      run: () => dock.stepGroup(1),
    },
    {
      name: "previous-group",
      title: "Previous group of panes",
      group: "Panes",
      keys: ["Shift F6"],
      run: () => dock.stepGroup(-1),
    },
    {
      name: "split-right",
      title: "Split to the right",
      group: "Panes",
      run: () => dock.splitActive("right"),
    },
    { name: "split-below", title: "Split below", group: "Panes", run: () => dock.splitActive("below") },
    { name: "close-pane", title: "Close the active pane", group: "Panes", run: () => dock.close() },
    ...PRESETS.map((preset) => ({
      name: `preset:${preset.name}`,
      title: `Arrange panes: ${preset.title}`,
      group: "Panes",
      run: () => dock.arrange(preset),
    })),
  ]);
  startPageCommands();
}
