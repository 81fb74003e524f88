/**
 * `<pane-passes>`: the passes that lead to a stage, and the difference each one made.
 *
 * Its state is "STAGE" or "STAGE.INDEX", the pass that is looked at.
 *
 * @import { PassRow } from "../types.js"
 */
import { api } from "../api.js";
import { make } from "../dom.js";
import { duration, literal, plural } from "../format.js";
import { hueClass, stageTitle } from "../stages.js";
import { store } from "../store.js";
import { VirtualText } from "../virtual_text.js";

class PassesPane extends HTMLElement {
  state = "";
  onlyChanged = true;
  wholeText = false;
  /** @type {(() => void)[]} */
  watches = [];
  /** @type {string[]} */
  lines = [];
  loaded = "";

  get paneState() {
    return this.state;
  }

  /** @param {string} state */
  set paneState(state) {
    this.state = state;
    if (this.list) this.draw();
  }

  connectedCallback() {
    if (!this.list) this.build();
    this.watches = [store.watch(["result"], () => this.draw())];
  }

  disconnectedCallback() {
    for (const end of this.watches) end();
  }

  build() {
    this.stages = make("select", { "aria-label": "Stage that the passes lead to", onchange: () => this.ask(this.stages?.value ?? "") });
    this.changedBox = make("input", { type: "checkbox", onchange: () => { this.onlyChanged = this.changedBox?.checked ?? true; this.draw(); } });
    this.changedBox.checked = true;
    this.summary = make("span", { class: "summary" });
    this.list = make("div", { class: "pass-list", role: "listbox", tabindex: "0", "aria-label": "Passes", onkeydown: (/** @type {KeyboardEvent} */ event) => this.key(event) });
    this.title_ = make("h3", {});
    this.options = make("span", { class: "chips" });
    this.wholeBox = make("input", { type: "checkbox", onchange: () => { this.wholeText = this.wholeBox?.checked ?? false; void this.load(); } });
    this.text = new VirtualText({ label: "Difference", draw: (row, line) => this.drawLine(row, line) });
    this.message = make("div", { class: "empty" });
    this.detail = make(
      "section",
      { class: "pass-detail", "aria-label": "The pass" },
      make("header", {}, this.title_, this.options, make("label", { class: "check" }, this.wholeBox, "whole text")),
      this.text.element,
    );
    this.body = make(
      "div",
      { class: "pass-body" },
      make("div", { class: "pass-side" }, make("div", { class: "pass-head" }, this.stages, make("label", { class: "check" }, this.changedBox, "changed only"), this.summary), this.list),
      this.detail,
    );
    this.append(this.body, this.message);
  }

  /** @returns {{stage: string, index: number | null}} */
  get selection() {
    const [stage = "", index] = this.state.split(".", 2);
    return { stage, index: index === undefined || index === "" ? null : Number(index) };
  }

  draw() {
    const { result } = store.state;
    const { list, stages, summary, message, body } = this;
    if (!list || !stages || !summary || !message || !body) return;
    const all = result?.document.passes ?? [];
    const names = [...new Set(all.map(({ stage }) => stage))];
    message.hidden = all.length > 0;
    body.hidden = all.length === 0;
    if (all.length === 0) {
      const words = result && !result.finished ? "The passes are on their way." : result ? "No pass of this compilation was recorded." : "Compile a kernel to see what each pass does to it.";
      message.replaceChildren(make("p", {}, words));
      return;
    }
    const wanted = this.selection;
    const withMost = names.find((name) => name === "ttgir") ?? names[0] ?? "";
    const stage = names.includes(wanted.stage) ? wanted.stage : withMost;
    stages.replaceChildren(...names.map((name) => make("option", { value: name }, `to ${stageTitle(name)}`)));
    stages.value = stage;
    this.className = hueClass(stage);
    const members = all.filter((pass) => pass.stage === stage);
    const changed = members.filter((pass) => pass.changed);
    const shown = this.onlyChanged ? changed : members;
    summary.textContent = `${changed.length} of ${members.length} changed`;
    const slowest = Math.max(...members.map(({ milliseconds }) => milliseconds), 0.001);
    const chosen = shown.find(({ index }) => index === wanted.index) ?? shown[0] ?? null;
    list.replaceChildren(...shown.map((pass) => this.row(pass, slowest, pass === chosen)));
    if (shown.length === 0) list.append(make("p", { class: "hint" }, "None of them changed anything."));
    list.setAttribute("aria-activedescendant", chosen ? `${this.id}-${chosen.index}` : "");
    this.chosen = chosen;
    void this.load();
  }

