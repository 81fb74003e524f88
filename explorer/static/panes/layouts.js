/**
 * `<pane-layouts>`: how tensors lie in registers and memory, and how data moves between.
 *
 * Its state is "KEY;view=VIEW;pass=12;at=130;access=2": which layout (an index, an alias, a value), which view of it,
 * after which pass, the element that is held, the shared access whose banks are shown.
 *
 * @import { LayoutGroup, LayoutsDocument } from "../layouts/document.js"
 * @import { Told } from "../layouts/pictures.js"
 */
import { ApiError, api } from "../api.js";
import { make } from "../dom.js";
import { plural } from "../format.js";
import { isFile } from "../host.js";
import { banksPicture } from "../layouts/banks.js";
import { findGroup, groupsOf, shapeText } from "../layouts/document.js";
import { Grid } from "../layouts/grid.js";
import { LinearLayout } from "../layouts/linear_layout.js";
import { accessCards, conversionCards, productCards, sharedCards, sharedWords } from "../layouts/movement.js";
import { basesTable, hardwarePicture, heldBy, ownersOf, sheetOf, tensorPicture } from "../layouts/pictures.js";
import { passesWithLayouts } from "../passes/snapshots.js";
import { putCursor } from "../selection.js";
import { store } from "../store.js";

const PICTURES = { tensor: "Tensor", hardware: "Hardware", banks: "Banks", bases: "Bases" };
const LISTS = { conversions: "Conversions", accesses: "Global memory", shared: "Shared memory", products: "Matrix products" };
/** What the colours of a picture stand for. */
const HUES = {
  tensor: "Each hue is a warp, from its first lane to its last. Large cells say lane:register.",
  hardware: "Each hue is a row of the tensor, from its first column to its last. Large cells say which element they hold.",
  banks: "Each hue is a row of the tensor.",
};
const VALUES_SHOWN = 24;

class LayoutsPane extends HTMLElement {
  state = "";
  /** @type {(() => void)[]} */
  watches = [];
  /** @type {LayoutsDocument | null} */
  document_ = null;
  /** @type {LayoutGroup[]} */
  groups = [];
  /** @type {Map<number, LinearLayout>} */
  linear = new Map();
  asked = "";
  drawn = "";
  shownView = "";

  get paneState() {
    return this.state;
  }

  /** @param {string} state */
  set paneState(state) {
    this.state = state;
    if (this.body) this.draw();
  }

  /** What the state says. */
  get view() {
    const [key = "", ...rest] = this.state.split(";");
    const given = Object.fromEntries(rest.map((part) => part.split("=", 2)));
    const number = (/** @type {string | undefined} */ text) => (text !== undefined && /^\d+$/.test(text) ? Number(text) : null);
    return { key, view: given.view ?? "", pass: number(given.pass), at: number(given.at), access: number(given.access) };
  }

  connectedCallback() {
    if (!this.body) this.build();
    this.watches = [store.watch(["result"], () => this.draw())];
  }

  disconnectedCallback() {
    for (const end of this.watches) end();
  }

  build() {
    this.grid = new Grid();
    this.message = make("div", { class: "empty" });
    this.source = make("select", { "aria-label": "Text whose layouts are shown", onchange: () => this.ask({ key: "", pass: this.source?.value ? Number(this.source.value) : null, at: null, access: null }) });
    this.lists = make("div", { class: "layout-lists", role: "group", "aria-label": "Where data moves" });
    this.list = make("div", { class: "layout-list", role: "listbox", tabindex: "0", "aria-label": "Layouts", onkeydown: (/** @type {KeyboardEvent} */ event) => this.key(event) });
    this.head = make("header", { class: "layout-head" });
    this.told = make("div", { class: "layout-told", tabindex: "0", role: "group", "aria-label": "What a cell holds" });
    this.cards = make("div", { class: "layout-cards", tabindex: "0" });
    this.bases = make("div", { class: "layout-bases-box", tabindex: "0", role: "group", "aria-label": "Bases" });
    this.body = make(
      "div",
      { class: "layout-body", hidden: true },
      make("div", { class: "layout-side" }, make("div", { class: "layout-source" }, this.source), this.lists, this.list),
      make("section", { class: "layout-detail", "aria-label": "The layout" }, this.head, make("div", { class: "layout-picture" }, this.grid.element, this.told), this.bases, this.cards),
    );
    this.append(this.body, this.message);
  }

