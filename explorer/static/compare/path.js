/**
 * `<comparison-path>`: both pipelines as one path; every step leads to what differs there.
 *
 * @import { ComparisonDocument, StagePair } from "../types.js"
 */
import { make } from "../dom.js";
import { duration, plural } from "../format.js";
import { hueClass } from "../stages.js";
import { store } from "../store.js";
import { currentView, formatView } from "./address.js";
import { isOver, lineChanges, onlyOn } from "./deltas.js";

class ComparisonPath extends HTMLElement {
  connectedCallback() {
    this.setAttribute("role", "navigation");
    this.setAttribute("aria-label", "What is compared");
    store.watch(["comparison"], () => this.draw());
    addEventListener("hashchange", () => this.draw());
  }

  draw() {
    const { comparison } = store.state;
    this.hidden = !comparison;
    if (!comparison) return;
    const view = currentView();
    const { source, stages, passes } = comparison;
    const focused = document.activeElement instanceof HTMLElement && this.contains(document.activeElement) ? document.activeElement.dataset.key : null;
    /** @param {string} key @param {string} title @param {import("./address.js").View} target @param {boolean} isCurrent @param {string} hue @param {(Node | string)[]} facts @param {string} [more] */
    const step = (key, title, target, isCurrent, hue, facts, more) =>
      make("li", {}, make(
        "a",
        { class: `step ${hue}`, href: formatView(target), "data-key": key, "aria-current": isCurrent ? "page" : null, title: more },
        make("span", { class: "step-title" }, title),
        make("span", { class: "step-facts" }, ...facts),
      ));
    const changed = passes.filter(({ before, after }) => before?.changed || after?.changed).length;
    const passFacts = isOver(comparison.before) && isOver(comparison.after) ? `${changed} changed` : "on their way";
    const list = make(
      "ol",
      {},
      step("brief", "In brief", { ...view, show: "brief" }, view.show === "brief", "", ["times, resources"]),
      step("source", "Source", { ...view, show: "source" }, view.show === "source", "", lineChanges(source.lines_removed, source.lines_added)),
      ...stages.map((pair) =>
        step(pair.name, pair.title, { ...view, show: "stage", before: pair.name, after: pair.name },
          view.show === "stage" && (view.before === pair.name || view.after === pair.name), hueClass(pair.name), stageFacts(pair, comparison), stageTimes(pair))),
      step("passes", "Passes", { ...view, show: "passes" }, view.show === "passes", "", [passFacts]),
    );
    this.replaceChildren(list);
    const current = list.querySelector("[aria-current]");
    // In a narrow window only some of the steps are in sight.
    if (current instanceof HTMLElement && this.scrollWidth > this.clientWidth) this.scrollLeft = current.offsetLeft - this.clientWidth / 2;
    if (focused) /** @type {HTMLElement | null} */ (this.querySelector(`[data-key="${focused}"]`))?.focus();
  }
}

/** @param {StagePair} pair @param {ComparisonDocument} comparison @returns {(Node | string)[]} */
function stageFacts({ before, after, lines_added, lines_removed }, comparison) {
  return before && after ? lineChanges(lines_removed, lines_added) : [onlyOn(before, after, comparison)];
}

/** @param {StagePair} pair */
function stageTimes({ before, after }) {
  return [before, after].map((side) => (side ? `${plural(side.lines, "line")} in ${duration(side.milliseconds)}` : "not there")).join(" → ");
}

customElements.define("comparison-path", ComparisonPath);
