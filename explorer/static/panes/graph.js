/**
 * `<pane-graph>`: the data flow or control flow of a stage, or of the module after a pass, drawn.
 *
 * Its state is "STAGE", or "STAGE.PART" for a function, loop or region alone. With ".constants" behind, those are
 * drawn, too, with ".addresses" each operation of address arithmetic; ";pass=12" draws the module after that pass.
 *
 * @import { GraphDocument, GraphNode } from "../core/types.js"
 * @import { GraphCanvas } from "./graph/canvas.js"
 * @import { Choice } from "./graph/choice.js"
 */
import { api } from "../core/api.js";
import { debounce } from "../core/dom.js";
import { plural } from "../core/format.js";
import { isFile } from "../core/host.js";
import { languageFacts } from "../core/languages.js";
import { loadLater } from "../core/modules.js";
import { follow, Loaded, whyEmpty } from "../core/pane.js";
import { hover, pin, putCursor } from "../core/selection.js";
import { hueClass } from "../core/stages.js";
import { store } from "../core/store.js";
import { html, nothing } from "../core/template.js";
import { PicturePane } from "../picture/picture_pane.js";
import "./graph/canvas.js";
import { formatChoice, parseChoice, partOptions, textOptions, textTitle } from "./graph/choice.js";
import { draw } from "./graph/drawing.js";
import { GraphLayout, LayoutCanceled, LayoutError } from "./graph/layout.js";
import { nodesWith } from "./graph/search.js";

const ARROWS = /** @type {const} */ ({
  ArrowUp: "up",
  ArrowDown: "down",
  ArrowLeft: "left",
  ArrowRight: "right",
});
const ZOOM = 1.3;
const MOST_PINNED = 3;
const TYPING_PAUSE_MS = 120;
/** Graphviz can lay out this many. */
const FEW_NODES = 1000;

class GraphPane extends PicturePane {
  static properties = {
    chosen: { state: true },
    pointed: { state: true },
    typed: { state: true },
    query: { state: true },
    hit: { state: true },
    limited: { state: true },
  };

  layout = new GraphLayout();
  /** The graph to draw: the requested graph, as far as the result has it. */
  choice = parseChoice("");
  /** Whether a drawing that is being made was canceled. */
  isCanceled = false;

  graph = new Loaded(
    this,
    () =>
      this.resultId && this.choice.stage ? [this.resultId, formatChoice(this.choice), this.mostNodes] : null,
    async (id, choice, mostNodes) => {
      const { stage, pass, part, constants, addresses } = parseChoice(choice);
      const graph = await api.graph(id, {
        ...(pass === null ? { stage } : { pass: String(pass) }),
        ...(part ? { part } : {}),
        ...(constants ? {} : { constants: "0" }),
        ...(addresses || !hasDataFlow(stage) ? {} : { addresses: "0" }),
        ...(mostNodes ? { most_nodes: String(mostNodes) } : {}),
      });
      this.chosen = this.pointed = null;
      return graph;
    },
  );
  /** The drawing of the graph; or why there is none. */
  picture = new Loaded(
    this,
    () => this.graph.answer && [this.graph.answer],
    async (graph) => {
      this.isCanceled = false;
      try {
        const svg = await this.layout.layOut(graph.dot);
        const drawing = await draw(svg, () => this.graph.answer === graph && !this.isCanceled);
        if (!drawing || this.isCanceled) throw new LayoutCanceled();
        if (!this.query) this.followCursor();
        return drawing;
      } catch (error) {
        if (error instanceof LayoutError) return error;
        throw error;
      }
    },
  );
  /** The nodes that have the text that is searched for. */
  hits = new Loaded(
    this,
    () => (this.drawn && this.graph.answer ? [this.graph.answer, this.query] : null),
    async (graph, query) => {
      if (!query) return [];
      // A long block shows its beginning and its end only.
      const isCut = graph.kind === "control flow";
      const lines = isCut ? await store.state.result?.content(graph.stage)?.text() : null;
      const hits = nodesWith(graph.nodes, lines ?? [], query);
      this.hit = 0;
      if (hits[0]) this.chosen = hits[0];
      return hits;
    },
  );

