/**
 * `<pane-graph>`: the data flow or control flow of a stage, or of the module after a pass, drawn.
 *
 * Its state is "STAGE", "STAGE.PART" for a function, loop or region alone, and with ".constants" behind, those
 * are drawn as well; ";pass=12" draws the module after that pass.
 *
 * @import { GraphDocument, GraphNode } from "../types.js"
 * @import { Choice } from "../graph/choice.js"
 * @import { Drawing } from "../graph/drawing.js"
 */
import { ApiError, api } from "../api.js";
import { debounce, make, setText } from "../dom.js";
import { plural } from "../format.js";
import { formatChoice, parseChoice, textOptions, textTitle } from "../graph/choice.js";
import { draw } from "../graph/drawing.js";
import { GraphLayout, LayoutCancelled, LayoutError } from "../graph/layout.js";
import { Neighbours } from "../graph/neighbours.js";
import { nodesWith } from "../graph/search.js";
import { Viewport } from "../graph/viewport.js";
import { isFile } from "../host.js";
import { hover, pin, putCursor } from "../selection.js";
import { hueClass } from "../stages.js";
import { store } from "../store.js";

const LANGUAGES = ["ttir", "ttgir", "glir", "llir", "ptx", "sass", "amdgcn"];
const ARROWS = /** @type {const} */ ({ ArrowUp: "up", ArrowDown: "down", ArrowLeft: "left", ArrowRight: "right" });
const MOST_PINNED = 3;
/** What Graphviz can always lay out. */
const FEW_NODES = 1000;

class GraphPane extends HTMLElement {
  state = "";
  /** @type {(() => void)[]} */
  watches = [];
  layout = new GraphLayout();
  viewport = new Viewport((part, event) => this.choosePart(part, event));
  /** what is shown, or on its way */
  shown = "";
  /** @type {GraphDocument | null} */
  document = null;
  /** @type {Drawing | null} */
  drawing = null;
  /** @type {string} the SVG as it was laid out, for a download */
  svg = "";
  /** @type {Map<string, GraphNode>} */
  nodes = new Map();
  /** @type {Neighbours | null} */
  neighbours = null;
  /** @type {GraphNode | null} */
  chosen = null;
  /** @type {GraphNode | null} */
  pointed = null;
  /** @type {GraphNode[]} */
  hits = [];
  hit = 0;

  texts = make("select", { "aria-label": "Stage that is drawn", onchange: () => this.ask({ ...parseChoice(this.texts.value), constants: this.choice.constants }) });
  parts = make("select", { "aria-label": "Part that is drawn", class: "graph-part", onchange: () => this.ask({ part: this.parts.value }) });
  constants = make("input", { type: "checkbox", onchange: () => this.ask({ constants: this.constants.checked }) });
  search = make("input", {
    type: "search", class: "search", placeholder: "search  /", "aria-label": "Search this graph", spellcheck: "false",
    oninput: debounce(() => void this.find(), 120), onkeydown: (/** @type {KeyboardEvent} */ event) => this.searchKey(event),
  });
  count = make("span", { class: "count", role: "status" });
  frame = make("div", { class: "graph-frame", tabindex: "0", role: "group", "aria-label": "Graph", onkeydown: (/** @type {KeyboardEvent} */ event) => this.key(event) }, this.viewport.element);
  message = make("div", { class: "empty", role: "status" });
  cut = make("p", { class: "graph-cut", role: "status" });
  place = make("span", { class: "place", role: "status" });
  facts = make("span", { class: "facts" });

  get paneState() {
    return this.state;
  }

  /** @param {string} state */
  set paneState(state) {
    this.state = state;
    if (this.childElementCount) this.choose();
  }

  /** What is drawn: what the state asks for, as far as this result has it. */
  choice = parseChoice("");

  connectedCallback() {
    if (!this.childElementCount) this.build();
    this.watches = [store.watch(["result"], () => this.choose()), store.watch(["hovered", "pinned"], () => this.light()), store.watch(["cursor"], () => this.followCursor())];
  }

  disconnectedCallback() {
    for (const end of this.watches) end();
    this.resize?.disconnect();
    this.layout.close();
    this.shown = "";
  }

