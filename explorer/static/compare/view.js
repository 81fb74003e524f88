/**
 * `<comparison-view>`: the view of two results that the address names: the summary, their passes, or two texts.
 *
 * @import { ComparisonDocument, PassPair } from "../core/types.js"
 * @import { View } from "./address.js"
 */
import { ApiError, api } from "../core/api.js";
import { make } from "../core/dom.js";
import { plural } from "../core/format.js";
import { StageContent } from "../core/result.js";
import { hueClass, stageTitle } from "../core/stages.js";
import { isOver } from "../core/status.js";
import { store } from "../core/store.js";
import { PassContent } from "../panes/passes/pass_content.js";
import { currentView, go, moduleName } from "./address.js";
import "./brief.js";
import { render } from "../core/template.js";
import { changeCounts } from "./change_counts.js";
import { ComparisonDiff } from "./diff.js";
import "./pass_pairs.js";
import { SourceContent } from "./source_content.js";

class ComparisonView extends HTMLElement {
  /** which texts are shown or on their way */
  key = "";
  /** Settles when they are shown. @type {Promise<void>} */
  drawn = Promise.resolve();
  diff = new ComparisonDiff();
  tools = make("div", { class: "tools", role: "toolbar", "aria-label": "Difference" });
  place = make("span", { class: "count", role: "status" });
  message = make("div", { class: "empty" });

  connectedCallback() {
    this.setAttribute("role", "region");
    store.watch(["comparison", "problem"], () => this.draw());
    addEventListener("hashchange", () => this.draw());
    this.addEventListener("change-shown", () => this.drawPlace());
  }

  draw() {
    const { comparison, problem } = store.state;
    const view = currentView();
    const isText = view.show === "source" || view.show === "stage";
    if (!isText || !comparison) this.key = "";
    const pass = comparison && passOf(comparison, "after", view.after);
    const hue = view.show === "stage" ? hueClass(pass?.stage ?? view.after) : "";
    this.className = `shows-${comparison ? view.show : "nothing"} ${hue}`;
    this.setAttribute(
      "aria-label",
      { brief: "Summary", passes: "Passes", source: "Source", stage: titleOf(comparison, "after", view) }[
        view.show
      ],
    );
    if (!comparison) {
      this.say(
        problem
          ? [
              make("h2", {}, problem.title),
              make("p", {}, problem.detail),
              make("p", {}, make("a", { href: "/" }, "Back to the explorer")),
            ]
          : [make("p", {}, "Comparing …")],
      );
    } else if (view.show === "brief" || view.show === "passes") {
      // An element of the same kind updates itself; an element of a different kind replaces it.
      const tag = `comparison-${view.show}`;
      if (this.firstElementChild?.localName !== tag) this.replaceChildren(document.createElement(tag));
    } else {
      this.drawn = this.drawTexts(comparison, view);
    }
  }

  /** @param {Node[]} words */
  say(words) {
    this.message.replaceChildren(...words);
    this.replaceChildren(this.message);
  }

  /** @param {ComparisonDocument} comparison @param {View} view */
  async drawTexts(comparison, view) {
    const { before, after } = comparison;
    const rows =
      view.show === "stage"
        ? [textOf(comparison, "before", view.before), textOf(comparison, "after", view.after)]
        : [];
    this.drawTools(comparison, view);
    const titles = [...new Set([titleOf(comparison, "before", view), titleOf(comparison, "after", view)])];
    if (view.show === "stage" && !rows[0] && !rows[1]) {
      this.key = "";
      this.replaceChildren(this.tools, this.message);
      const names = titles.join(" and no ");
      this.message.replaceChildren(
        make(
          "p",
          {},
          isOver(before) && isOver(after)
            ? `These results have no ${names}.`
            : `${titles.at(-1)} is not compiled yet.`,
        ),
      );
      return;
    }
    const key = JSON.stringify([view.show, view.before, view.after, rows]);
    if (key === this.key) {
      if (this.diff.texts) this.diff.show({ texts: this.diff.texts, form: view.form });
      return;
    }
    this.key = key;
    try {
      const path =
        view.show === "source" ? "source" : `stages/${view.before}?other=${encodeURIComponent(view.after)}`;
      const diff = await api.diff(before.id, after.id, path);
      if (this.key !== key) return;
      const lines = (/** @type {"before_lines" | "after_lines"} */ side) =>
        diff.runs.reduce((sum, run) => sum + run[side], 0);
      const contents =
        view.show === "source"
          ? [
              new SourceContent(before.id, lines("before_lines")),
              new SourceContent(after.id, lines("after_lines")),
            ]
          : [
              contentOf(before.id, rows[0], lines("before_lines")),
              contentOf(after.id, rows[1], lines("after_lines")),
            ];
      this.replaceChildren(this.tools, this.diff);
      const title = view.show === "source" ? "Source" : titles.join(" and ");
      this.drawChanges(diff);
      const [first = null, second = null] = contents;
      this.diff.show({ texts: { title, before: first, after: second, diff }, form: currentView().form });
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (this.key !== key) return;
      this.key = "";
      this.say([
        make("p", {}, `${error.problem.title}. ${error.problem.detail}`),
        make("button", { type: "button", class: "button", onclick: () => this.draw() }, "Try again"),
      ]);
    }
  }

