/**
 * `<comparison-head>`: the two results, and what was asked differently of them.
 *
 * @import { ComparedSide, ComparisonDocument, Scalar } from "../types.js"
 */
import { make } from "../dom.js";
import { duration, literal, plural, targetTitle } from "../format.js";
import { store } from "../store.js";
import { go } from "./address.js";

const WORDS = { queued: "waiting for a turn", running: "compiling", complete: "complete in", failed: "failed after" };

class ComparisonHead extends HTMLElement {
  connectedCallback() {
    store.watch(["comparison", "problem"], () => this.draw());
  }

  draw() {
    const { comparison, problem } = store.state;
    this.hidden = !comparison;
    if (!comparison || problem) return;
    this.replaceChildren(
      make("div", { class: "sides" }, sideCard("Before", comparison.before), sideCard("After", comparison.after)),
      make("div", { class: "asked", "aria-label": "Asked differently", role: "group" }, ...askedDifferently(comparison)),
    );
  }
}

/** @param {string} label @param {ComparedSide} side */
function sideCard(label, side) {
  const state = side.status === "complete" || side.status === "failed" ? side.status : "busy";
  const time = side.milliseconds === null ? "" : ` ${duration(side.milliseconds)}`;
  return make(
    "section",
    { class: "side", "aria-label": label },
    make("small", { class: "side-label" }, label),
    make("a", { class: "side-kernel", href: side.url, title: "Open this result" }, side.kernel ?? "kernel"),
    make("span", { class: "side-facts" }, `${targetTitle(side.target)} · Triton ${side.triton}`),
    make("span", { class: `state is-${state}`, role: "status" }, WORDS[side.status] + time),
    side.status === "failed" && make("p", { class: "side-error" }, side.error ?? "The log of this result says more."),
  );
}

/** @param {ComparisonDocument} comparison @returns {Node[]} */
function askedDifferently({ differences, source }) {
  const chips = differences.map(({ name, before, after }) =>
    make("span", { class: "asked-chip" }, make("span", { class: "asked-name" }, name), " ", make("b", {}, shown(before)), " → ", make("b", {}, shown(after))));
  if (source.lines_added || source.lines_removed) {
    chips.unshift(
      make("button", { type: "button", class: "asked-chip", onclick: () => go({ show: "source" }) },
        make("span", { class: "asked-name" }, "source"), ` ${plural(source.lines_added, "line")} added, ${source.lines_removed} removed`),
    );
  }
  return chips.length ? [make("span", { class: "asked-title" }, "Asked differently"), ...chips] : [make("span", { class: "asked-title" }, "Both were asked the same.")];
}

/** @param {Scalar} value */
function shown(value) {
  return value === null ? "–" : literal(value);
}

/** In one line, for titles. @param {ComparisonDocument} comparison */
export function inShort({ differences, source, before, after }) {
  if (before.id === after.id) return "with itself";
  const words = differences.filter(({ name }) => name !== "kernel").slice(0, 3).map((each) => `${each.name} ${shown(each.before)} → ${shown(each.after)}`);
  if (source.lines_added || source.lines_removed) words.push("another source");
  return words.join(", ") || "asked the same";
}

customElements.define("comparison-head", ComparisonHead);