  constructor() {
    super();
    /** @type {GraphNode | null} */
    this.chosen = null;
    /** The node under the mouse. @type {GraphNode | null} */
    this.pointed = null;
    /** The text of the search field, and the text of the last search. */
    this.typed = "";
    this.query = "";
    /** Which of the hits is chosen. */
    this.hit = 0;
    /** The graph of which only a few nodes are to be drawn. */
    this.limited = "";
    this.searchSoon = debounce(() => void this.search(), TYPING_PAUSE_MS);
    follow(this, ["cursor"], () => this.followCursor());
  }

  /** @override */
  connectedCallback() {
    super.connectedCallback();
    // The layout was canceled when the pane left the page.
    if (this.picture.answer instanceof LayoutCanceled) this.picture.retry();
  }

  /** @override */
  disconnectedCallback() {
    super.disconnectedCallback();
    this.layout.close();
  }

  get resultId() {
    return store.state.result?.id ?? "";
  }

  get passes() {
    return store.state.result?.document.passes ?? [];
  }

  /** Names of the stages that can be drawn. */
  get drawable() {
    const stages = store.state.result?.document.stages ?? [];
    return stages.filter(({ language }) => languageFacts(language).graph).map(({ name }) => name);
  }

  /** The graph that is asked for, whatever its number of nodes. */
  get graphKey() {
    return `${this.resultId} ${formatChoice(this.choice)}`;
  }

  /** 0: as many as the server allows. */
  get mostNodes() {
    return this.limited === this.graphKey ? FEW_NODES : 0;
  }

  /** The drawn graph; null: none. */
  get drawn() {
    const { answer } = this.picture;
    return answer instanceof LayoutError ? null : answer;
  }

  get canvas() {
    return /** @type {GraphCanvas | null} */ (this.querySelector("graph-canvas"));
  }

  /** @override */
  willUpdate() {
    const { stage: wanted, pass, part, ...drawn } = parseChoice(this.paneState);
    const { drawable } = this;
    const known =
      pass === null
        ? drawable.find((name) => name === wanted)
        : (this.passes.find(({ index }) => index === pass)?.stage ?? wanted);
    const stage = known ?? (drawable.includes("ttgir") ? "ttgir" : (drawable.at(-1) ?? ""));
    this.choice = { stage, pass, part: known === undefined ? "" : part, ...drawn };
    this.className = hueClass(stage);
  }

  /** @override */
  render() {
    const graph = this.drawable.length ? this.graph.last : null;
    const message = this.message();
    return html`${this.head(graph)}
      ${graph?.cut ? html`<p class="graph-cut" role="status">${graph.cut}</p>` : nothing}
      <div
        class="graph-frame"
        tabindex="0"
        role="group"
        aria-label=${graph ? `Graph of ${this.titleOf(graph)}: ${facts(graph)}. Arrow keys follow the edges.` : "Graph"}
        ?hidden=${message !== nothing}
        @keydown=${this.frameKey}
      ><graph-canvas
        .graph=${this.graph.answer}
        .drawing=${this.drawn}
        .chosen=${this.chosen}
        .found=${this.hits.answer ?? []}
        @node-pointed=${this.point}
        @node-clicked=${this.choose}
        @dblclick=${this.open}
      ></graph-canvas></div>
      ${message}
      <div class="pane-foot">
        <span class="place" role="status">${graph ? this.place(graph) : nothing}</span>
        <span class="facts">${graph ? facts(graph) : nothing}</span>
      </div>`;
  }

