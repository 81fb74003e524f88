/**
 * `<pass-lineage>`: one operation through the passes, from the one that made it to the one that removed it.
 *
 * @import { PassRow } from "../types.js"
 * @import { Lineage, LineageStep } from "./documents.js"
 */
import { ApiError } from "../api.js";
import { make } from "../dom.js";
import { plural } from "../format.js";
import { operationLineage } from "./documents.js";

class PassLineage extends HTMLElement {
  /** @type {Lineage | null} */
  lineage = null;
  key = "";
  /** @type {(index: number, line: number) => void} */
  go = () => {};

  connectedCallback() {
    this.setAttribute("role", "region");
    this.setAttribute("aria-label", "The operation through the passes");
    this.hidden = this.lineage === null;
  }

  /** Show where the operation in a line of the module after a pass came from. @param {string} id @param {PassRow[]} passes @param {number} index @param {number} line */
  async follow(id, passes, index, line) {
    const key = `${id} ${index} ${line}`;
    if (key === this.key) return;
    this.key = key;
    this.hidden = false;
    if (!this.lineage) this.replaceChildren(make("p", { class: "hint" }, "Following the operation …"));
    try {
      const lineage = await operationLineage(id, index, line);
      if (this.key === key) this.draw(lineage, passes);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (this.key === key) this.replaceChildren(this.closer(), make("p", { class: "hint" }, error.problem.detail));
    }
  }

  /** @param {Lineage} lineage @param {PassRow[]} passes */
  draw(lineage, passes) {
    this.lineage = lineage;
    const nameOf = (/** @type {number} */ index) => passes.find((pass) => pass.index === index)?.name ?? String(index);
    const asked = /** @type {LineageStep} */ (lineage.steps[lineage.asked]);
    const step = (/** @type {1 | -1} */ direction) => this.neighbour(direction);
    const button = (/** @type {string} */ text, /** @type {string} */ title, /** @type {LineageStep | undefined} */ to) =>
      make("button", { type: "button", class: "button small", title, "aria-label": title, disabled: !to, onclick: () => to && this.go(to.index, to.line) }, text);
    const shown = lineage.steps.filter((each, at) => at === 0 || at === lineage.asked || each.how !== "same");
    const skipped = lineage.steps.length - shown.length;
    this.replaceChildren(
      this.closer(),
      make(
        "div",
        { class: "lineage-head" },
        button("←", "Where it came from (B)", step(-1)),
        button("→", "What became of it (F)", step(1)),
        make("code", { class: "lineage-text", title: asked.text }, asked.text),
      ),
      make(
        "ol",
        { class: "lineage-steps" },
        ...shown.map((each) =>
          make(
            "li",
            {},
            make(
              "button",
              {
                type: "button", class: `lineage-step is-${each.how ?? "made"}`, "aria-current": each === asked ? "step" : null, title: each.text,
                onclick: () => this.go(each.index, each.line),
              },
              make("small", {}, each === lineage.steps[0] ? "made by" : (each.how ?? "")),
              make("span", {}, nameOf(each.index)),
            ),
          )),
        lineage.removed_by !== null && make("li", {}, make("span", { class: "lineage-step is-gone" }, make("small", {}, "gone after"), make("span", {}, nameOf(lineage.removed_by)))),
      ),
      make("p", { class: "hint" }, skipped ? `${plural(skipped, "other pass")} changed something else. What was rewritten is found by its name and its likeness.` : ""),
    );
  }

  /** The step of the next pass that did something to the operation, or of the one before. @param {1 | -1} direction */
  neighbour(direction) {
    const { lineage } = this;
    if (!lineage) return undefined;
    const { steps, asked } = lineage;
    if (direction > 0) return steps.find((each, at) => at > asked && each.how !== "same");
    // Going back leads to the module that the asked step's change was made from.
    return asked > 0 ? steps[asked - 1] : undefined;
  }

  /** @param {1 | -1} direction */
  step(direction) {
    const to = this.neighbour(direction);
    if (to) this.go(to.index, to.line);
  }

  close() {
    this.lineage = null;
    this.key = "";
    this.hidden = true;
    this.dispatchEvent(new CustomEvent("lineage-closed", { bubbles: true }));
  }

  closer() {
    return make("button", { type: "button", class: "tool lineage-close", "aria-label": "Stop following the operation", onclick: () => this.close() }, "×");
  }
}

customElements.define("pass-lineage", PassLineage);
export { PassLineage };