  draw() {
    const { result } = store.state;
    if (!this.body || !this.message) return;
    const { pass } = this.view;
    const stage = result?.stage("ttgir");
    const wanted = result && (stage || result.finished) ? `${result.id} ${pass ?? ""} ${result.finished}` : "";
    if (!wanted || !result) {
      this.asked = "";
      this.say(result ? "Layouts come with TTGIR, which is on its way." : "Compile a kernel to see how its tensors lie in registers and memory.");
      return;
    }
    if (!result.finished) {
      this.asked = "";
      this.say("The layouts are read once the compilation is done.");
      return;
    }
    if (this.asked === wanted) {
      if (this.document_) this.drawDocument();
      return;
    }
    this.asked = wanted;
    this.document_ = null;
    this.say("The compiler is asked for the layouts.");
    void this.load(result.id, pass, wanted);
  }

  /** @param {string} id @param {number | null} pass @param {string} wanted */
  async load(id, pass, wanted) {
    try {
      const document = await api.layouts(id, pass);
      if (this.asked !== wanted) return;
      this.document_ = document;
      this.groups = groupsOf(document);
      this.linear.clear();
      this.drawn = "";
      this.drawDocument();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (this.asked !== wanted) return;
      this.asked = "";
      if (isFile) this.say("The compiler, which knows the layouts, is not here. Open the result on its server to see them.");
      else this.say(error.problem.detail || error.problem.title, pass !== null, true);
    }
  }

  /** @param {string} words @param {boolean} [canGoBack] from a pass to the stage @param {boolean} [canRetry] */
  say(words, canGoBack = false, canRetry = false) {
    if (!this.body || !this.message) return;
    this.body.hidden = true;
    this.message.hidden = false;
    this.message.replaceChildren(
      make("p", {}, words),
      canRetry ? make("button", { type: "button", class: "button", onclick: () => this.draw() }, "Try again") : "",
      canGoBack ? make("button", { type: "button", class: "button", onclick: () => this.ask({ key: "", pass: null }) }, "Layouts of TTGIR") : "",
    );
  }

  drawDocument() {
    const document = this.document_;
    if (!document || !this.body || !this.message) return;
    this.message.hidden = true;
    this.body.hidden = false;
    const { key, view } = this.view;
    const group = findGroup(this.groups, key || String(document.shared_accesses[this.view.access ?? -1]?.shared ?? ""));
    this.drawSources(document);
    this.drawLists(document, view);
    this.drawList(Object.hasOwn(LISTS, view) ? null : group);
    if (Object.hasOwn(LISTS, view)) this.drawCards(document, view);
    else if (group) this.drawGroup(document, group);
    else this.drawMissing(key);
  }

  /** @param {LayoutsDocument} document */
  drawSources(document) {
    const { result } = store.state;
    const shown = passesWithLayouts(result?.document.passes ?? []).filter(({ changed, index }) => changed || index === document.pass_index);
    this.source?.replaceChildren(
      make("option", { value: "" }, "TTGIR"),
      ...shown.map(({ index, name }) => make("option", { value: index }, `after ${name}`)),
    );
    if (this.source) this.source.value = document.pass_index === null ? "" : String(document.pass_index);
  }

  /** @param {LayoutsDocument} document @param {string} view */
  drawLists(document, view) {
    const counts = { conversions: document.conversions.length, accesses: document.accesses.length, shared: document.shared_accesses.length, products: document.matrix_products.length };
    this.lists?.replaceChildren(
      ...Object.entries(LISTS).map(([name, title]) =>
        make("button", { type: "button", class: "layout-row", "aria-pressed": String(view === name), onclick: () => this.ask({ view: name, at: null, access: null }) }, title, make("small", {}, counts[/** @type {keyof typeof counts} */ (name)])),
      ),
    );
  }

