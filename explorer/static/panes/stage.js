/**
 * `<pane-stage>`: the text of one stage, every line linked to the source line it comes from.
 *
 * @import { StageContent } from "../result.js"
 * @import { TextLine } from "../types.js"
 */
import { api } from "../api.js";
import { debounce, make } from "../dom.js";
import { duration, hueOfLine, plural, size } from "../format.js";
import { hover, pin } from "../selection.js";
import { hueClass, shownStage, stageTitle, targetStages } from "../stages.js";
import { store } from "../store.js";
import { LINE_HEIGHT_PX, VirtualText } from "../virtual_text.js";

class StagePane extends HTMLElement {
  /** @type {StageContent | null} */
  content = null;
  /** @type {(() => void)[]} */
  watches = [];
  state = "";
  hovered = new Set();
  pinned = new Set();
  /** @type {number[]} lines of the text that are search hits */
  hits = [];
  hit = 0;

  get paneState() {
    return this.state;
  }

  /** The name of the stage. @param {string} state */
  set paneState(state) {
    this.state = state;
    if (this.text) this.choose();
  }

  connectedCallback() {
    if (!this.text) this.build();
    this.watches = [
      store.watch(["result", "targets"], () => this.choose()),
      store.watch(["hovered", "pinned", "linked"], () => this.light()),
      store.watch(["pinned"], () => this.followPin()),
    ];
  }

  disconnectedCallback() {
    for (const end of this.watches) end();
  }

  build() {
    this.text = new VirtualText({
      label: "Stage",
      draw: (row, line) => this.drawLine(row, line),
      point: (line) => this.point(line),
      choose: (line, add) => pin(this.content?.sourceLines(line) ?? [], this.id, add),
    });
    this.text.element.addEventListener("keydown", (event) => {
      if (event.key === "/" || (event.key === "f" && (event.ctrlKey || event.metaKey))) {
        event.preventDefault();
        this.openSearch();
      }
    });
    this.place = make("span", { class: "place" });
    this.facts = make("span", { class: "facts" });
    this.search = make("input", {
      type: "search", class: "search", placeholder: "search  /", "aria-label": "Search this stage", spellcheck: "false",
      oninput: debounce(() => void this.find(), 120), onkeydown: (/** @type {KeyboardEvent} */ event) => this.searchKey(event),
    });
    this.count = make("span", { class: "count", role: "status" });
    this.message = make("div", { class: "empty" });
    this.append(
      this.text.element,
      this.message,
      make("div", { class: "pane-foot" }, this.place, this.count, this.search, this.facts),
    );
  }

  /** Show the stage of the result that is shown now. */
  choose() {
    const { result } = store.state;
    const name = shownStage(this.state);
    const content = result?.content(name) ?? null;
    this.explain(name, content !== null);
    if (content === this.content || !this.text) return;
    const isAnother = content?.row.name !== this.content?.row.name;
    this.content = content;
    this.hits = [];
    if (!content) {
      this.facts?.replaceChildren();
      return;
    }
    this.className = hueClass(name);
    if (isAnother) this.text.scrollTop = 0;
    this.text.reset(content.row.lines, `${stageTitle(name)}, ${plural(content.row.lines, "line")}`);
    this.text.shown();
    this.facts?.replaceChildren(
      `${plural(content.row.lines, "line")} · ${size(content.row.bytes)} · ${duration(content.row.milliseconds)} · `,
      make("a", { href: `${api.url(content.id, `stages/${name}`)}?raw=1`, target: "_blank", title: "What the tool printed" }, "raw"),
    );
    void content.loadLocations().then(() => {
      if (this.content !== content) return;
      const { linked } = store.state;
      for (const line of content.shownLines.keys()) linked.add(line);
      this.text?.redraw();
      store.update({ linked });
      this.followPin();
    });
    if (this.search?.value) void this.find();
  }

  /** Say why there is no text, where there is none. @param {string} name @param {boolean} isThere */
  explain(name, isThere) {
    if (!this.message || !this.text) return;
    const { result, run, sending } = store.state;
    this.message.hidden = isThere;
    this.text.element.hidden = !isThere;
    if (isThere) return;
    const title = stageTitle(name);
    const words =
      !result && (run || sending) ? `${title} is on its way.`
      : !result ? `Compile a kernel to see its ${title} here.`
      : !result.finished ? `${title} is on its way.`
      : result.document.status === "failed" ? `The compilation stopped before ${title}.`
      : !targetStages(result).includes(name) ? `${result.document.target.architecture} has no ${title}.`
      : `This result has no ${title}.`;
    this.message.replaceChildren(make("p", {}, words));
  }