  build() {
    const tool = (/** @type {string} */ label, /** @type {string} */ text, /** @type {() => void} */ onclick) =>
      make("button", { type: "button", class: "tool", "aria-label": label, title: label, onclick }, text);
    this.constantsLabel = make("label", { class: "check" }, this.constants, "constants");
    this.append(
      make(
        "div",
        { class: "graph-head" },
        this.texts, this.parts, this.constantsLabel, this.search, this.count,
        make("span", { class: "graph-tools" },
          tool("Smaller", "−", () => this.viewport.zoom(1 / 1.3)), tool("Larger", "+", () => this.viewport.zoom(1.3)), tool("Show all", "⤢", () => this.viewport.fit()),
          tool("Download the graph as SVG", "SVG", () => this.save("svg")), tool("Download the graph as DOT", "DOT", () => this.save("dot"))),
      ),
      this.cut, this.frame, this.message,
      make("div", { class: "pane-foot" }, this.place, this.facts),
    );
    this.viewport.element.addEventListener("pointermove", (event) => {
      const part = event.target instanceof Element ? event.target.closest(".node")?.getAttribute("data-part") : null;
      this.pointAt(this.nodes.get(part ?? "") ?? null);
    });
    this.viewport.element.addEventListener("pointerleave", () => this.pointAt(null));
    this.viewport.element.addEventListener("dblclick", () => this.open());
    this.resize = new ResizeObserver(() => {
      // A drawing that was made out of sight is fitted when it comes into sight.
      if (this.drawing && this.frame.clientWidth && !this.isFitted) this.fit();
    });
    this.resize.observe(this.frame);
  }

  /** Show the graph that the state asks for. */
  choose() {
    const { result } = store.state;
    const drawable = (result?.document.stages ?? []).filter(({ language }) => LANGUAGES.includes(language)).map(({ name }) => name);
    const passes = result?.document.passes ?? [];
    const { stage: wanted, pass, part, constants } = parseChoice(this.state);
    const known = pass === null ? drawable.find((name) => name === wanted) : (passes.find(({ index }) => index === pass)?.stage ?? wanted);
    const stage = known ?? (drawable.includes("ttgir") ? "ttgir" : (drawable.at(-1) ?? ""));
    if (!result || !stage) {
      const words = !result ? "Compile a kernel to see its graphs here." : !result.finished ? "The stages are on their way." : "The compilation stopped before there was anything to draw.";
      this.shown = "";
      this.explain(words);
      return;
    }
    const choice = (this.choice = { stage, pass, part: known === undefined ? "" : part, constants });
    this.texts.replaceChildren(...textOptions(drawable, isFile ? [] : passes, pass));
    this.texts.value = formatChoice({ stage, pass, part: "", constants: false });
    this.constants.checked = constants;
    this.className = hueClass(stage);
    const key = `${result.id} ${formatChoice(choice)}`;
    if (key !== this.shown) void this.load(key, result.id, choice);
  }

  /** @param {string} key @param {string} id @param {Choice} choice @param {number} [mostNodes] 0: as many as there may be */
  async load(key, id, choice, mostNodes = 0) {
    const { stage, pass, part, constants } = choice;
    this.shown = key;
    const isWanted = () => this.shown === key;
    // What is laid out is still to be drawn: that can be cancelled, too.
    let isCancelled = false;
    const cancel = () => {
      isCancelled = true;
      this.layout.cancel();
    };
    this.explain(`The graph of ${this.titleOf(stage, pass)} is on its way.`);
    try {
      const document = await api.graph(id, {
        ...(pass === null ? { stage } : { pass: String(pass) }),
        ...(part ? { part } : {}), ...(constants ? {} : { constants: "0" }), ...(mostNodes ? { most_nodes: String(mostNodes) } : {}),
      });
      if (!isWanted()) return;
      this.take(document);
      this.explain(`Laying out ${plural(document.nodes.length, "node")} …`, { "Cancel": cancel });
      const svg = await this.layout.layOut(document.dot);
      if (!isWanted()) return;
      const drawing = await draw(svg, () => isWanted() && !isCancelled);
      if (isCancelled) throw new LayoutCancelled();
      if (!drawing || !isWanted()) return;
      this.svg = svg;
      this.explain("");
      this.show(drawing);
    } catch (error) {
      if (!isWanted()) return;
      const canBeLess = error instanceof LayoutError && (this.document?.nodes.length ?? 0) > FEW_NODES;
      const { title, detail } = error instanceof ApiError ? error.problem : { title: "", detail: error instanceof Error ? error.message : String(error) };
      this.explain(isFile && title ? `${title}. ${detail}` : detail, {
        ...(isFile ? {} : { "Try again": () => void this.load(key, id, choice, mostNodes) }),
        ...(canBeLess ? { [`Draw ${plural(FEW_NODES, "node")} of it`]: () => void this.load(key, id, choice, FEW_NODES) } : {}),
        ...(part ? { "Show the whole": () => this.ask({ part: "" }) } : {}),
        ...(pass === null ? {} : { "Graph of the stage": () => this.ask({ pass: null, part: "" }) }),
      });
    }
  }

  /** What a text is called. @param {string} stage @param {number | null} pass */
  titleOf(stage, pass) {
    return textTitle(stage, pass, store.state.result?.document.passes ?? []);
  }

