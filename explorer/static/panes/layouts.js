/**
 * `<pane-layouts>`: how tensors lie in registers and memory, and how data moves between them.
 *
 * Its state is "KEY;view=VIEW;pass=12;at=130;access=2": the layout (an index, an alias, a value), its view, the
 * pass after which it is read, the element that is kept highlighted, the shared access whose banks are shown.
 *
 * @import { PropertyDeclarations } from "lit"
 * @import { LayoutGroup } from "./layouts/document.js"
 * @import { LayoutsDocument, SharedAccess } from "../core/types.js"
 * @import { Told } from "./layouts/pictures.js"
 */
import { api } from "../core/api.js";
import { plural } from "../core/format.js";
import { isFile } from "../core/host.js";
import { finishedId, Loaded, whyEmpty } from "../core/pane.js";
import "./layouts/access_motion.js";
import { banksPicture } from "./layouts/banks.js";
import { elementsText, findGroup, groupsOf, shapeText } from "./layouts/document.js";
import { Grid } from "./layouts/grid.js";
import { LinearLayout } from "./layouts/linear_layout.js";
import { accessCards, conversionCards, productCards, sharedCards } from "./layouts/movement.js";
import {
  basesTable,
  hardwarePicture,
  elementsOfThread,
  ownersOf,
  sheetOf,
  tensorPicture,
} from "./layouts/pictures.js";
import { sharedWords } from "./layouts/shared_words.js";
import { passesWithLayouts } from "../core/snapshots.js";
import { putCursor } from "../core/selection.js";
import { store } from "../core/store.js";
import { html, nothing } from "../core/template.js";
import { PicturePane } from "../picture/picture_pane.js";
import "../lessons/lesson_link.js";
import "../lineage/why_here.js";

const PICTURES = { tensor: "Tensor", hardware: "Hardware", banks: "Banks", bases: "Bases" };
const LISTS = {
  conversions: "Conversions",
  accesses: "Accesses to global memory",
  shared: "Accesses to shared memory by threads",
  products: "Matrix products",
};
/** The meaning of the colors of a picture. */
const HUES = {
  tensor: "Each hue is a warp, from its first lane to its last. Large cells say lane:register.",
  hardware:
    "Each hue is a row of the tensor, from its first column to its last. Large cells say which element they hold.",
  banks: "Each hue is a row of the tensor.",
};
const VALUES_SHOWN = 24;

/** The cards of each list. */
const CARDS = {
  conversions: conversionCards,
  accesses: accessCards,
  shared: sharedCards,
  products: productCards,
};

/** @typedef {{document: LayoutsDocument, groups: LayoutGroup[]}} Answer */
/** @typedef {{group: LayoutGroup, layout: LinearLayout, view: string}} Drawing a layout on the canvas */

class LayoutsPane extends PicturePane {
  /** @type {PropertyDeclarations} @override */
  static properties = { told: { state: true }, asked: { state: true } };

  /** The layouts of the stage, or after a pass. */
  layouts = new Loaded(
    this,
    () => {
      const [id] = finishedId() ?? [];
      return id ? /** @type {const} */ ([id, this.view.pass]) : null;
    },
    async (id, pass) => {
      const document = await api.layouts(id, pass);
      return { document, groups: groupsOf(document) };
    },
  );

  grid = new Grid();
  /** By their bases. @type {WeakMap<object, LinearLayout>} */
  linear = new WeakMap();

  constructor() {
    super();
    /** The cell under the mouse or the cursor. @type {Told | null} */
    this.told = null;
    /** The operation whose reason is shown: the pass and the line. */
    this.asked = "";
    /** The content of the canvas. @type {{answer: Answer | null, key: string}} */
    this.drawn = { answer: null, key: "" };
  }

  /** The parsed state. */
  get view() {
    const [key = "", ...rest] = this.paneState.split(";");
    const given = Object.fromEntries(rest.map((part) => part.split("=", 2)));
    const number = (/** @type {string | undefined} */ text) =>
      text !== undefined && /^\d+$/.test(text) ? Number(text) : null;
    return {
      key,
      view: given.view ?? "",
      pass: number(given.pass),
      at: number(given.at),
      access: number(given.access),
    };
  }

  /**
   * Change parts of the state.
   * @param {Partial<{key: string, view: string, pass: number | null, at: number | null, access: number |
   *   null}>} changes
   */
  changeView(changes) {
    const { key, ...rest } = { ...this.view, ...changes };
    const parts = Object.entries(rest).filter(([, value]) => value !== null && value !== "");
    this.keepState([key, ...parts.map(([name, value]) => `${name}=${value}`)].join(";"));
  }