  /** @param {LayoutGroup | null} chosen */
  drawList(chosen) {
    const { list } = this;
    if (!list) return;
    let label = "";
    list.replaceChildren(...this.groups.flatMap((group) => {
      const { row, rows } = group;
      const head = row.label === label ? [] : [make("div", { class: "layout-label", role: "presentation" }, make("code", {}, row.label), make("small", {}, row.kind))];
      label = row.label;
      const elements = rows.map(({ element }) => (element.startsWith("!") ? "pointers" : element));
      return [...head, make(
        "div",
        { class: "layout-row", role: "option", id: `${this.id || "layouts"}-${row.index}`, "aria-selected": String(group === chosen), "aria-label": `${row.label} ${row.shape.join(" × ")} ${elements.join(", ")}`, onclick: () => this.choose(row.index) },
        make("span", {}, row.shape.join(" × ")), make("small", {}, [...new Set(elements)].join(" ")),
      )];
    }));
    list.setAttribute("aria-activedescendant", chosen ? `${this.id || "layouts"}-${chosen.row.index}` : "");
    list.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }

  /** @param {LayoutsDocument} document @param {string} view */
  drawCards(document, view) {
    const cardsOf = { conversions: conversionCards, accesses: accessCards, shared: sharedCards, products: productCards }[view];
    this.showOnly(this.cards);
    this.drawn = "";
    this.head?.replaceChildren(make("h3", {}, LISTS[/** @type {keyof typeof LISTS} */ (view)]));
    const links = {
      layout: (/** @type {number} */ index) => this.choose(index),
      line: (/** @type {number} */ line) => this.openLine(line),
      access: (/** @type {number} */ index) => this.ask({ key: String(document.shared_accesses[index]?.shared ?? ""), view: "banks", access: index, at: null }),
    };
    this.cards?.setAttribute("aria-label", LISTS[/** @type {keyof typeof LISTS} */ (view)]);
    this.cards?.setAttribute("role", "group");
    this.cards?.replaceChildren(...(cardsOf?.(document, links) ?? []));
  }

  /** @param {string} key */
  drawMissing(key) {
    this.showOnly(this.cards);
    this.drawn = "";
    this.head?.replaceChildren(make("h3", {}, "Not here"));
    this.cards?.replaceChildren(make("p", { class: "hint layout-nothing" }, `There is no layout or value called “${key}” in this text. Choose one from the list, or look after another pass.`));
  }

  /** @param {LayoutsDocument} document @param {LayoutGroup} group */
  drawGroup(document, group) {
    const { row } = group;
    const layout = this.layoutOf(group);
    const names = row.memory === "registers" ? ["tensor", "hardware", "bases"] : row.memory === "shared" ? ["banks", "bases"] : ["bases"];
    const { view: wanted, at, access } = this.view;
    const view = names.includes(wanted) ? wanted : (names[0] ?? "bases");
    this.drawHead(group, names, view, layout);
    if (!layout) {
      this.showOnly(this.cards);
      this.cards?.replaceChildren(make("p", { class: "hint layout-nothing" }, row.reason || "This layout cannot be drawn."));
      this.drawn = "";
      return;
    }
    const { grid } = this;
    if (view === "bases") {
      this.showOnly(this.bases);
      this.drawn = "";
      this.bases?.replaceChildren(basesTable(layout, [], row.free));
    } else if (grid) {
      this.showOnly(grid.element.parentElement);
      const drawing = [row.index, view, access, document.pass_index, document.stage].join(" ");
      if (this.drawn !== drawing) {
        this.drawn = drawing;
        this.rest = null;
        this.drawPicture(document, group, layout, view, access);
      }
      if (view !== "banks") this.hold(layout, view, at);
    }
  }