  /** @param {GraphDocument} document */
  take(document) {
    this.document = document;
    this.nodes = new Map(document.nodes.map((node) => [node.id, node]));
    this.neighbours = null;
    this.chosen = this.pointed = null;
    const depths = new Map();
    this.parts.replaceChildren(
      make("option", { value: "" }, document.kind === "data flow" ? "Whole module" : "All functions"),
      ...document.parts.map(({ id, label, parent }) => {
        const depth = (depths.get(parent) ?? -1) + 1;
        depths.set(id, depth);
        return make("option", { value: id }, `${"\u2003".repeat(depth)}${label}`);
      }),
    );
    this.parts.value = document.part;
    if (this.constantsLabel) this.constantsLabel.hidden = document.kind !== "data flow";
    setText(this.cut, document.cut);
    this.cut.hidden = !document.cut;
    const loops = document.clusters.filter(({ kind }) => kind === "loop").length;
    const noun = document.kind === "data flow" ? "operation" : "block";
    setText(this.facts, [plural(document.nodes.length, noun), plural(document.edges.length, "edge"), plural(loops, "loop")].join(" · "));
    this.frame.setAttribute("aria-label", `Graph of ${this.titleOf(document.stage, document.pass_index)}: ${this.facts.textContent}. Arrow keys go along the edges.`);
    this.place.textContent = "";
  }

  /** @param {Drawing} drawing */
  show(drawing) {
    this.drawing = drawing;
    this.isFitted = false;
    this.viewport.show(drawing.root, drawing.width, drawing.height);
    if (this.frame.clientWidth) this.fit();
    if (this.document) this.neighbours = new Neighbours(this.document, drawing);
    this.light();
    void this.find();
    if (!this.search.value) this.followCursor();
  }

  fit() {
    this.isFitted = true;
    this.viewport.fit();
  }

  /** Say why there is no drawing; "": there is one. @param {string} words @param {Record<string, () => void>} [actions] */
  explain(words, actions = {}) {
    this.message.hidden = words === "";
    this.frame.hidden = words !== "";
    if (!words) return;
    this.drawing = null;
    this.svg = "";
    this.viewport.show(null, 0, 0);
    const buttons = Object.entries(actions).map(([title, onclick]) => make("button", { type: "button", class: "button", onclick }, title));
    this.message.replaceChildren(make("p", {}, words), ...buttons);
  }

  /** Light the nodes that come from the lit source lines. */
  light() {
    if (!this.drawing) return;
    const hovered = new Set(store.state.hovered);
    const pinned = new Set(store.state.pinned);
    for (const [id, { source_lines }] of this.nodes) {
      const { classList } = this.drawing.parts.get(id) ?? {};
      classList?.toggle("is-lit", source_lines.some((line) => hovered.has(line)));
      classList?.toggle("is-pinned", source_lines.some((line) => pinned.has(line)));
    }
  }

  /** Light the lines of the node under the mouse, and say what it is: from afar its letters cannot be read. @param {GraphNode | null} node */
  pointAt(node) {
    if (node === this.pointed) return;
    this.pointed = node;
    hover(node?.source_lines ?? [], this.id);
    this.describe(node ?? this.chosen);
  }

  /** @param {string} part @param {MouseEvent} event */
  choosePart(part, event) {
    this.frame.focus({ preventScroll: true });
    const node = this.nodes.get(part) ?? null;
    if (!node) return this.select(null);
    this.select(node);
    // A block may come from half of the source: to light all of that would say nothing.
    if (node.source_lines.length <= MOST_PINNED) pin(node.source_lines, this.id, event.ctrlKey || event.metaKey);
    this.point();
  }

  /** @param {GraphNode | null} node */
  select(node) {
    const { drawing, document } = this;
    if (!drawing || !document) return;
    this.chosen = node;
    document.edges.forEach((edge, index) => {
      drawing.parts.get(`e${index}`)?.classList.toggle("is-chosen", node !== null && (edge.tail === node.id || edge.head === node.id));
    });
    for (const id of this.nodes.keys()) drawing.parts.get(id)?.classList.toggle("is-chosen", id === node?.id);
    this.describe(node);
    const part = node && drawing.parts.get(node.id);
    if (part) this.viewport.reveal(part);
  }

  /** @param {GraphNode | null} node */
  describe(node) {
    const { document } = this;
    this.place.replaceChildren();
    if (!node || !document) return;
    const lines = node.first_line === node.last_line ? `line ${node.first_line}` : `lines ${node.first_line} to ${node.last_line}`;
    const depth = node.loop_depth ? `, in ${plural(node.loop_depth, "loop")}` : "";
    const what = node.kind === "block" ? plural(node.operations, "instruction") : (node.label[0] ?? "");
    this.place.append(make("button", { type: "button", class: "link", title: "Enter", onclick: () => this.open() }, `${this.titleOf(document.stage, document.pass_index)}, ${lines}`), ` ${what}${depth}`);
  }