  /** @param {GraphDocument | null} graph */
  head(graph) {
    const { choice, hits, query } = this;
    const tool = (/** @type {string} */ title, /** @type {string} */ text, /** @type {() => void} */ act) =>
      html`<button type="button" class="tool" aria-label=${title} title=${title} @click=${act}>${text}</button>`;
    const found = hits.answer?.length ?? 0;
    return html`<div class="graph-head">
      <select
        aria-label="Stage that is drawn"
        @change=${(/** @type {{target: HTMLSelectElement}} */ { target }) =>
          this.changeView({
            ...parseChoice(target.value),
            constants: choice.constants,
            addresses: choice.addresses,
          })}
      >${textOptions(this.drawable, isFile ? [] : this.passes, choice)}</select>
      <select
        aria-label="Part that is drawn"
        class="graph-part"
        @change=${(/** @type {{target: HTMLSelectElement}} */ { target }) => this.changeView({ part: target.value })}
      >${graph ? partOptions(graph) : nothing}</select>
      ${(/** @type {const} */ (["addresses", "constants"])).map(
        (name) => html`<label class="check" ?hidden=${graph?.kind === "control flow"}><input
          type="checkbox"
          .checked=${choice[name]}
          @change=${(/** @type {{target: HTMLInputElement}} */ { target }) =>
            this.changeView({ [name]: target.checked })}
        >${name}</label>`,
      )}
      <input
        type="search"
        class="search"
        placeholder="search  /"
        aria-label="Search this graph"
        spellcheck="false"
        @input=${(/** @type {{target: HTMLInputElement}} */ { target }) => {
          this.typed = target.value.trim().toLowerCase();
          this.searchSoon();
        }}
        @keydown=${this.searchKey}
      >
      <span class="count" role="status">${
        !query || query !== this.typed || !hits.answer
          ? ""
          : found
            ? `${this.hit + 1} of ${found}`
            : "no match"
      }</span>
      <span class="picture-tools">
        ${tool("Smaller", "−", () => this.canvas?.viewport.zoom(1 / ZOOM))}
        ${tool("Larger", "+", () => this.canvas?.viewport.zoom(ZOOM))}
        ${tool("Show all", "⤢", () => this.canvas?.viewport.fit())}
        ${this.saveButtons()} ${tool("Download the graph as DOT", "DOT", () => this.saveDot())}
      </span>
    </div>`;
  }

  /** Why there is no drawing; `nothing`: there is one. */
  message() {
    const { result } = store.state;
    const { choice } = this;
    if (!result || !choice.stage) {
      const unfinished = result?.finished
        ? "This compilation has no graphs: it stopped before its first stage with a graph."
        : "The graphs appear here as soon as the compilation has reached their stages.";
      return message(whyEmpty("Compile a kernel to see its graphs here.", unfinished));
    }
    return this.graph.render({
      waiting: () =>
        message(`Fetching the graph of ${this.titleOf({ stage: choice.stage, pass_index: choice.pass })} …`),
      failed: ({ title, detail }) =>
        this.failure(isFile && title ? `${title}. ${detail}` : detail, () => this.graph.retry()),
      ready: ({ nodes }) =>
        this.picture.render({
          waiting: () =>
            message(`Laying out ${plural(nodes.length, "node")} …`, { Cancel: () => this.cancel() }),
          ready: (picture) =>
            picture instanceof LayoutError
              ? this.failure(
                  picture.message,
                  () => this.picture.retry(),
                  nodes.length > FEW_NODES && {
                    [`Draw ${plural(FEW_NODES, "node")} of it`]: () => {
                      this.limited = this.graphKey;
                    },
                  },
                )
              : nothing,
        }),
    });
  }

  /**
   * @param {string} words
   * @param {() => void} retry
   * @param {Record<string, () => void> | false} [others] other ways out
   */
  failure(words, retry, others) {
    return message(words, {
      ...(isFile ? {} : { "Try again": retry }),
      ...others,
      ...(this.choice.part ? { "Show the whole": () => this.changeView({ part: "" }) } : {}),
      ...(this.choice.pass === null
        ? {}
        : { "Graph of the stage": () => this.changeView({ pass: null, part: "" }) }),
    });
  }