  /** @param {PassRow} pass @param {number} slowest @param {boolean} isChosen */
  row(pass, slowest, isChosen) {
    const bar = make("span", { class: "bar" });
    bar.style.setProperty("--share", `${Math.max(2, (100 * pass.milliseconds) / slowest)}%`);
    const element = make(
      "div",
      {
        class: `pass${pass.changed ? "" : " is-idle"}`, role: "option", id: `${this.id}-${pass.index}`, "aria-selected": String(isChosen), title: pass.title,
        onclick: () => this.ask(`${pass.stage}.${pass.index}`),
      },
      make("span", { class: "pass-name" }, pass.name),
      make(
        "span",
        { class: "pass-facts" },
        make("span", { class: "track" }, bar),
        make("span", { class: "time" }, duration(pass.milliseconds)),
        pass.changed ? make("span", { class: "added" }, `+${pass.lines_added}`) : make("span", { class: "idle" }, "no change"),
        pass.changed && make("span", { class: "removed" }, `−${pass.lines_removed}`),
      ),
    );
    if (isChosen) requestAnimationFrame(() => element.scrollIntoView({ block: "nearest" }));
    return element;
  }

  /** Show what the chosen pass did. */
  async load() {
    const { result } = store.state;
    const pass = this.chosen;
    if (!result || !pass || !this.title_ || !this.options || !this.text) return;
    const key = `${result.id} ${pass.index} ${this.wholeText}`;
    if (this.loaded === key) return;
    this.loaded = key;
    this.title_.textContent = pass.name;
    this.options.replaceChildren(...pass.options.map((option) => make("span", { class: "chip quiet" }, literal(option))));
    let text = "";
    if (pass.changed || this.wholeText) {
      text = await api.passText(result.id, pass.index, this.wholeText ? "text" : "diff").catch(() => "The text of this pass could not be fetched.");
    }
    if (this.loaded !== key) return;
    this.lines = text ? text.replace(/\n$/, "").split("\n") : ["This pass changed nothing."];
    // The names of the files say nothing here.
    if (!this.wholeText && this.lines[0]?.startsWith("---")) this.lines = this.lines.slice(2);
    this.text.scrollTop = 0;
    this.text.scroller.scrollTop = 0;
    this.text.reset(this.lines.length, `${pass.name}, ${plural(this.lines.length, "line")}`);
  }

  /** @param {HTMLElement} row @param {number} line */
  drawLine(row, line) {
    const text = this.lines[line - 1] ?? "";
    const sign = this.wholeText ? " " : text[0];
    const kind = sign === "+" ? "is-added" : sign === "-" ? "is-removed" : sign === "@" ? "is-hunk" : "";
    row.className = `text-row diff-row ${kind}`;
    if (kind === "is-hunk") {
      const place = /^@@ -\d+(?:,\d+)? \+(\d+)/.exec(text)?.[1];
      row.replaceChildren(make("span", { class: "code" }, place ? `line ${place}` : text));
    } else if (this.wholeText) {
      row.replaceChildren(make("span", { class: "number" }, String(line)), make("span", { class: "code" }, text));
    } else {
      row.replaceChildren(make("span", { class: "sign" }, sign ?? ""), make("span", { class: "code" }, text.slice(1)));
    }
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step || !this.list) return;
    event.preventDefault();
    const rows = [...this.list.querySelectorAll("[role=option]")];
    const next = rows[rows.findIndex((row) => row.getAttribute("aria-selected") === "true") + step];
    if (next instanceof HTMLElement) next.click();
  }

  /** @param {string} state */
  ask(state) {
    this.state = state;
    this.draw();
    this.dispatchEvent(new CustomEvent("pane-state", { bubbles: true, detail: state }));
  }
}

customElements.define("pane-passes", PassesPane);
