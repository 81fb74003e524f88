/**
 * `<comparison-path>`: both pipelines as one path. Each step leads to the differences of its stage.
 *
 * @import { StagePair } from "../core/types.js"
 * @import { View } from "./address.js"
 */
import { duration, plural } from "../core/format.js";
import { hueClass } from "../core/stages.js";
import { isOver } from "../core/status.js";
import { html, nothing } from "../core/template.js";
import { currentView, formatView } from "./address.js";
import { changeCounts, lineCounts } from "./change_counts.js";
import { onlyOn } from "./deltas.js";
import { ComparisonPart } from "./part.js";

class ComparisonPath extends ComparisonPart {
  /** @override */
  connectedCallback() {
    super.connectedCallback();
    this.setAttribute("role", "navigation");
    this.setAttribute("aria-label", "Compared stages");
  }

  /** @override */
  render() {
    const { comparison } = this;
    if (!comparison) return nothing;
    const view = currentView();
    const { source, stages, passes } = comparison;
    const step = (
      /** @type {string} */ title,
      /** @type {Partial<View>} */ target,
      /** @type {unknown} */ facts,
      isCurrent = view.show === target.show,
      hue = "",
      more = "",
    ) => html`<li><a
        class="step ${hue}"
        href=${formatView({ ...view, ...target })}
        aria-current=${isCurrent ? "page" : nothing}
        title=${more || nothing}
      ><span class="step-title">${title}</span><span class="step-facts">${facts}</span></a></li>`;
    const changed = passes.filter(({ before, after }) => before?.changed || after?.changed).length;
    const areOver = isOver(comparison.before) && isOver(comparison.after);
    return html`<ol>
      ${step("Summary", { show: "brief" }, "resources, times")}
      ${step("Source", { show: "source" }, lineCounts(source.lines_removed, source.lines_added))}
      ${stages.map((pair) => {
        const { name, title, before, after } = pair;
        return step(
          title,
          { show: "stage", before: name, after: name },
          before && after ? changeCounts(pair) : onlyOn(before, after, comparison),
          view.show === "stage" && (view.before === name || view.after === name),
          hueClass(name),
          stageTimes(pair),
        );
      })}
      ${step(
        "Passes",
        { show: "passes" },
        areOver ? `${changed} changed` : "pending",
        view.show === "passes" || (view.show === "stage" && view.after.startsWith("pass-")),
      )}
    </ol>`;
  }

  /** @override */
  updated() {
    const current = this.querySelector("[aria-current]");
    // In a narrow window, some steps are out of sight.
    if (current instanceof HTMLElement && this.scrollWidth > this.clientWidth)
      this.scrollLeft = current.offsetLeft - this.clientWidth / 2;
  }
}

/** @param {StagePair} pair */
function stageTimes({ before, after }) {
  return [before, after]
    .map((side) => (side ? `${plural(side.lines, "line")} in ${duration(side.milliseconds)}` : "missing"))
    .join(" → ");
}

customElements.define("comparison-path", ComparisonPath);