  /** Cancel the layout or the drawing. */
  cancel() {
    this.isCanceled = true;
    this.layout.cancel();
  }

  /** Return the title of a text. @param {{stage: string, pass_index: number | null}} text */
  titleOf({ stage, pass_index: pass }) {
    return textTitle(stage, pass, this.passes);
  }

  /** The text of the node under the mouse, or of the chosen one. @param {GraphDocument} graph */
  place(graph) {
    const node = this.pointed ?? this.chosen;
    if (!node) return nothing;
    const { first_line: first, last_line: last } = node;
    const lines = first === last ? `line ${first}` : `lines ${first} to ${last}`;
    const depth = node.loop_depth ? `, in ${plural(node.loop_depth, "loop")}` : "";
    const what =
      node.kind === "block"
        ? plural(node.operations, "instruction")
        : node.kind === "address"
          ? `${node.label[0]}: ${node.parts.join("; ")}`
          : (node.label[0] ?? "");
    return html`<button type="button" class="link" title="Enter" @click=${this.open}
      >${this.titleOf(graph)}, ${lines}</button> ${what}${depth}`;
  }

  /** Light the lines of the node under the mouse. @param {CustomEvent<GraphNode | null>} event */
  point({ detail: node }) {
    if (node === this.pointed) return;
    this.pointed = node;
    hover(node?.source_lines ?? [], this.id);
  }

  /** @param {CustomEvent<{node: GraphNode | null, event: MouseEvent}>} click */
  choose({ detail: { node, event } }) {
    /** @type {HTMLElement | null} */ (this.querySelector(".graph-frame"))?.focus({ preventScroll: true });
    this.chosen = node;
    if (!node) return;
    // A block may come from half of the source: pinning all of it would mark too much.
    if (node.source_lines.length <= MOST_PINNED)
      pin(node.source_lines, this.id, event.ctrlKey || event.metaKey);
    this.moveCursor();
  }

  /** Choose the node of the line that another pane has put the cursor on. */
  followCursor() {
    const { cursor, origin } = store.state;
    const graph = this.graph.answer;
    if (!cursor || origin === this.id || graph?.pass_index !== null || cursor.stage !== graph.stage) return;
    const { line } = cursor;
    const hasLine = (/** @type {GraphNode} */ { first_line, last_line }) =>
      first_line <= line && line <= last_line;
    if (this.chosen && hasLine(this.chosen)) return;
    const node = graph.nodes.find((each) => each.kind !== "argument" && hasLine(each));
    if (node) this.chosen = node;
  }

  /** Put the cursor of the stage on the chosen node's line. */
  moveCursor() {
    const graph = this.graph.answer;
    if (this.chosen && graph?.pass_index === null) putCursor(graph.stage, this.chosen.first_line, this.id);
  }

  /** Open the text at the chosen node's line. */
  open() {
    const graph = this.graph.answer;
    if (!this.chosen || !graph) return;
    const { stage, pass_index: pass } = graph;
    const detail = pass === null ? `stage:${stage}` : `passes:${stage}.${pass}.t.l${this.chosen.first_line}`;
    this.dispatchEvent(new CustomEvent("pane-open", { bubbles: true, detail }));
    this.moveCursor();
  }

  /** Search for the typed text, and select the first match. */
  search() {
    this.searchSoon.cancel();
    this.query = this.typed;
    return this.hits.drawn();
  }

  /** Choose another hit. @param {1 | -1} step */
  async stepHit(step) {
    const hits = await this.search();
    if (!hits?.length) return;
    this.hit = (this.hit + step + hits.length) % hits.length;
    this.chosen = hits[this.hit] ?? null;
  }