  /** @override */
  render() {
    return this.layouts.render({
      empty: whyEmpty(
        "Compile a kernel to see how its tensors lie in registers and memory.",
        "The layouts are read when the compilation is complete.",
      ),
      waiting: "The compiler is asked for the layouts, after the jobs that wait before.",
      ready: (answer) => this.body(answer),
      failed: ({ title, detail }) => this.failure(detail || title),
    });
  }

  /** @param {string} words */
  failure(words) {
    if (isFile)
      return html`<div class="empty"><p>
        This file does not contain the layouts. Open the result on its server to see them.
      </p></div>`;
    const back = () =>
      html`<button type="button" class="button" @click=${() => this.changeView({ key: "", pass: null })}>Layouts of
        TTGIR</button>`;
    return html`<div class="empty">
      <p>${words}</p>
      <button type="button" class="button" @click=${() => this.layouts.retry()}>Try again</button>
      ${this.view.pass === null ? nothing : back()}
    </div>`;
  }

  /** @param {Answer} answer */
  body({ document, groups }) {
    const { key, view } = this.view;
    const isList = Object.hasOwn(LISTS, view);
    const group = isList ? null : this.group;
    return html`<div class="layout-body">
      <div class="layout-side">
        <div class="layout-source">${this.sources(document)}</div>
        <div class="layout-lists" role="group" aria-label="Where data moves">${this.lists(document, view)}</div>
        ${this.list(groups, group)}
      </div>
      <section class="layout-detail" aria-label="The layout">${
        isList
          ? this.cards(document, /** @type {keyof typeof LISTS} */ (view))
          : group
            ? this.detail(document, group)
            : missing(key)
      }</section>
    </div>`;
  }

  /** @override */
  pictureParts() {
    const parts = (/** @type {string} */ selector) => [...this.querySelectorAll(selector)];
    const whole = this.drawing && this.grid.whole;
    return [
      ...parts(".layout-head > *"),
      ...(whole ? [whole] : []),
      ...parts(":is(.layout-cards, .layout-bases-box) > *, .layout-details > :first-child"),
    ];
  }

  /** The group of the address; null: there is none. */
  get group() {
    const { answer } = this.layouts;
    const { key, access } = this.view;
    return (
      answer &&
      findGroup(answer.groups, key || String(answer.document.shared_accesses[access ?? -1]?.shared ?? ""))
    );
  }

  /** Return the drawing for the canvas; null: the canvas is not in the page. @returns {Drawing | null} */
  get drawing() {
    const { group } = this;
    const layout = group && this.layoutOf(group);
    if (!layout || Object.hasOwn(LISTS, this.view.view)) return null;
    const [view = ""] = viewsOf(group, this.view.view);
    return view === "bases" ? null : { group, layout, view };
  }

  /** @param {LayoutsDocument} document */
  sources({ pass_index: shown }) {
    const passes = passesWithLayouts(store.state.result?.document.passes ?? []).filter(
      ({ changed, index }) => changed || index === shown,
    );
    const change = (/** @type {Event} */ event) => {
      const { value } = /** @type {HTMLSelectElement} */ (event.currentTarget);
      this.changeView({ key: "", pass: value ? Number(value) : null, at: null, access: null });
    };
    return html`<select aria-label="Text whose layouts are shown" @change=${change}>
      <option value="" .selected=${shown === null}>TTGIR</option>
      ${passes.map(
        ({ index, name }) => html`<option value=${index} .selected=${index === shown}>after ${name}</option>`,
      )}
    </select>`;
  }

  /** @param {LayoutsDocument} document @param {string} view */
  lists(document, view) {
    const counts = {
      conversions: document.conversions.length,
      accesses: document.accesses.length,
      shared: document.shared_accesses.length,
      products: document.matrix_products.length,
    };
    return /** @type {(keyof typeof LISTS)[]} */ (Object.keys(LISTS)).map(
      (name) =>
        html`<button type="button" class="layout-row" aria-pressed=${view === name}
          @click=${() => this.changeView({ view: name, at: null, access: null })}>${LISTS[name]}<small>${counts[name]}</small></button>`,
    );
  }