  /** @param {LayoutsDocument} document @param {LayoutGroup} group @param {LinearLayout} layout @param {string} view @param {number | null} access */
  drawPicture(document, group, layout, view, access) {
    const { grid } = this;
    if (!grid) return;
    this.shownView = view;
    const tell = (/** @type {Told | null} */ told) => this.tell(told);
    const choose = (/** @type {number} */ at) => this.ask({ at: this.view.at === at ? null : at });
    if (view === "banks") {
      const accesses = document.shared_accesses.map((each, index) => ({ each, index })).filter(({ each }) => group.rows.some(({ index }) => index === each.shared) && each.offsets_bytes.length);
      const chosen = accesses.find(({ index }) => index === access) ?? null;
      const { picture, warned } = banksPicture(layout, group.row.element_bits, document.banks, chosen?.each ?? null, grid, tell);
      this.rest = this.accessChoice(accesses, chosen);
      grid.show(picture);
      grid.warn(warned);
    } else {
      grid.show(view === "tensor" ? tensorPicture(layout, grid, tell, choose) : hardwarePicture(layout, grid, tell, choose));
    }
    this.tell(null);
  }

  /** @param {{each: import("../layouts/banks.js").SharedAccess, index: number}[]} accesses @param {{each: import("../layouts/banks.js").SharedAccess, index: number} | null} chosen */
  accessChoice(accesses, chosen) {
    if (!accesses.length) return make("p", { class: "hint" }, "No local_load, local_store or local_alloc uses a buffer of this shape. Its parts may be used under another shape, or copy engines and matrix units use it.");
    const select = make("select", { "aria-label": "Access", onchange: () => this.ask({ access: select.value === "" ? null : Number(select.value) }) },
      make("option", { value: "" }, "no access"),
      ...accesses.map(({ each, index }) => make("option", { value: index }, `line ${each.line}: ${each.operation}`)));
    select.value = chosen ? String(chosen.index) : "";
    return make("div", {}, make("p", {}, "The first instruction of a warp, of ", select), chosen && make("p", {}, sharedWords(chosen.each)));
  }

  /** Keep the element of the address lit. @param {LinearLayout} layout @param {string} view @param {number | null} at */
  hold(layout, view, at) {
    const { grid } = this;
    if (!grid) return;
    if (at === null || at >= layout.elementCount) {
      if (this.rest) {
        this.rest = null;
        this.tell(null);
      }
      return;
    }
    const told = ownersOf(layout, at);
    this.rest = describe(told);
    const lit = view === "tensor" ? (told.place < 0 ? [] : heldBy(layout, told.place)) : layout.placesOf(at);
    grid.light(lit, `${told.title} ${told.lines.join(" ")}`);
    const { columns } = view === "tensor" ? sheetOf(layout.shape) : { columns: layout.size("register") };
    this.restLit = { lit, words: told.title };
    if (view === "tensor" && grid.row < 0) grid.go(Math.floor(at / columns), at % columns);
    this.tell(told);
  }

  /** @param {Told | null} told */
  tell(told) {
    const element = this.told;
    if (!element) return;
    if (told) element.replaceChildren(describe(told));
    else if (this.rest) {
      element.replaceChildren(this.rest);
      if (this.restLit && this.view.at !== null) this.grid?.light(this.restLit.lit, this.restLit.words);
    } else element.replaceChildren(make("p", { class: "hint" }, this.drawn ? HUES[/** @type {keyof typeof HUES} */ (this.shownView)] : ""), make("p", { class: "hint" }, "Point at a cell, or use the arrow keys, to see what holds it. A click keeps it; the wheel with Ctrl, or + and −, zooms."));
  }