  /** @param {KeyboardEvent} event */
  searchKey(event) {
    if (event.key === "Enter") void this.stepHit(event.shiftKey ? -1 : 1);
    if (event.key !== "Escape") return;
    event.stopPropagation();
    void this.closeSearch(/** @type {HTMLInputElement} */ (event.currentTarget));
  }

  /** Remove the text of the search. The hit that was found last stays chosen. @param {HTMLInputElement} input */
  async closeSearch(input) {
    const { typed } = this;
    /** @type {HTMLElement | null} */ (this.querySelector(".graph-frame"))?.focus();
    await this.search();
    if (typed === this.typed) input.value = this.typed = this.query = "";
  }

  /** @param {KeyboardEvent} event */
  frameKey(event) {
    if (event.ctrlKey || event.altKey || event.metaKey || event.target !== event.currentTarget) return;
    const arrow = ARROWS[/** @type {keyof typeof ARROWS} */ (event.key)];
    const viewport = this.canvas?.viewport;
    if (arrow) this.step(arrow);
    else if (event.key === "Enter") this.open();
    else if (event.key === "+" || event.key === "=") viewport?.zoom(ZOOM);
    else if (event.key === "-") viewport?.zoom(1 / ZOOM);
    else if (event.key === "0") viewport?.fit();
    else if (event.key === "/") /** @type {HTMLElement | null} */ (this.querySelector(".search"))?.focus();
    else return;
    event.preventDefault();
  }

  /** Go along an edge, or to the node beside. @param {"up" | "down" | "left" | "right"} direction */
  step(direction) {
    const node = this.canvas?.next(direction);
    if (!node) return;
    this.chosen = node;
    hover(node.source_lines, this.id);
    this.moveCursor();
  }

  /** @override */
  pictureParts() {
    const { canvas, drawn } = this;
    // The whole is legible, however far away the view is. The next frame restores the view.
    canvas?.viewport.element.classList.remove("is-far");
    canvas?.viewport.draw();
    return drawn ? [drawn] : [];
  }

  /** @override */
  get pictureName() {
    const { stage, pass } = this.choice;
    return pass === null ? `graph-${stage}` : `graph-${stage}-pass-${pass}`;
  }

  /** @override */
  get pictureTitle() {
    const { stage, pass } = this.choice;
    return `Graph of ${this.titleOf({ stage, pass_index: pass })}`;
  }

  saveDot() {
    const graph = this.graph.answer;
    if (!graph) return;
    const blob = new Blob([graph.dot], { type: "text/vnd.graphviz" });
    const name = `${store.state.result?.document.kernel ?? "kernel"}-${this.pictureName}.dot`;
    void loadLater(
      () => import("../picture/save.js"),
      ({ saveBlob }) => saveBlob(blob, name),
      "The graph could not be saved. Try again.",
    );
  }

  /** Draw something else. @param {Partial<Choice>} changes */
  changeView(changes) {
    this.keepState(formatChoice({ ...this.choice, ...changes }));
  }
}

/** @param {string} stage */
function hasDataFlow(stage) {
  const { result, stageKinds } = store.state;
  const language = result?.stage(stage)?.language ?? stageKinds.find(({ name }) => name === stage)?.language;
  return languageFacts(language ?? "").graph === "data flow";
}

/** @param {GraphDocument} graph */
function facts({ kind, nodes, edges, clusters }) {
  const loops = clusters.filter((cluster) => cluster.kind === "loop").length;
  const noun = kind === "data flow" ? "operation" : "block";
  return [plural(nodes.length, noun), plural(edges.length, "edge"), plural(loops, "loop")].join(" · ");
}

/**
 * Words in place of the drawing.
 * @param {string} words
 * @param {Record<string, () => void>} [actions] by the title of their button
 */
function message(words, actions = {}) {
  return html`<div class="empty" role="status">
    <p>${words}</p>
    ${Object.entries(actions).map(
      ([title, act]) => html`<button type="button" class="button" @click=${act}>${title}</button>`,
    )}
  </div>`;
}

customElements.define("pane-graph", GraphPane);