  /** @param {LayoutGroup[]} groups @param {LayoutGroup | null} chosen */
  list(groups, chosen) {
    const optionId = (/** @type {LayoutGroup} */ { row }) => `${this.id || "layouts"}-${row.index}`;
    const options = groups.map((group, index) => {
      const { row, rows } = group;
      const elements = rows.map(({ element }) => (element.startsWith("!") ? "pointers" : element));
      const shape = row.shape.join(" × ");
      const isFirst = row.label !== groups[index - 1]?.row.label;
      return html`${
        isFirst
          ? html`<div class="layout-label" role="presentation"><code>${row.label}</code><small>${row.kind}</small></div>`
          : nothing
      }<div class="layout-row" role="option" id=${optionId(group)} aria-selected=${group === chosen}
        aria-label=${`${row.label} ${shape} ${elements.join(", ")}`} @click=${() => this.choose(row.index)}
      ><span>${shape}</span><small>${[...new Set(elements)].join(" ")}</small></div>`;
    });
    const key = (/** @type {KeyboardEvent} */ event) => {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (!step) return;
      event.preventDefault();
      const next = groups[Math.max(0, (chosen ? groups.indexOf(chosen) : -1) + step)];
      if (next) this.choose(next.row.index);
    };
    return html`<div class="layout-list" role="listbox" tabindex="0" aria-label="Layouts" @keydown=${key}
      aria-activedescendant=${chosen ? optionId(chosen) : nothing}>${options}</div>`;
  }

  /** @param {LayoutsDocument} document @param {keyof typeof LISTS} view */
  cards(document, view) {
    const links = {
      layout: (/** @type {number} */ index) => this.choose(index),
      line: (/** @type {number} */ line) => this.openLine(document, line),
      access: (/** @type {number} */ index) =>
        this.changeView({
          key: String(document.shared_accesses[index]?.shared ?? ""),
          view: "banks",
          access: index,
          at: null,
        }),
      why: (/** @type {number} */ line) => this.why(document, line),
    };
    return html`<header class="layout-head"><div class="layout-title">
        <h3>${LISTS[view]}</h3><span class="picture-tools">${this.saveButtons()}</span>
      </div>${view === "conversions" ? html`<lesson-link .topic=${"tritongpu-remove-layout-conversions"}></lesson-link>` : nothing}</header>
      <div class="layout-cards" tabindex="0" role="group" aria-label=${LISTS[view]}>${CARDS[view](document, links)}</div>`;
  }

  /**
   * Why an operation is there; until it is asked for, a button.
   * @param {LayoutsDocument} document @param {number} line
   */
  why(document, line, question = "Why is this here?") {
    const { stage, pass_index: pass } = document;
    const id = store.state.result?.id;
    const key = `${id} ${pass} ${line}`;
    if (isFile) return nothing;
    if (this.asked !== key)
      return html`<p><button type="button" class="button small" @click=${() => (this.asked = key)}>${question}</button></p>`;
    const go = (/** @type {number} */ index, /** @type {number} */ at) => {
      const found = store.state.result?.document.passes.find((each) => each.index === index);
      this.openLine({ ...document, stage: found?.stage ?? stage, pass_index: index }, at);
    };
    const showStage = (/** @type {string} */ other, /** @type {number} */ at) =>
      this.openLine({ ...document, stage: other, pass_index: null }, at);
    return html`<why-here .operation=${pass === null ? { id, stage, line } : { id, pass, line }} .go=${go}
      .showStage=${showStage}></why-here>`;
  }

  /** @param {LayoutsDocument} document @param {LayoutGroup} group */
  detail(document, group) {
    const layout = this.layoutOf(group);
    const [view = "", ...views] = viewsOf(group, this.view.view);
    const { reason, free } = group.row;
    return html`${this.head(document, group, views, view, layout)}
      ${
        !layout
          ? html`<p class="hint layout-nothing">${reason || "This layout cannot be drawn."}</p>`
          : view === "bases"
            ? html`<div class="layout-bases-box" tabindex="0" role="group" aria-label="Bases">${basesTable(layout, free)}</div>`
            : html`<div class="layout-picture">${this.grid.element}
                <div class="layout-details" tabindex="0" role="group" aria-label="What a cell holds">${this.toldWords(document, { group, layout, view })}</div>
              </div>`
      }`;
  }

  /**
   * Describe the cell under the pointer, or the kept cell.
   * @param {LayoutsDocument} document
   * @param {Drawing} drawing
   */
  toldWords(document, { group, layout, view }) {
    if (this.told) return describe(this.told);
    const { at } = this.view;
    if (view === "banks") return this.accessChoice(document, group);
    if (at !== null && at < layout.elementCount) return describe(ownersOf(layout, at));
    return html`<p class="hint">${HUES[/** @type {keyof typeof HUES} */ (view)]}</p>
      <p class="hint">
        Point at a cell, or use the arrow keys, to see what holds it. A click keeps it; the wheel with Ctrl, or +
        and −, zooms.
      </p>
      ${this.whyLayout(document, group)}`;
  }

