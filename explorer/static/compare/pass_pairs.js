/**
 * `<comparison-passes>`: both pipelines pass by pass. What each pass changed is counted when this part is
 * opened.
 *
 * @import { ComparisonDocument, PassChanges, PassPair, PassSide } from "../core/types.js"
 */
import { api } from "../core/api.js";
import { duration, literal, plural } from "../core/format.js";
import { emptyPane, Loaded } from "../core/pane.js";
import { hueClass, stageTitle } from "../core/stages.js";
import { isOver } from "../core/status.js";
import { html, nothing } from "../core/template.js";
import { currentView, formatView, go } from "./address.js";
import { passCounts } from "./change_counts.js";
import { durationDelta, NOISE_WORDS, onlyOn } from "./deltas.js";
import { ComparisonPart } from "./part.js";

class ComparisonPasses extends ComparisonPart {
  /** The changes of the passes, by ID of the result. Without the counts, the table still has its other columns. */
  counts = new Loaded(
    this,
    () => this.finished,
    async (...ids) =>
      new Map(
        await Promise.all(
          ids.map(
            async (id) =>
              /** @type {[string, PassChanges[]]} */ ([
                id,
                await api.analysis(id, "changes").catch(() => []),
              ]),
          ),
        ),
      ),
  );

  /** @override */
  render() {
    const { comparison } = this;
    if (!comparison) return nothing;
    const { passes, before, after } = comparison;
    if (passes.length === 0)
      return emptyPane(
        isOver(before) && isOver(after)
          ? "Neither result has recorded passes."
          : "The passes have not run yet.",
      );
    const { all } = currentView();
    const shown = all ? passes : passes.filter(isChanged);
    const count = (/** @type {PassPair["match"]} */ how) =>
      passes.filter(({ match }) => match === how).length;
    const facts = [
      plural(passes.length, "pass"),
      `${passes.filter(isChanged).length} changed something`,
      count("alone") && `${count("alone")} on one side only`,
      count("moved") && `${count("moved")} at another place`,
      count("renamed") && `${count("renamed")} with another name and the same effect`,
    ];
    const heads = ["Pass", "before", "operations", "after", "operations", "difference"];
    return html`<div class="pass-pairs">
      <div class="tools">
        <label class="check"><input type="checkbox" .checked=${!all} @change=${() => go({ all: !all })}>changed
          only</label>
        <span class="hint" title=${NOISE_WORDS}>${facts.filter(Boolean).join(", ")}</span>
      </div>
      <div class="table-frame" tabindex="0" role="group" aria-label="Passes of both">
        <table class="pairs passes">
          <thead><tr>${heads.map((title) => html`<th scope="col">${title}</th>`)}</tr></thead>
          ${[...new Set(shown.map(({ stage }) => stage))].map((stage) => {
            const href = formatView({ ...currentView(), show: "stage", before: stage, after: stage });
            return html`<tbody>
              <tr class="stage-row"><th scope="rowgroup" colspan="6" class=${hueClass(stage)}
                ><a class="stage-link" href=${href}>to ${stageTitle(stage)}</a></th></tr>
              ${shown.filter((pair) => pair.stage === stage).map((pair) => this.row(pair, comparison))}
            </tbody>`;
          })}
        </table>
      </div>
    </div>`;
  }

  /** @param {PassPair} pair @param {ComparisonDocument} comparison */
  row(pair, comparison) {
    const { before, after, match, renamed } = pair;
    const [one, other] = [before, after].map((side) => side?.options.map(literal).join(", ") ?? "");
    const words = [
      match === "moved" && "at another place",
      renamed && "other name, same effect",
      before && after && one !== other && "other options",
    ].filter(Boolean);
    return html`<tr class=${before && after ? nothing : "is-alone"}>
      <th scope="row" title=${pair.title}>${pair.name}${renamed ? html` → ${renamed}` : nothing}</th>
      ${this.cells(pair.stage, pair.name, before, comparison.before.id)}
      ${this.cells(pair.stage, renamed || pair.name, after, comparison.after.id)}
      <td class="number-cell" title=${one === other ? nothing : `${one} → ${other}`}>${
        before && after
          ? durationDelta(before.milliseconds, after.milliseconds, "pass")
          : onlyOn(before, after, comparison)
      }${words.map((each) => `, ${each}`)}</td>
    </tr>`;
  }

  /** @param {string} stage @param {string} name @param {PassSide | null} side @param {string} id */
  cells(stage, name, side, id) {
    if (!side) return html`<td class="number-cell">–</td><td></td>`;
    const counts = this.counts.last?.get(id)?.find(({ index }) => index === side.index);
    const href = `/k/${encodeURIComponent(id)}#panes=passes:${stage}.${side.index}*`;
    return html`<td class="number-cell">${duration(side.milliseconds)}</td>
      <td class="number-cell"><a href=${href} aria-label="What ${name} changed">${
        side.changed ? (counts ? passCounts(counts) : "…") : "no change"
      }</a></td>`;
  }
}

/** @param {PassPair} pair */
function isChanged({ before, after }) {
  return Boolean(before?.changed || after?.changed);
}

customElements.define("comparison-passes", ComparisonPasses);
