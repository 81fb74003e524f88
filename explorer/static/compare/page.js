/**
 * Start the page of a comparison: fetch it, follow what still runs, and let everything be done by keyboard.
 *
 * @import { ComparisonView } from "./view.js"
 */
import { ApiError, api } from "../core/api.js";
import { register, registerFamily, startKeys } from "../core/commands.js";
import { byId, make, toast } from "../core/dom.js";
import { isExpected } from "../menus/expected_results.js";
import { record } from "../menus/history.js";
import { startPageCommands } from "../menus/page_commands.js";
import { isOver } from "../core/status.js";
import { store } from "../core/store.js";
import { comparedIds, comparisonUrl, currentView, go } from "./address.js";
import { follow } from "./follow.js";
import { inShort } from "./head.js";
import "./path.js";
import "./view.js";
import { visible } from "../core/visible.js";

const GESTURES = /** @type {const} */ ([
  ["Click", "Unfold equal lines"],
  ["↑ ↓", "Move along the lines"],
  ["Enter", "Unfold the equal lines under the cursor"],
]);

async function start() {
  startKeys();
  store.watch(["comparison"], drawSubject);
  store.watch(["comparison"], recordOwn);
  byId("swap-button").addEventListener("click", swap);
  byId("copy-button").addEventListener("click", () => void copyLink());
  startCommands();
  const [before, after] = comparedIds();
  try {
    const [page, targets, comparison] = await Promise.all([
      api.page(),
      api.targets(),
      api.comparison(before, after),
    ]);
    const { stages: stageKinds, languages, metrics } = page;
    store.update({ stageKinds, languages, metrics, targets, comparison });
    void follow(comparison);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    store.update({ problem: error.problem });
  }
}

function startCommands() {
  const view = () => /** @type {ComparisonView} */ (document.querySelector("comparison-view"));
  startPageCommands(GESTURES);
  register([
    {
      name: "next-change",
      title: "Next change",
      group: "Compare",
      keys: ["N"],
      run: () => void view().step(1),
    },
    {
      name: "previous-change",
      title: "Previous change",
      group: "Compare",
      keys: ["P"],
      run: () => void view().step(-1),
    },
    {
      name: "unfold",
      title: "Unfold all equal lines",
      group: "Compare",
      keys: ["E"],
      run: () => void view().unfoldAll(),
    },
    {
      name: "unified",
      title: "Side by side or unified",
      group: "Compare",
      keys: ["U"],
      run: () => go({ form: view().diff.otherForm }),
    },
    { name: "swap", title: "Swap before and after", group: "Compare", keys: ["S"], run: swap },
    { name: "copy-link", title: "Copy the link", group: "Page", run: () => void copyLink() },
    { name: "brief", title: "Compare the summaries", group: "Compare", run: () => go({ show: "brief" }) },
    { name: "source", title: "Compare the sources", group: "Compare", run: () => go({ show: "source" }) },
    { name: "passes", title: "Compare the passes", group: "Compare", run: () => go({ show: "passes" }) },
  ]);
  registerFamily(() =>
    (store.state.comparison?.stages ?? []).map(({ name, title }, index) => ({
      name: `stage:${name}`,
      title: `Compare ${title}`,
      group: "Compare",
      ...(index < 9 ? { keys: [`Alt ${index + 1}`] } : {}),
      run: () => go({ show: "stage", before: name, after: name }),
    })),
  );
}

/** Swap the two results. */
function swap() {
  const [before, after] = comparedIds();
  const view = currentView();
  location.assign(comparisonUrl(after, before, { ...view, before: view.after, after: view.before }));
}

async function copyLink() {
  void api.retain(...comparedIds());
  try {
    await navigator.clipboard.writeText(location.href);
    toast("Link to this comparison copied.");
  } catch {
    // Without permission for the clipboard the address bar has it.
    toast("The address bar has the link to this comparison.");
  }
}

/** Results that were compiled for this comparison are added to the history, too. */
function recordOwn() {
  const { comparison } = store.state;
  for (const side of comparison ? [comparison.before, comparison.after] : []) {
    // Where it cannot be fetched it stays expected, and is listed when it is opened.
    if (isOver(side) && isExpected(side.id)) void api.compilation(side.id).then(record, () => undefined);
  }
}

function drawSubject() {
  const { comparison } = store.state;
  if (!comparison) return;
  const kernels = [...new Set([comparison.before.kernel, comparison.after.kernel])]
    .map((name) => name ?? "kernel")
    .join(" and ");
  const words = inShort(comparison);
  byId("subject").replaceChildren(make("b", {}, kernels), make("span", {}, words));
  document.title = visible(`${kernels}: ${words} · triton·explorer`);
}

void start();