  /** @param {ComparisonDocument} comparison @param {View} view */
  drawTools(comparison, view) {
    const names = comparison.stages.map(({ name }) => name);
    const focused =
      document.activeElement instanceof HTMLElement && this.tools.contains(document.activeElement)
        ? document.activeElement.dataset.key
        : null;
    /** @param {"before" | "after"} side */
    const choice = (side) => {
      const passes = comparison.passes.filter((pair) => pair[side]);
      const stages = passOf(comparison, side, view[side]) ? names : [...new Set([...names, view[side]])];
      const select = make(
        "select",
        { "aria-label": `Stage ${side}`, "data-key": side, onchange: () => go({ [side]: select.value }) },
        ...stages.map((name) => make("option", { value: name }, stageTitle(name))),
        ...[...new Set(passes.map(({ stage }) => stage))].map((stage) =>
          make(
            "optgroup",
            { label: `On the way to ${stageTitle(stage)}` },
            ...passes
              .filter((pair) => pair.stage === stage)
              .sort((one, other) => (one[side]?.index ?? 0) - (other[side]?.index ?? 0))
              .map((pair) => make("option", { value: moduleName(pair[side]) }, afterPass(pair, side))),
          ),
        ),
      );
      select.value = view[side];
      return select;
    };
    this.changes = make("span", { class: "line-changes" });
    const button = (
      /** @type {string} */ key,
      /** @type {string} */ text,
      /** @type {string} */ title,
      /** @type {() => void} */ act,
      /** @type {Record<string, unknown>} */ more = {},
    ) =>
      make(
        "button",
        { type: "button", class: "button small", "data-key": key, title, onclick: act, ...more },
        text,
      );
    this.tools.replaceChildren(
      ...(view.show === "stage"
        ? [choice("before"), make("span", { "aria-hidden": "true" }, "→"), choice("after")]
        : [make("b", {}, "Source")]),
      this.changes,
      make("span", { class: "space" }),
      this.place,
      button("previous", "↑", "Previous change (P)", () => void this.step(-1), {
        "aria-label": "Previous change",
        "aria-keyshortcuts": "P",
      }),
      button("next", "↓", "Next change (N)", () => void this.step(1), {
        "aria-label": "Next change",
        "aria-keyshortcuts": "N",
      }),
      button("unfold", "Unfold all", "Show equal lines, too (E)", () => void this.unfoldAll(), {
        "aria-keyshortcuts": "E",
      }),
      button("unified", "Unified", "One text below the other (U)", () => go({ form: this.diff.otherForm }), {
        "aria-pressed": String(this.diff.isUnified),
        "aria-keyshortcuts": "U",
      }),
    );
    if (this.diff.texts && this.key) this.drawChanges(this.diff.texts.diff);
    if (focused)
      /** @type {HTMLElement | null} */ (this.tools.querySelector(`[data-key="${focused}"]`))?.focus();
  }

  /** @param {import("../core/types.js").DiffDocument} diff */
  drawChanges(diff) {
    if (this.changes) render(changeCounts(diff), this.changes);
  }

  drawPlace() {
    const { count, position } = this.diff;
    this.place.textContent =
      count === 0
        ? "no difference"
        : position
          ? `${position} of ${plural(count, "change")}`
          : plural(count, "change");
    const unfold = /** @type {HTMLButtonElement | null} */ (this.tools.querySelector("[data-key=unfold]"));
    if (unfold) unfold.disabled = !this.diff.rows.isFolded;
    this.tools.querySelector("[data-key=unified]")?.setAttribute("aria-pressed", String(this.diff.isUnified));
  }

  /** @param {1 | -1} step */
  async step(step) {
    await this.drawn;
    if (this.diff.isConnected) this.diff.step(step);
  }

  async unfoldAll() {
    await this.drawn;
    if (this.diff.isConnected) this.diff.unfoldAll();
  }
}

/** The pass after which a module is compared. @param {ComparisonDocument} comparison @param {"before" | "after"} side @param {string} name */
function passOf({ passes }, side, name) {
  return passes.find((pair) => pair[side] && moduleName(pair[side]) === name);
}

/** @param {PassPair} pair @param {"before" | "after"} side */
function afterPass({ name, renamed, ...sides }, side) {
  return `after ${(side === "after" && renamed) || name} (${sides[side]?.index})`;
}

/** @param {ComparisonDocument | null} comparison @param {"before" | "after"} side @param {View} view */
function titleOf(comparison, side, view) {
  const pass = comparison && passOf(comparison, side, view[side]);
  return pass ? afterPass(pass, side) : stageTitle(view[side]);
}

/** A stage, or the pass after which the module is compared. @param {ComparisonDocument} comparison @param {"before" | "after"} side @param {string} name */
function textOf(comparison, side, name) {
  const pass = passOf(comparison, side, name);
  if (pass) return pass[side];
  const pair = comparison.stages.find((each) => each.name === name);
  const stage = pair?.[side];
  return pair && stage ? { name, title: pair.title, language: pair.language, url: "", ...stage } : null;
}

/** @param {string} id @param {ReturnType<typeof textOf> | undefined} row @param {number} lines */
function contentOf(id, row, lines) {
  if (!row) return null;
  return "index" in row ? new PassContent(id, row.index, lines) : new StageContent(id, row);
}

customElements.define("comparison-view", ComparisonView);
export { ComparisonView };