  /** Choose the node of the line that the cursor was put on elsewhere. */
  followCursor() {
    const { cursor, origin } = store.state;
    if (!cursor || origin === this.id || this.document?.pass_index !== null || cursor.stage !== this.document.stage) return;
    const { line } = cursor;
    if (this.chosen && this.chosen.first_line <= line && line <= this.chosen.last_line) return;
    const node = [...this.nodes.values()].find(({ kind, first_line, last_line }) => kind !== "argument" && first_line <= line && line <= last_line);
    if (node) this.select(node);
  }

  /** Put the cursor of the stage on the chosen node's line. */
  point() {
    const { chosen, document } = this;
    if (chosen && document?.pass_index === null) putCursor(document.stage, chosen.first_line, this.id);
  }

  /** Open the text at the chosen node's line. */
  open() {
    if (!this.chosen || !this.document) return;
    const { stage, pass_index: pass } = this.document;
    const detail = pass === null ? `stage:${stage}` : `passes:${stage}.${pass}.t.l${this.chosen.first_line}`;
    this.dispatchEvent(new CustomEvent("pane-open", { bubbles: true, detail }));
    this.point();
  }

  async find() {
    const text = this.search.value.trim().toLowerCase();
    const { document } = this;
    // A long block shows its beginning and its end only.
    const lines = text && document?.kind === "control flow" ? await store.state.result?.content(document.stage)?.text() : null;
    if (document !== this.document || text !== this.search.value.trim().toLowerCase()) return;
    this.hits = text && document ? nodesWith(document.nodes, lines ?? [], text) : [];
    const found = new Set(this.hits.map(({ id }) => id));
    for (const id of this.nodes.keys()) this.drawing?.parts.get(id)?.classList.toggle("is-match", found.has(id));
    setText(this.count, !text ? "" : this.hits.length ? "" : "no match");
    this.goToHit(0);
  }

  /** @param {number} index */
  goToHit(index) {
    if (!this.hits.length) return;
    this.hit = (index + this.hits.length) % this.hits.length;
    this.select(this.hits[this.hit] ?? null);
    setText(this.count, `${this.hit + 1} of ${this.hits.length}`);
  }

  /** @param {KeyboardEvent} event */
  searchKey(event) {
    if (event.key === "Enter") this.goToHit(this.hit + (event.shiftKey ? -1 : 1));
    if (event.key !== "Escape") return;
    event.stopPropagation();
    this.search.value = "";
    void this.find();
    this.frame.focus();
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.ctrlKey || event.altKey || event.metaKey || event.target !== this.frame) return;
    const arrow = ARROWS[/** @type {keyof typeof ARROWS} */ (event.key)];
    if (arrow) this.step(arrow);
    else if (event.key === "Enter") this.open();
    else if (event.key === "+" || event.key === "=") this.viewport.zoom(1.3);
    else if (event.key === "-") this.viewport.zoom(1 / 1.3);
    else if (event.key === "0") this.viewport.fit();
    else if (event.key === "/") this.search.focus();
    else return;
    event.preventDefault();
  }

  /** Go along an edge, or to the node beside. @param {"up" | "down" | "left" | "right"} direction */
  step(direction) {
    const next = this.chosen ? this.neighbours?.next(this.chosen.id, direction) : this.document?.nodes[0]?.id;
    const node = this.nodes.get(next ?? "");
    if (!node) return;
    this.select(node);
    hover(node.source_lines, this.id);
    this.point();
  }

  /** @param {"svg" | "dot"} kind */
  save(kind) {
    const text = kind === "svg" ? this.svg : this.document?.dot;
    if (!text || !this.document) return;
    const type = kind === "svg" ? "image/svg+xml" : "text/vnd.graphviz";
    const url = URL.createObjectURL(new Blob([text], { type }));
    const { stage, pass_index: pass } = this.document;
    make("a", { href: url, download: `${store.state.result?.document.kernel ?? "kernel"}-${stage}${pass === null ? "" : `-pass-${pass}`}.${kind}` }).click();
    setTimeout(() => URL.revokeObjectURL(url), 60_000);
  }

  /** Draw something else. @param {Partial<Choice>} changes */
  ask(changes) {
    this.state = formatChoice({ ...this.choice, ...changes });
    this.choose();
    this.dispatchEvent(new CustomEvent("pane-state", { bubbles: true, detail: this.state }));
  }
}

customElements.define("pane-graph", GraphPane);
