/**
 * Both pipelines pass by pass. How many lines each one has changed is counted when it is looked at here.
 *
 * @import { ComparisonDocument, PassPair, PassSide } from "../types.js"
 * @import { PassChanges } from "../passes/documents.js"
 */
import { make } from "../dom.js";
import { duration, literal, plural } from "../format.js";
import { passChanges } from "../passes/documents.js";
import { hueClass, stageTitle } from "../stages.js";
import { currentView, formatView, go } from "./address.js";
import { durationDelta, isOver, numberCell, onlyOn } from "./deltas.js";

/** Lines that passes have changed, by id of the result. @type {Map<string, PassChanges[]>} */
const counted = new Map();

/**
 * @param {ComparisonDocument} comparison
 * @param {() => void} draw called when there is more to show
 */
export function drawPasses(comparison, draw) {
  const { passes, before, after } = comparison;
  const { all } = currentView();
  const isChanged = (/** @type {PassPair} */ pair) => Boolean(pair.before?.changed || pair.after?.changed);
  const shown = all ? passes : passes.filter(isChanged);
  const areOver = isOver(before) && isOver(after);
  if (passes.length === 0) return make("div", { class: "empty" }, make("p", {}, areOver ? "Neither result has recorded passes." : "The passes are on their way."));
  if (areOver) void count([before.id, after.id], draw);
  const box = make("input", { type: "checkbox", onchange: () => go({ all: !currentView().all }) });
  box.checked = !all;
  const stages = [...new Set(shown.map(({ stage }) => stage))];
  const onlyOne = passes.filter((pair) => !pair.before || !pair.after).length;
  return make(
    "div",
    { class: "pass-pairs" },
    make("div", { class: "tools" }, make("label", { class: "check" }, box, "changed only"),
      make("span", { class: "hint" }, `${plural(passes.length, "pass")}, ${passes.filter(isChanged).length} changed something${onlyOne ? `, ${onlyOne} on one side only` : ""}`)),
    make("div", { class: "table-frame", tabindex: "0", role: "group", "aria-label": "Passes of both" },
      make(
        "table",
        { class: "pairs passes" },
        make("thead", {}, make("tr", {}, ...["Pass", "before", "lines", "after", "lines", "difference"].map((title) => make("th", { scope: "col" }, title)))),
        ...stages.map((stage) =>
          make(
            "tbody",
            {},
            make("tr", { class: "stage-row" }, make("th", { scope: "rowgroup", colspan: "6", class: hueClass(stage) },
              make("a", { class: "stage-link", href: formatView({ ...currentView(), show: "stage", before: stage, after: stage }) }, `to ${stageTitle(stage)}`))),
            ...shown.filter((pair) => pair.stage === stage).map((pair) => passRow(pair, comparison)),
          )),
      )),
  );
}

/** @param {PassPair} pair @param {ComparisonDocument} comparison */
function passRow(pair, comparison) {
  const { before, after } = pair;
  const options = [before, after].map((side) => (side ? side.options.map(literal).join(", ") : ""));
  const words = [
    !before || !after ? onlyOn(before, after, comparison) : durationDelta(after.milliseconds - before.milliseconds),
    before && after && options[0] !== options[1] && "other options",
  ].filter(Boolean);
  return make(
    "tr",
    { class: before && after ? null : "is-alone" },
    make("th", { scope: "row", title: pair.title }, pair.name),
    ...sideCells(pair, before, comparison.before.id),
    ...sideCells(pair, after, comparison.after.id),
    make("td", { class: "number-cell", title: options[0] === options[1] ? null : `${options[0]} → ${options[1]}` }, words.join(", ")),
  );
}

/** @param {PassPair} pair @param {PassSide | null} side @param {string} id */
function sideCells({ stage, name }, side, id) {
  if (!side) return [numberCell("–"), numberCell("")];
  const row = counted.get(id)?.find(({ index }) => index === side.index);
  const href = `/k/${encodeURIComponent(id)}#panes=passes:${stage}.${side.index}*`;
  return [numberCell(duration(side.milliseconds)), make("td", { class: "number-cell" }, make("a", { href, "aria-label": `What ${name} changed` }, ...changeOf(side, row)))];
}

/** @param {PassSide} side @param {PassChanges | undefined} row @returns {(Node | string)[]} */
function changeOf(side, row) {
  if (!side.changed) return ["no change"];
  if (!row) return ["…"];
  return [make("span", { class: "added" }, `+${row.lines_added}`), " ", make("span", { class: "removed" }, `−${row.lines_removed}`)];
}

/** @param {string[]} ids @param {() => void} done */
async function count(ids, done) {
  const missing = [...new Set(ids)].filter((id) => !counted.has(id));
  if (missing.length === 0) return;
  // Without the counts the table still has everything else.
  const answers = await Promise.all(missing.map(async (id) => ({ id, changes: await passChanges(id).catch(() => null) })));
  for (const { id, changes } of answers) if (changes) counted.set(id, changes);
  if (answers.some(({ changes }) => changes)) done();
}
