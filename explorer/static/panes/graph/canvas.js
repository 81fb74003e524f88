/**
 * `<graph-canvas>`: the drawing of a graph. It lights nodes and edges, pans and zooms.
 *
 * It dispatches `node-pointed` and `node-clicked`, whose details have the node under the mouse; null: none.
 *
 * @import { PropertyDeclarations } from "lit"
 * @import { GraphDocument, GraphNode } from "../../core/types.js"
 * @import { Drawing } from "./drawing.js"
 */
import { LitElement } from "lit";
import { follow } from "../../core/pane.js";
import { store } from "../../core/store.js";
import { html } from "../../core/template.js";
import { focusOf } from "./focus.js";
import { Neighbors } from "./neighbors.js";
import { Viewport } from "./viewport.js";

export class GraphCanvas extends LitElement {
  /** @type {PropertyDeclarations} */
  static properties = {
    graph: { attribute: false },
    drawing: { attribute: false },
    chosen: { attribute: false },
    found: { attribute: false },
  };

  viewport = new Viewport((part, event) => {
    const node = this.nodeOf(part);
    this.dispatchEvent(new CustomEvent("node-clicked", { detail: { node, event } }));
  });
  isFitted = false;
  /** @type {Neighbors | null} */
  neighbors = null;
  // A drawing that was made out of sight is fitted when it comes into sight.
  resize = new ResizeObserver(() => this.fitInSight());

  constructor() {
    super();
    /** @type {GraphDocument | null} */
    this.graph = null;
    /** @type {Drawing | null} */
    this.drawing = null;
    /** @type {GraphNode | null} */
    this.chosen = null;
    /** Nodes that have the text that is searched for. @type {GraphNode[]} */
    this.found = [];
    follow(this, ["hovered", "pinned"], () => this.light());
    this.addEventListener("pointermove", ({ target }) => this.point(target));
    this.addEventListener("pointerleave", () => this.point(null));
  }

  /** @override */
  createRenderRoot() {
    return this;
  }

  /** @override */
  connectedCallback() {
    super.connectedCallback();
    this.resize.observe(this);
  }

  /** @override */
  disconnectedCallback() {
    super.disconnectedCallback();
    this.resize.disconnect();
  }

  /** @override */
  render() {
    return html`${this.viewport.element}`;
  }

  /** @param {Map<string, unknown>} changed @override */
  updated(changed) {
    const isNew = changed.has("drawing");
    if (isNew) this.show();
    if (isNew || changed.has("found")) this.mark("is-match", new Set(this.found.map(({ id }) => id)));
    if (isNew || changed.has("chosen")) this.choose();
  }

  show() {
    const { graph, drawing } = this;
    this.isFitted = false;
    this.viewport.show(drawing?.root ?? null, drawing?.width ?? 0, drawing?.height ?? 0);
    this.neighbors = graph && drawing ? new Neighbors(graph, drawing) : null;
    this.fitInSight();
    this.light();
  }

  fitInSight() {
    if (!this.drawing || this.isFitted || !this.clientWidth) return;
    this.isFitted = true;
    const focus = this.chosen ?? focusOf(this.graph?.nodes ?? [], store.state.pinned);
    this.viewport.open(this.drawing.parts.get(focus?.id ?? "") ?? null);
  }

  /** @param {EventTarget | null} target under the mouse */
  point(target) {
    const part = target instanceof Element ? target.closest(".node") : null;
    const node = this.nodeOf(part?.getAttribute("data-part") ?? "");
    this.dispatchEvent(new CustomEvent("node-pointed", { detail: node }));
  }

  /** @param {string} id @returns {GraphNode | null} */
  nodeOf(id) {
    return this.graph?.nodes.find((node) => node.id === id) ?? null;
  }

  /**
   * Give a class to parts of the drawing, and take it from the others.
   * @param {string} name
   * @param {Set<string>} parts
   */
  mark(name, parts) {
    for (const [id, { classList }] of this.drawing?.parts ?? []) classList.toggle(name, parts.has(id));
  }

  /** Light the nodes that come from the lit source lines. */
  light() {
    const { hovered, pinned } = store.state;
    const from = (/** @type {number[]} */ lines) => {
      const wanted = new Set(lines);
      const nodes = this.graph?.nodes.filter(({ source_lines }) =>
        source_lines.some((line) => wanted.has(line)),
      );
      return new Set(nodes?.map(({ id }) => id));
    };
    this.mark("is-lit", from(hovered));
    this.mark("is-pinned", from(pinned));
  }

  /** Mark the chosen node and its edges, and bring it into sight. */
  choose() {
    const id = this.chosen?.id;
    const edges = this.graph?.edges.flatMap(({ tail, head }, index) =>
      tail === id || head === id ? [`e${index}`] : [],
    );
    this.mark("is-chosen", new Set(id === undefined ? [] : [id, ...(edges ?? [])]));
    const part = this.drawing?.parts.get(id ?? "");
    if (part) this.viewport.reveal(part);
  }

  /**
   * The node along an edge, or beside the chosen one; the first node if none is chosen.
   * @param {"up" | "down" | "left" | "right"} direction
   * @returns {GraphNode | null}
   */
  next(direction) {
    const { chosen, graph, neighbors } = this;
    return chosen ? this.nodeOf(neighbors?.next(chosen.id, direction) ?? "") : (graph?.nodes[0] ?? null);
  }
}

customElements.define("graph-canvas", GraphCanvas);
