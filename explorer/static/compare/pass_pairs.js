/**
 * `<comparison-passes>`: both pipelines pass by pass. What each pass changed is counted when this part is
 * opened.
 *
 * @import { ComparisonDocument, DivergenceDocument, PassChanges, PassPair, PassSide } from "../core/types.js"
 */
import { api, get } from "../core/api.js";
import { duration, plural } from "../core/format.js";
import { emptyPane, Loaded } from "../core/pane.js";
import { hueClass, stageTitle } from "../core/stages.js";
import { isOver } from "../core/status.js";
import { html, nothing } from "../core/template.js";
import { currentView, formatView, go, moduleName } from "./address.js";
import { passCounts } from "./change_counts.js";
import { durationDelta, NOISE_WORDS, onlyOn, otherOptions } from "./deltas.js";
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

  /** Where the results part. Without it, no pass is marked. */
  divergence = new Loaded(
    this,
    () => this.finished,
    /** @returns {Promise<DivergenceDocument>} */
    (before, after) => get(`/compilations/${before}/compare/${after}/divergence`),
  );

  /** Where the results part, for the first pass after which the modules differ; null: it is not this pass. @param {PassPair} pair */
  partingAt({ before, after }) {
    const { answer } = this.divergence;
    const first = answer?.first_different;
    const isFirst = first && first.before?.index === before?.index && first.after?.index === after?.index;
    return isFirst ? answer : null;
  }

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
    const shown = all ? passes : passes.filter((pair) => isChanged(pair) || this.partingAt(pair));
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
    const words = [
      match === "moved" && "at another place",
      renamed && "other name, same effect",
      ...(before && after ? otherOptions(before.options, after.options) : []),
    ].filter(Boolean);
    const parting = this.partingAt(pair);
    const [one, other] = parting
      ? [parting.before_text, parting.after_text]
      : [moduleName(before), moduleName(after)];
    const name = html`${pair.name}${renamed ? html` → ${renamed}` : nothing}${
      parting ? html` <b class="parting">parts them</b>` : nothing
    }`;
    const href = formatView({ ...currentView(), show: "stage", before: one, after: other });
    return html`<tr class="${before && after ? "" : "is-alone"} ${parting ? "is-parting" : ""}">
      <th scope="row" title=${pair.title}>${
        one && other ? html`<a class="stage-link" href=${href}>${name}</a>` : name
      }</th>
      ${this.cells(pair.stage, pair.name, before, comparison.before.id)}
      ${this.cells(pair.stage, renamed || pair.name, after, comparison.after.id)}
      <td class="number-cell pass-words">${
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