  /**
   * Why a layout of registers was chosen: of an access or a matrix product, if one has it.
   * @param {LayoutsDocument} document @param {LayoutGroup} group
   */
  whyLayout(document, { row, rows }) {
    if (row.memory !== "registers") return nothing;
    const users = [
      ...document.accesses.map(({ line, layout }) => ({ line, layouts: [layout] })),
      ...document.matrix_products.map(({ line, operands }) => ({ line, layouts: operands })),
    ];
    const user = users.find(({ layouts }) => rows.some(({ index }) => layouts.includes(index)));
    const line = user?.line ?? row.values[0]?.[1];
    return line ? this.why(document, line, "Why this layout?") : nothing;
  }

  /** @param {LayoutsDocument} document @param {LayoutGroup} group */
  accessChoice(document, group) {
    const accesses = accessesOf(document, group);
    const { access } = this.view;
    if (!accesses.length)
      return html`<p class="hint">
        No operation moves values between registers and a buffer of this shape. Its parts may be used under another
        shape, or copy engines and matrix units use it.
      </p>`;
    const change = (/** @type {Event} */ event) => {
      const { value } = /** @type {HTMLSelectElement} */ (event.currentTarget);
      this.changeView({ access: value === "" ? null : Number(value) });
    };
    const chosen = accesses.find(({ index }) => index === access);
    return html`<div><p>The first instruction of a warp, of
        <select aria-label="Access" @change=${change}>
          <option value="" .selected=${!chosen}>no access</option>
          ${accesses.map(
            ({ each, index }) =>
              html`<option value=${index} .selected=${index === access}>TTGIR ${each.line}: ${each.operation}</option>`,
          )}
        </select></p>
      ${chosen ? html`<p>${sharedWords(chosen.each)}</p>` : nothing}</div>`;
  }

  /**
   * @param {LayoutsDocument} document @param {LayoutGroup} group @param {string[]} views
   * @param {string} view @param {LinearLayout | null} layout
   */
  head(document, { row, rows }, views, view, layout) {
    const values = rows.flatMap((each) => each.values);
    const facts = layout ? factsOf(row, layout) : [];
    const shape = rows.length > 1 ? row.shape.join(" × ") : shapeText(row);
    return html`<header class="layout-head">
      <div class="layout-title">
        <h3>${row.label}</h3><span class="chip">${row.kind}</span><span class="chip">${shape}</span>
        <div class="layout-views" role="group" aria-label="View">${views.map(
          (name) =>
            html`<button type="button" class="button small" aria-pressed=${name === view}
              @click=${() => this.changeView({ key: String(row.index), view: name })}>${
                PICTURES[/** @type {keyof typeof PICTURES} */ (name)]
              }</button>`,
        )}</div>
      </div>
      <p class="layout-sentence">${facts.join(" · ")}${
        facts.length ? html`<small> bases: compiler; counts: modelled from them</small>` : nothing
      } <lesson-link .topic=${row.kind}></lesson-link></p>
      <div class="layout-more">
        ${
          row.label === row.encoding
            ? nothing
            : html`<details><summary>Encoding</summary><code>${row.encoding}</code></details>`
        }
        <details>
          <summary>${plural(values.length, "value")}</summary>
          <div class="chips">
            ${values.slice(0, VALUES_SHOWN).map(
              ([name, line]) =>
                html`<button type="button" class="chip layout-value" title=${`Line ${line} of the module`}
                  @click=${() => this.openLine(document, line)}>${name}</button>`,
            )}
            ${
              values.length > VALUES_SHOWN
                ? html`<span class="hint">and ${values.length - VALUES_SHOWN} more</span>`
                : nothing
            }
          </div>
        </details>
        <span class="picture-tools">${this.saveButtons()}</span>
      </div>
    </header>`;
  }

  /** Draw the canvas when it shows something else, and highlight the element of the address. @override */
  updated() {
    const { drawing } = this;
    const { answer } = this.layouts;
    const { access, at } = this.view;
    const key = drawing ? `${drawing.group.row.index} ${drawing.view} ${access ?? ""}` : "";
    if (this.drawn.answer !== answer || this.drawn.key !== key) {
      this.drawn = { answer, key };
      this.told = null;
      if (answer && drawing) this.drawPicture(answer.document, drawing);
      this.querySelector(".layout-list [aria-selected=true]")?.scrollIntoView({ block: "nearest" });
    }
    if (drawing && drawing.view !== "banks" && !this.told && at !== null) this.hold(drawing, at);
  }