  /** @param {LayoutGroup} group @param {string[]} names @param {string} view @param {LinearLayout | null} layout */
  drawHead({ row, rows }, names, view, layout) {
    const values = rows.flatMap((each) => each.values);
    const facts = !layout ? [] : row.memory === "registers" ? [
      plural(layout.size("register"), "register") + " a thread",
      `${layout.size("lane")} lanes × ${plural(layout.size("warp"), "warp")}`,
      row.replication > 1 ? `each element ${row.replication} times` : "no replication",
      `${Math.max(...row.contiguity)} in a row a thread`,
      `a thread's elements span ${row.thread_tile.join(" × ")}, a warp's ${row.warp_tile.join(" × ")}`,
    ] : [plural(layout.elementCount, "element"), ...layout.padding.map(({ interval, padding }) => `${padding} left out after every ${interval}`)];
    this.head?.replaceChildren(
      make("div", { class: "layout-title" }, make("h3", {}, row.label), make("span", { class: "chip" }, row.kind), make("span", { class: "chip" }, rows.length > 1 ? row.shape.join(" × ") : shapeText(row)),
        make("div", { class: "layout-views", role: "group", "aria-label": "View" }, ...names.map((name) => make("button", { type: "button", class: "button small", "aria-pressed": String(name === view), onclick: () => this.ask({ key: String(row.index), view: name }) }, PICTURES[/** @type {keyof typeof PICTURES} */ (name)])))),
      make("p", { class: "layout-sentence" }, facts.join(" · "), facts.length ? make("small", {}, " bases: compiler; counts: modelled from them") : ""),
      make("div", { class: "layout-more" }, row.label === row.encoding ? null : make("details", {}, make("summary", {}, "Encoding"), make("code", {}, row.encoding)),
      make("details", {}, make("summary", {}, plural(values.length, "value")), make("div", { class: "chips" }, ...values.slice(0, VALUES_SHOWN).map(([name, line]) => make("button", { type: "button", class: "chip layout-value", title: `Line ${line}`, onclick: () => this.openLine(line) }, name)), values.length > VALUES_SHOWN && make("span", { class: "hint" }, `and ${values.length - VALUES_SHOWN} more`)))),
    );
  }

  /** @param {Element | null | undefined} wanted */
  showOnly(wanted) {
    for (const element of [this.grid?.element.parentElement, this.bases, this.cards]) if (element) element.hidden = element !== wanted;
  }

  /** @param {LayoutGroup} group */
  layoutOf({ row }) {
    if (!row.bases) return null;
    let layout = this.linear.get(row.index);
    if (!layout) this.linear.set(row.index, (layout = new LinearLayout(row.bases)));
    return layout;
  }

  /** @param {number} index */
  choose(index) {
    const { view } = this.view;
    this.ask({ key: String(index), view: Object.hasOwn(LISTS, view) ? "" : view, at: null, access: null });
  }

  /** Show a line of the text that the layouts are from. @param {number} line */
  openLine(line) {
    const document = this.document_;
    if (!document) return;
    if (document.pass_index === null) {
      this.dispatchEvent(new CustomEvent("pane-open", { bubbles: true, detail: `stage:${document.stage}` }));
      putCursor(document.stage, line, this.id);
    } else this.dispatchEvent(new CustomEvent("pane-open", { bubbles: true, detail: `passes:${document.stage}.${document.pass_index}.t.l${line}` }));
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step || !this.list) return;
    event.preventDefault();
    const rows = [...this.list.querySelectorAll("[role=option]")];
    const at = rows.findIndex((row) => row.getAttribute("aria-selected") === "true");
    const next = rows[Math.max(0, at + step)];
    if (next instanceof HTMLElement) next.click();
  }

  /** Change parts of the state. @param {Partial<{key: string, view: string, pass: number | null, at: number | null, access: number | null}>} changes */
  ask(changes) {
    const { key, ...rest } = { ...this.view, ...changes };
    const parts = Object.entries(rest).filter(([, value]) => value !== null && value !== "");
    this.state = [key, ...parts.map(([name, value]) => `${name}=${value}`)].join(";");
    this.draw();
    this.dispatchEvent(new CustomEvent("pane-state", { bubbles: true, detail: this.state }));
  }
}

/** @param {Told} told */
function describe({ title, lines, list }) {
  return make("div", {}, make("p", {}, make("b", {}, title)), ...lines.map((line) => make("p", {}, line)), list.length ? make("p", { class: "layout-held" }, ...list.map((each) => make("span", {}, each))) : null);
}

customElements.define("pane-layouts", LayoutsPane);
