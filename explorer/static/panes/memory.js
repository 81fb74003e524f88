/**
 * `<pane-memory>`: the buffers and barriers of shared memory as a map, and the buffers of tensor memory.
 *
 * Its state is "FUNCTION.ITEM": the index of a function, and the selected item: "b3" (a buffer by its index)
 * or "x2" (a barrier by its place in the list).
 *
 * @import { PropertyDeclarations } from "lit"
 * @import { AllocationDocument, FunctionMap, TensorBuffer, TensorMemoryMap } from "../core/types.js"
 * @import { Item } from "./memory/items.js"
 */
import { api } from "../core/api.js";
import { ElementSize } from "../core/element_size.js";
import { finishedId, Loaded, whyEmpty } from "../core/pane.js";
import { hover, pin } from "../core/selection.js";
import { distinctLines } from "../core/source_lines.js";
import { store } from "../core/store.js";
import { html, nothing } from "../core/template.js";
import { PicturePane } from "../picture/picture_pane.js";
import { barrierDetails, bufferDetails, reason, tables, tensorTable } from "./memory/details.js";
import { memoryMap } from "./memory/drawing.js";
import {
  allLinesOf,
  isNeighbour,
  isSame,
  isTouched,
  itemOfKey,
  itemsOf,
  linesOf,
  nameOf,
} from "./memory/items.js";
import { tensorPlaces, tensorTimeline } from "./memory/tensor_drawing.js";
import { barrierLabel, bufferLabel, exact, itemWords, summary, tensorSummary } from "./memory/words.js";

const WAITING = "Shared memory is being computed.";
const KINDS = {
  explicit: "explicit",
  scratch: "scratch",
  virtual: "of a called function",
  mbarrier: "mbarriers",
};
const SIGNS = { wait: "wait", mbarrier: "signal", fence: "fence" };

class MemoryPane extends PicturePane {
  /** @type {PropertyDeclarations} @override */
  static properties = { pointed: { state: true }, fewerStagesOf: { state: true } };
  static slices = /** @type {(typeof PicturePane)["slices"]} */ (["result", "hovered", "pinned"]);

  size = new ElementSize(this);

  allocation = new Loaded(this, finishedId, (id) => api.analysis(id, "allocation"));

  /** The same kernel compiled with fewer stages. */
  fewerStages = new Loaded(
    this,
    () => (this.fewerStagesOf ? [this.fewerStagesOf] : null),
    (id) => api.fewerStages(id),
  );

  constructor() {
    super();
    /** The item under the mouse. @type {Item | null} */
    this.pointed = null;
    /** The compilation for which fewer stages were asked for. */
    this.fewerStagesOf = "";
  }

  /** @override */
  render() {
    return this.allocation.render({
      empty: whyEmpty("Compile a kernel to see where its buffers lie in shared memory.", WAITING),
      waiting: WAITING,
      ready: (memory) => this.memory(memory),
    });
  }

  /** @override */
  pictureParts() {
    return [...this.querySelectorAll(".memory > :not(section:has(> .hint))")];
  }

  /** @param {AllocationDocument} memory */
  memory(memory) {
    const { functions, tensor_memory: tensor, source } = memory;
    const [index = "", chosenName = ""] = this.paneState.split(".", 2);
    // The kernel is the last function; the functions that it calls stand before it.
    const at = /^\d+$/.test(index) && Number(index) < functions.length ? Number(index) : functions.length - 1;
    const map = functions[at];
    if (!map) return nothing;
    const choose = (/** @type {string} */ name) => this.keepState(name ? `${at}.${name}` : String(at));
    const pinLines = (/** @type {number[]} */ lines) => pin(distinctLines(lines), this.id);
    const items = itemsOf(map);
    const chosen = items.find((item) => nameOf(item, map) === chosenName) ?? null;
    return html`<div class="memory">
      <header class="memory-head">
        ${functions.length > 1 ? this.functionChoice(functions, at) : nothing}
        <p>${summary(memory, map)}</p>
        <span class="picture-tools">${this.saveButtons()}</span>
      </header>
      ${reason(memory, map, pinLines)} ${map.problem ? html`<p class="warning">${map.problem}</p>` : nothing}
      ${map.buffers.length ? this.picture(memory, map, items, chosen, choose) : nothing}
      <section aria-label="Selection" aria-live="polite">${this.details(map, chosen, pinLines)}</section>
      ${map.buffers.length ? tables(map, pinLines) : nothing}
      ${map.buffers.some(({ slots }) => slots > 1) ? this.stages() : nothing}
      ${tensor.filter((each) => each.function === map.name).map((each) => this.tensorMemory(each, pinLines))}
      <p class="hint">Source: ${source}.</p>
    </div>`;
  }

  /** @param {FunctionMap[]} functions @param {number} at */
  functionChoice(functions, at) {
    const change = (/** @type {Event} */ event) =>
      this.keepState(/** @type {HTMLSelectElement} */ (event.target).value);
    return html`<select aria-label="Function" @change=${change}>
      ${functions.map(({ name }, index) => html`<option value=${index} ?selected=${index === at}>${name}</option>`)}
    </select>`;
  }