  /** @param {LayoutsDocument} document @param {Drawing} drawing */
  drawPicture(document, { group, layout, view }) {
    const { grid } = this;
    const tell = (/** @type {Told | null} */ told) => (this.told = told);
    const choose = (/** @type {number} */ at) => this.changeView({ at: this.view.at === at ? null : at });
    if (view === "banks") {
      const chosen = accessesOf(document, group).find(({ index }) => index === this.view.access);
      const { picture, warned } = banksPicture(
        layout,
        group.row.element_bits,
        document.banks,
        chosen?.each ?? null,
        grid,
        tell,
      );
      grid.show(picture);
      grid.warn(warned);
    } else {
      const pictureOf = view === "tensor" ? tensorPicture : hardwarePicture;
      grid.show(pictureOf(layout, grid, tell, choose));
    }
  }

  /** Highlight an element while no cell is pointed at. @param {Drawing} drawing @param {number} at */
  hold({ layout, view }, at) {
    const { grid } = this;
    if (at >= layout.elementCount) return;
    const told = ownersOf(layout, at);
    if (view === "tensor" && grid.row < 0) {
      const { columns } = sheetOf(layout.shape);
      grid.go(Math.floor(at / columns), at % columns);
    }
    const held = told.place < 0 ? [] : elementsOfThread(layout, told.place);
    grid.light(view === "tensor" ? held : layout.placesOf(at), `${told.title} ${told.lines.join(" ")}`);
  }

  /** @param {Pick<LayoutGroup, "row">} group */
  layoutOf({ row }) {
    if (!row.bases) return null;
    let layout = this.linear.get(row.bases);
    if (!layout) this.linear.set(row.bases, (layout = new LinearLayout(row.bases)));
    return layout;
  }

  /** @param {number} index */
  choose(index) {
    const { view } = this.view;
    this.changeView({
      key: String(index),
      view: Object.hasOwn(LISTS, view) ? "" : view,
      at: null,
      access: null,
    });
  }

  /** Show a line of the text that the layouts are from. @param {LayoutsDocument} document @param {number} line */
  openLine({ stage, pass_index: pass }, line) {
    const detail = pass === null ? `stage:${stage}` : `passes:${stage}.${pass}.t.l${line}`;
    this.dispatchEvent(new CustomEvent("pane-open", { bubbles: true, detail }));
    if (pass === null) putCursor(stage, line, this.id);
  }
}

/** The view to show, and behind it all views of a layout. @param {LayoutGroup} group @param {string} wanted */
function viewsOf({ row }, wanted) {
  const views = { registers: ["tensor", "hardware", "bases"], shared: ["banks", "bases"] }[row.memory] ?? [
    "bases",
  ];
  return [views.includes(wanted) ? wanted : (views[0] ?? ""), ...views];
}

/** The shared accesses to a buffer whose addresses are known. @param {LayoutsDocument} document @param {LayoutGroup} group */
function accessesOf({ shared_accesses: accesses }, { rows }) {
  const isOf = (/** @type {SharedAccess} */ each) =>
    each.offsets_bytes.length > 0 && rows.some(({ index }) => index === each.shared);
  return accesses.map((each, index) => ({ each, index })).filter(({ each }) => isOf(each));
}

/** @param {LayoutGroup["row"]} row @param {LinearLayout} layout */
function factsOf(row, layout) {
  if (row.memory !== "registers")
    return [
      elementsText(row.shape, layout.elementCount),
      ...layout.padding.map(({ interval, padding }) => `${padding} left out after every ${interval}`),
    ];
  return [
    `${plural(layout.size("register"), "register")} a thread`,
    `${layout.size("lane")} lanes × ${plural(layout.size("warp"), "warp")}`,
    row.replication > 1 ? `each element ${row.replication} times` : "no replication",
    `${Math.max(...row.contiguity)} in a row a thread`,
    `a thread's elements span ${row.thread_tile.join(" × ")}, a warp's ${row.warp_tile.join(" × ")}`,
  ];
}

/** @param {string} key */
function missing(key) {
  return html`<header class="layout-head"><h3>Layout not found</h3></header>
    <p class="hint layout-nothing">
      There is no layout or value called “${key}” in this text. Choose one from the list, or look after another
      pass.
    </p>`;
}

/** @param {Told} told */
function describe({ title, lines, list }) {
  return html`<div>
    <p><b>${title}</b></p>
    ${lines.map((line) => html`<p>${line}</p>`)}
    ${list.length ? html`<p class="layout-held">${list.map((each) => html`<span>${each}</span>`)}</p>` : nothing}
  </div>`;
}

customElements.define("pane-layouts", LayoutsPane);
