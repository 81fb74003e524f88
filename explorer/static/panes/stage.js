/**
 * `<pane-stage>`: the text of one stage, every line linked to the source line it comes from.
 *
 * @import { StageContent } from "../result.js"
 * @import { Name, Occurrence } from "../symbols.js"
 * @import { Match } from "../text_search.js"
 */
import { api } from "../api.js";
import { debounce, make } from "../dom.js";
import { duration, hueOfLine, plural, size } from "../format.js";
import { piecesOf } from "../line_pieces.js";
import { Outline } from "../outline.js";
import { hover, pin } from "../selection.js";
import { hueClass, shownStage, stageTitle, targetStages } from "../stages.js";
import { store } from "../store.js";
import { definitionOf, namesOf, occurrencesOf } from "../symbols.js";
import { findMatches } from "../text_search.js";
import { LINE_HEIGHT_PX, VirtualText } from "../virtual_text.js";

class StagePane extends HTMLElement {
  /** @type {StageContent | null} */
  content = null;
  /** @type {(() => void)[]} */
  watches = [];
  state = "";
  hovered = new Set();
  pinned = new Set();
  /** @type {Match[]} where the text has what is searched for */
  hits = [];
  /** @type {Map<number, Match[]>} */
  hitsByLine = new Map();
  hit = 0;
  /** why not everything was searched */
  problem = "";
  /** @type {string[]} the whole text, once it was needed */
  lines = [];
  /** @type {Outline | null} */
  outline = null;
  /** @type {{line: number, name: Name} | null} the name that is followed */
  followed = null;
  /** @type {Occurrence[]} where it occurs */
  uses = [];
  /** @type {Map<number, Occurrence[]>} */
  usesByLine = new Map();

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
      choose: (line, add) => this.chooseLine(line, add),
    });
    this.text.scroller.addEventListener("click", (event) => void this.clickName(event));
    this.text.scroller.addEventListener("dblclick", () => this.goToDefinition());
    this.text.element.addEventListener("keydown", (event) => {
      this.nameKey(event);
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
    const toggle = (/** @type {string} */ label, /** @type {string} */ text) =>
      make("button", {
        type: "button", class: "toggle", "aria-label": label, "aria-pressed": "false", title: label,
        onclick: (/** @type {Event} */ event) => {
          const button = /** @type {HTMLElement} */ (event.currentTarget);
          button.setAttribute("aria-pressed", String(button.getAttribute("aria-pressed") !== "true"));
          void this.find();
        },
      }, text);
    this.exact = toggle("Match case", "Aa");
    this.pattern = toggle("Regular expression", ".*");
    this.usesNote = make("span", { class: "uses", role: "status" });
    this.count = make("span", { class: "count", role: "status" });
    this.message = make("div", { class: "empty" });
    this.append(
      this.text.element,
      this.message,
      make("div", { class: "pane-foot" }, this.place, this.usesNote, this.count, this.search, this.exact, this.pattern, this.facts),
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
    this.setHits([]);
    this.lines = [];
    this.outline = null;
    this.follow(null, []);
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
    const marks = [
      ...(this.hitsByLine.get(line) ?? []).map(({ from, to }) => ({ from, to, class: "is-match" })),
      ...(this.usesByLine.get(line) ?? []).map(({ from, to, isDefinition }) => ({ from, to, class: isDefinition ? "is-use is-definition" : "is-use" })),
    ];
    code.replaceChildren(...piecesOf(text?.tokens ?? [], marks));
    row.classList.toggle("is-lit", this.hovered.has(line));
    row.classList.toggle("is-pinned", this.pinned.has(line));
    row.classList.toggle("is-hit", this.hitsByLine.has(line));
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
      { lines: [...this.hitsByLine.keys()], color: style.getPropertyValue("--warn") },
      { lines: [...this.usesByLine.keys()], color: style.getPropertyValue("--ok") },
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

  /** The whole text and its structure, fetched when first needed. @returns {Promise<Outline | null>} null: another stage is shown by now */
  async read() {
    const content = this.content;
    if (!content) return null;
    const lines = await content.text();
    if (this.content !== content) return null;
    this.lines = lines;
    this.outline ??= new Outline(lines, content.row.language);
    return this.outline;
  }

  /** @param {Match[]} hits */
  setHits(hits) {
    this.hits = hits;
    this.hit = 0;
    this.hitsByLine = byLine(hits);
  }

  async find() {
    const query = {
      text: this.search?.value ?? "",
      isPattern: this.pattern?.getAttribute("aria-pressed") === "true",
      isExact: this.exact?.getAttribute("aria-pressed") === "true",
    };
    if (query.text && !(await this.read())) return;
    if (query.text !== this.search?.value) return;
    const { matches, problem } = findMatches(this.lines, query);
    this.problem = problem;
    this.setHits(matches);
    this.text?.redraw();
    this.text?.mark({ "is-current-hit": () => false });
    this.light();
    this.goToHit(0);
  }

  /** Pin the source lines of a line. @param {number} line @param {boolean} add */
  chooseLine(line, add) {
    pin(this.content?.sourceLines(line) ?? [], this.id, add);
  }

  /** Follow the name under the mouse. @param {MouseEvent} event */
  async clickName(event) {
    if (event.detail > 1 || !this.text) return;
    const line = this.text.lineAt(event.clientY);
    const code = this.text.rows.get(line)?.querySelector(".code");
    const column = code ? columnAt(code, event) : -1;
    if (!line || column < 0 || !(await this.read())) return;
    const name = this.namesIn(line).find(({ from, to }) => from <= column && column < to);
    this.followName(line, name ?? null);
  }

  /** @param {number} line */
  namesIn(line) {
    return namesOf(this.lines[line - 1] ?? "", this.content?.row.language ?? "");
  }

  /** Light what a name stands for. @param {number} line @param {Name | null} name */
  followName(line, name) {
    const { content, outline } = this;
    if (!content || !outline || !name) this.follow(null, []);
    else this.follow({ line, name }, occurrencesOf(this.lines, outline, content.row.language, line, name));
  }

  /** @param {{line: number, name: Name} | null} followed @param {Occurrence[]} uses */
  follow(followed, uses) {
    this.followed = followed;
    this.uses = uses;
    this.usesByLine = byLine(uses);
    if (!this.usesNote) return;
    const written = uses.filter(({ isDefinition }) => isDefinition).length;
    this.usesNote.textContent = followed ? `${followed.name.label}: ${plural(written, "definition")}, ${plural(uses.length - written, "use")}` : "";
    this.usesNote.title = "F2: definition · F3: next occurrence";
    this.text?.redraw();
    this.light();
  }

  goToDefinition() {
    const { followed, content } = this;
    const target = followed && content ? definitionOf(this.uses, followed.line, content.row.language) : null;
    if (target) this.goToName(target);
  }

  /** @param {1 | -1} step */
  goToUse(step) {
    const at = this.uses.findIndex((each) => each.line === this.followed?.line && each.from === this.followed.name.from);
    const target = this.uses[(at + step + this.uses.length) % this.uses.length];
    if (target) this.goToName(target);
  }

  /** @param {Occurrence} target */
  goToName(target) {
    this.followed = { line: target.line, name: target };
    this.text?.setCursor(target.line);
  }

  /** F2 to the definition, F3 or Shift F2 to the next occurrence, arrows from name to name. @param {KeyboardEvent} event */
  nameKey(event) {
    if (event.ctrlKey || event.altKey || event.metaKey || !this.text || event.target !== this.text.scroller) return;
    if (event.key === "F2" && !event.shiftKey) this.goToDefinition();
    else if (event.key === "F3" || event.key === "F2") this.goToUse(event.key === "F3" && event.shiftKey ? -1 : 1);
    else if ((event.key === "ArrowRight" || event.key === "ArrowLeft") && this.text.cursor) void this.stepName(this.text.cursor, event.key === "ArrowRight" ? 1 : -1);
    else return;
    event.preventDefault();
  }

  /** Follow the next name of the cursor's line. @param {number} line @param {1 | -1} step */
  async stepName(line, step) {
    if (!(await this.read())) return;
    const names = this.namesIn(line);
    const at = this.followed?.line === line ? names.findIndex(({ from }) => from === this.followed?.name.from) : step > 0 ? -1 : names.length;
    this.followName(line, names[(at + step + names.length) % names.length] ?? null);
  }

  /** @param {number} index */
  goToHit(index) {
    if (!this.count) return;
    if (this.hits.length === 0) {
      this.count.textContent = this.problem || (this.search?.value ? "no match" : "");
      return;
    }
    this.hit = (index + this.hits.length) % this.hits.length;
    const { line } = /** @type {Match} */ (this.hits[this.hit]);
    this.text?.reveal(line);
    this.text?.mark({ "is-current-hit": (each) => each === line });
    this.count.textContent = `${this.hit + 1} of ${this.hits.length}${this.problem ? ` ${this.problem}` : ""}`;
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

/**
 * @template {{line: number}} Place
 * @param {Place[]} places
 * @returns {Map<number, Place[]>}
 */
function byLine(places) {
  /** @type {Map<number, Place[]>} */
  const found = new Map();
  for (const place of places) {
    const there = found.get(place.line);
    if (there) there.push(place);
    else found.set(place.line, [place]);
  }
  return found;
}

/** The column of a line's text under the mouse; -1: none. @param {Element} code @param {MouseEvent} event */
function columnAt(code, event) {
  const range = document.createRange();
  range.selectNodeContents(code);
  const { left, width } = range.getBoundingClientRect();
  const length = code.textContent?.length ?? 0;
  if (length === 0 || width === 0) return -1;
  const column = Math.floor(((event.clientX - left) / width) * length);
  return column >= 0 && column < length ? column : -1;
}

customElements.define("pane-stage", StagePane);