  /**
   * The map, and for keys and screen readers the same items as a list.
   * @param {AllocationDocument} memory @param {FunctionMap} map @param {Item[]} items
   * @param {Item | null} chosen @param {(name: string) => void} choose
   */
  picture(memory, map, items, chosen, choose) {
    const height = Math.min(360, Math.max(200, Math.round(this.size.height * 0.5)));
    const { hovered, pinned, origin } = store.state;
    const lit = new Set(origin === this.id ? pinned : [...hovered, ...pinned]);
    const active = items.find((item) => isSame(item, this.pointed)) ?? chosen;
    const marks = (/** @type {Item} */ item) =>
      [
        item === chosen && "is-chosen",
        allLinesOf(item).some((line) => lit.has(line)) && "is-lit",
        active && item.buffer && isNeighbour(item.buffer, active) && "is-neighbour",
        active && item.buffer && isTouched(item.buffer, active) && "is-touched",
      ]
        .filter(Boolean)
        .join(" ");
    const optionId = (/** @type {Item} */ item) => `${this.id}-option-${nameOf(item, map)}`;
    return html`<div class="memory-picture" role="listbox" tabindex="0"
        aria-label="Buffers and barriers; arrow keys go from one to the next, Enter pins its lines"
        aria-activedescendant=${chosen ? optionId(chosen) : nothing}
        @keydown=${(/** @type {KeyboardEvent} */ event) => this.key(event, map, items, chosen, choose)}>
      ${memoryMap(
        memory,
        map,
        items,
        { width: this.drawnWidth, height },
        {
          marks,
          point: (item) => {
            this.pointed = item;
            hover(item ? linesOf(item) : [], this.id);
          },
          choose: (item) => choose(item === chosen ? "" : nameOf(item, map)),
        },
      )}
      <div class="visually-hidden">
        ${items.map(
          (item) =>
            html`<div role="option" id=${optionId(item)} aria-selected=${item === chosen}>${
              item.buffer ? bufferLabel(item.buffer) : barrierLabel(item.barrier)
            }</div>`,
        )}
      </div>
    </div>
    ${legend(map)}`;
  }

  get drawnWidth() {
    return Math.max(260, this.size.width - 24);
  }

  /**
   * @param {KeyboardEvent} event @param {FunctionMap} map @param {Item[]} items
   * @param {Item | null} chosen @param {(name: string) => void} choose
   */
  key(event, map, items, chosen, choose) {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const item = items[itemOfKey(event.key, chosen ? items.indexOf(chosen) : -1, items.length) ?? -1];
    if (item) {
      choose(nameOf(item, map));
      hover(linesOf(item), this.id);
    } else if (event.key === "Enter" && chosen) pin(linesOf(chosen), this.id);
    else if (event.key === "Escape" && chosen) choose("");
    else return;
    event.preventDefault();
    if (event.key === "Escape") event.stopPropagation();
  }

  /** @param {FunctionMap} map @param {Item | null} chosen @param {(lines: number[]) => void} pinLines */
  details(map, chosen, pinLines) {
    if (chosen?.buffer) return bufferDetails(chosen.buffer, map, pinLines);
    if (chosen?.barrier) return barrierDetails(chosen.barrier, map, pinLines);
    if (map.buffers.length === 0) return nothing;
    const words = this.pointed ? itemWords(this.pointed) : "Choose a buffer or a barrier to see its purpose.";
    return html`<p class="hint">${words}</p>`;
  }

  /** @param {TensorMemoryMap} memory @param {(lines: number[]) => void} pinLines */
  tensorMemory(memory, pinLines) {
    const lines = (/** @type {TensorBuffer} */ buffer) =>
      distinctLines([buffer.first_source_line, buffer.last_source_line]);
    const follow = {
      point: (/** @type {TensorBuffer | null} */ buffer) => hover(buffer ? lines(buffer) : [], this.id),
      choose: (/** @type {TensorBuffer} */ buffer) => pinLines(lines(buffer)),
    };
    return html`<p class="memory-tensor">${tensorSummary(memory)}</p>
      ${tensorTimeline(memory, this.drawnWidth, follow)}
      <p class="hint">The rows and columns of each buffer. Each warp of four accesses 32 rows.</p>
      ${tensorPlaces(memory, this.drawnWidth, follow)} ${tensorTable(memory, pinLines)}`;
  }

  /** A button that compiles with fewer stages, and the shared memory that each number of stages needs. */
  stages() {
    const id = store.state.result?.id ?? "";
    const isAsked = this.fewerStagesOf === id;
    const answer = () =>
      this.fewerStages.render({
        waiting: () => html`<p class="hint">Compiling with fewer stages…</p>`,
        ready: ({ rows }) =>
          html`<ul>${rows.map(
            ({ id, num_stages, shared_bytes: bytes, fits }) =>
              html`<li><a href=${`/k/${id}`} target="_blank">num_stages = ${num_stages}</a>${
                bytes === null ? ": does not compile" : `: ${exact(bytes)}${fits ? "" : ", too much"}`
              }</li>`,
          )}</ul>`,
      });
    return html`<div class="memory-stages">
      <button type="button" class="button" ?disabled=${isAsked}
        @click=${() => (this.fewerStagesOf = id)}>Compile with fewer stages</button>
      <div aria-live="polite">${isAsked ? answer() : nothing}</div>
    </div>`;
  }
}

/** @param {FunctionMap} map */
function legend({ buffers, barriers, marks }) {
  const kinds = new Set(buffers.map(({ use, holds_mbarriers: holds }) => (holds ? "mbarrier" : use)));
  const isModelled = barriers.some(({ source }) => source === "modelled");
  return html`<p class="memory-legend">
    ${[...kinds].map((kind) => html`<span class=${`key is-${kind}`}>${KINDS[kind]}</span>`)}
    ${
      barriers.length
        ? html`<span class="key is-barrier">${isModelled ? "barrier, modelled" : "barrier"}</span>`
        : nothing
    }
    ${[...new Set(marks.map(({ kind }) => kind))].map(
      (kind) => html`<span class=${`key is-mark is-${kind}`}>${SIGNS[kind]}</span>`,
    )}
  </p>`;
}

customElements.define("pane-memory", MemoryPane);