  /** @param {HTMLElement} row @param {number} line */
  drawLine(row, line) {
    const content = this.content;
    if (!content) return;
    let [number, stripe, code] = /** @type {[HTMLElement, HTMLElement, HTMLElement]} */ (/** @type {unknown} */ (row.children));
    if (!number || !stripe || !code) {
      number = make("span", { class: "number" });
      stripe = make("span", { class: "stripe" });
      code = make("span", { class: "code" });
      row.replaceChildren(number, stripe, code);
    }
    number.textContent = String(line);
    const sourceLine = content.sourceLines(line)[0];
    stripe.classList.toggle("is-blank", sourceLine === undefined);
    if (sourceLine !== undefined) stripe.style.setProperty("--hue", String(hueOfLine(sourceLine)));
    const text = content.line(line, () => {
      if (this.content !== content || this.text?.rows.get(line) !== row) return;
      this.drawLine(row, line);
      this.text.schedule();
    });
    code.replaceChildren(...tokensOf(text));
    row.classList.toggle("is-lit", this.hovered.has(line));
    row.classList.toggle("is-pinned", this.pinned.has(line));
    row.classList.toggle("is-hit", this.hits.includes(line));
    row.classList.toggle("is-cursor", this.text?.cursor === line);
  }

  /** Light the lines that come from the lit source lines. */
  light() {
    const { hovered, pinned } = store.state;
    this.hovered = this.linesFrom(hovered);
    this.pinned = this.linesFrom(pinned);
    this.text?.mark({ "is-lit": (line) => this.hovered.has(line), "is-pinned": (line) => this.pinned.has(line) });
    const style = getComputedStyle(this);
    this.text?.drawMarks([
      { lines: this.hits, color: style.getPropertyValue("--warn") },
      { lines: [...this.pinned], color: style.getPropertyValue("--accent") },
      { lines: [...this.hovered], color: style.getPropertyValue("--text") },
    ]);
  }

  /** @param {number[]} sourceLines @returns {Set<number>} */
  linesFrom(sourceLines) {
    const lines = new Set();
    for (const sourceLine of sourceLines) {
      for (const line of this.content?.shownLines.get(sourceLine) ?? []) lines.add(line);
    }
    return lines;
  }

  /** Scroll to what somebody else has pinned. */
  followPin() {
    const { pinned, origin } = store.state;
    if (pinned.length === 0 || origin === this.id || !this.content?.locations || !this.text) return;
    const lines = [...this.linesFrom(pinned)].sort((one, other) => one - other);
    const first = lines[0];
    const top = Math.floor(this.text.scrollTop / LINE_HEIGHT_PX) + 1;
    const bottom = top + Math.floor(this.text.scroller.clientHeight / LINE_HEIGHT_PX) - 2;
    if (first !== undefined && !lines.some((line) => line >= top && line <= bottom)) this.text.reveal(first, true);
  }

  /** @param {number} line 0: none */
  point(line) {
    hover(line ? (this.content?.sourceLines(line) ?? []) : [], this.id);
    const locations = this.content?.locations;
    if (!this.place) return;
    const indices = line ? (locations?.lines[line - 1] ?? []) : [];
    const frames = indices.length && locations ? (locations.locations[/** @type {number} */ (indices[0])] ?? []) : [];
    const words = frames.map(([file, at, , name], depth) => {
      const path = locations?.files[file];
      const where = path ? `${path.split("/").at(-1)}:${at}` : `line ${at}`;
      return depth === 0 ? `${where}${name ? ` in ${name}` : ""}` : `inlined at ${where}${name ? ` in ${name}` : ""}`;
    });
    const more = indices.length > 1 ? ` and ${plural(indices.length - 1, "other place")}` : "";
    this.place.textContent = line ? (words.join(", ") || "no source line") + more : "";
    this.place.title = this.place.textContent;
  }

  openSearch() {
    this.search?.focus();
    this.search?.select();
  }

  async find() {
    const content = this.content;
    const wanted = this.search?.value.toLowerCase() ?? "";
    this.hits = [];
    this.hit = 0;
    if (content && wanted.length > 0) {
      const lines = await content.text();
      if (this.content !== content) return;
      lines.forEach((line, index) => {
        if (line.toLowerCase().includes(wanted)) this.hits.push(index + 1);
      });
    }
    this.text?.mark({ "is-hit": (line) => this.hits.includes(line), "is-current-hit": () => false });
    this.light();
    this.goToHit(0);
  }

  /** @param {number} index */
  goToHit(index) {
    if (!this.count) return;
    if (this.hits.length === 0) {
      this.count.textContent = this.search?.value ? "no match" : "";
      return;
    }
    this.hit = (index + this.hits.length) % this.hits.length;
    const line = /** @type {number} */ (this.hits[this.hit]);
    this.text?.reveal(line);
    this.text?.mark({ "is-current-hit": (each) => each === line });
    this.count.textContent = `${this.hit + 1} of ${this.hits.length}`;
  }

  /** @param {KeyboardEvent} event */
  searchKey(event) {
    if (event.key === "Enter") this.goToHit(this.hit + (event.shiftKey ? -1 : 1));
    if (event.key === "Escape" && this.search) {
      event.stopPropagation();
      this.search.value = "";
      void this.find();
      this.text?.scroller.focus();
    }
  }
}

/** @param {TextLine | null} line @returns {(Node | string)[]} */
function tokensOf(line) {
  if (!line) return [];
  return line.tokens.map(([kind, text]) => (kind ? make("span", { class: kind }, text) : text));
}

customElements.define("pane-stage", StagePane);
