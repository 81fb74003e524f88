/**
 * `<pane-memory>`: shared memory as a map, with its barriers; tensor memory likewise.
 *
 * Its state is "FUNCTION.ITEM": which function, and what is chosen in it, "b3" (a buffer by its index) or "x2"
 * (a barrier by its place in the list).
 *
 * @import { AllocationDocument, FewerStagesDocument, FunctionMap } from "../memory/documents.js"
 * @import { Drawn, Item } from "../memory/drawing.js"
 */
import { api, ApiError } from "../api.js";
import { make, setText } from "../dom.js";
import { barrierDetails, bufferDetails, refusal, tables, tensorSummary, tensorTable } from "../memory/details.js";
import { drawMap, itemsOf } from "../memory/drawing.js";
import { drawTensorMemory } from "../memory/tensor_drawing.js";
import { barrierLabel, bufferLabel, exact, itemWords, summary } from "../memory/words.js";
import { AnswerPane } from "../pane.js";
import { hover, pin } from "../selection.js";
import { store } from "../store.js";

const CHOOSE = "Choose a buffer or a barrier to see what it is for.";

/** @extends {AnswerPane<AllocationDocument>} */
class MemoryPane extends AnswerPane {
  /** @type {Drawn[]} */
  drawn = [];
  /** @type {Item | null} */
  chosen = null;

  constructor() {
    super({ empty: "Compile a kernel to see where its buffers lie in shared memory.", waiting: "Shared memory is on its way." });
  }

  /** @param {string} id @returns {Promise<AllocationDocument>} */
  async load(id) {
    return /** @type {AllocationDocument} */ (await api.analysis(id, "allocation"));
  }

  /** @returns {{index: number, chosen: string}} */
  get selection() {
    const [index = "", chosen = ""] = this.state.split(".", 2);
    const last = (this.answer?.functions.length ?? 1) - 1;
    // The kernel itself comes last: behind the functions that it calls.
    return { index: /^\d+$/.test(index) && Number(index) <= last ? Number(index) : last, chosen };
  }

  /** @param {string} chosen @param {number} [index] */
  ask(chosen, index = this.selection.index) {
    this.keep(chosen ? `${index}.${chosen}` : String(index));
  }

  /** @param {AllocationDocument} memory */
  draw(memory) {
    const map = memory.functions[this.selection.index];
    if (!map) return;
    const hadFocus = document.activeElement?.classList.contains("memory-picture") && this.contains(document.activeElement);
    const wide = Math.max(260, this.width - 24);
    const pinLines = (/** @type {number[]} */ lines) => pin([...new Set(lines)].sort((one, other) => one - other), this.id);
    const picture = map.buffers.length ? this.picture(memory, map, wide) : null;
    this.details = make("section", { "aria-label": "What is chosen", "aria-live": "polite" });
    const tensor = memory.tensor_memory.filter((each) => each.function === map.name);
    this.replaceChildren(make("div", { class: "memory" },
      make("header", { class: "memory-head" }, this.functions(memory), make("p", {}, summary(memory, map))),
      refusal(memory, map, pinLines),
      map.problem ? make("p", { class: "warning" }, map.problem) : null,
      picture,
      picture ? this.legend(map) : null,
      this.details,
      ...(map.buffers.length ? tables(map, pinLines) : []),
      map.buffers.some(({ slots }) => slots > 1) ? this.fewerStages() : null,
      ...tensor.flatMap((each) => [
        make("p", { class: "memory-tensor" }, tensorSummary(each)),
        drawTensorMemory(each, wide, 170,
          (buffer) => hover(buffer ? [buffer.first_source_line, buffer.last_source_line].filter(Boolean) : [], this.id),
          (buffer) => pinLines([buffer.first_source_line, buffer.last_source_line].filter(Boolean))),
        tensorTable(each, pinLines),
      ]),
      make("p", { class: "hint" }, `Source: ${memory.source}.`),
    ));
    this.showChosen();
    if (hadFocus) /** @type {HTMLElement | null} */ (this.querySelector(".memory-picture"))?.focus();
  }

  /** A choice of function, where there are several. @param {AllocationDocument} memory */
  functions(memory) {
    if (memory.functions.length < 2) return null;
    const select = make("select", { "aria-label": "Function", onchange: () => this.ask("", Number(select.value)) },
      ...memory.functions.map(({ name }, index) => make("option", { value: index, selected: index === this.selection.index }, name)));
    return select;
  }

  /** @param {AllocationDocument} memory @param {FunctionMap} map @param {number} width */
  picture(memory, map, width) {
    const height = Math.min(360, Math.max(200, Math.round(this.clientHeight * 0.5)));
    const { element, drawn } = drawMap(memory, map, width, height);
    this.drawn = drawn;
    for (const { item, element: group } of drawn) {
      group.addEventListener("pointerenter", () => this.point(item));
      group.addEventListener("pointerleave", () => this.point(null));
      group.addEventListener("click", () => this.ask(this.selection.chosen === nameOf(item, map) ? "" : nameOf(item, map)));
    }
    // The picture is for the eye; this is what is read out, and moved through by keys.
    const options = drawn.map(({ item }, index) => make("div", { role: "option", id: `${this.id}-option-${index}`, "aria-selected": "false" }, item.buffer ? bufferLabel(item.buffer) : barrierLabel(item.barrier)));
    this.options = options;
    this.listbox = make("div", {
      class: "memory-picture", role: "listbox", tabindex: "0", "aria-label": "Buffers and barriers; arrow keys go from one to the next, Enter pins its lines",
      onkeydown: (/** @type {KeyboardEvent} */ event) => this.key(event, map),
    }, element, make("div", { class: "visually-hidden" }, ...options));
    return this.listbox;
  }

  /** @param {FunctionMap} map */
  legend(map) {
    const kinds = new Set(map.buffers.map(({ use, holds_mbarriers: holds }) => (holds ? "mbarrier" : use)));
    const marks = new Set(map.marks.map(({ kind }) => kind));
    const words = { explicit: "explicit", scratch: "scratch", virtual: "of a called function", mbarrier: "mbarriers" };
    const signs = { wait: "wait", mbarrier: "signal", fence: "fence" };
    return make("p", { class: "memory-legend" },
      ...[...kinds].map((kind) => make("span", { class: `key is-${kind}` }, words[kind])),
      map.barriers.length ? make("span", { class: "key is-barrier" }, map.barriers.some(({ source }) => source === "modelled") ? "barrier, modelled" : "barrier") : null,
      ...[...marks].map((kind) => make("span", { class: `key is-mark is-${kind}` }, signs[kind])));
  }

  /** @param {KeyboardEvent} event @param {FunctionMap} map */
  key(event, map) {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const items = itemsOf(map);
    const at = items.findIndex((item) => nameOf(item, map) === this.selection.chosen);
    const next = { ArrowRight: at + 1, ArrowDown: at + 1, ArrowLeft: at < 0 ? items.length - 1 : at - 1, ArrowUp: at < 0 ? items.length - 1 : at - 1, Home: 0, End: items.length - 1 }[event.key];
    if (next !== undefined) {
      const item = items[(next + items.length) % items.length];
      if (item) {
        this.ask(nameOf(item, map));
        hover(linesOf(item), this.id);
      }
    } else if (event.key === "Enter" && items[at]) pin(linesOf(/** @type {Item} */ (items[at])), this.id);
    else if (event.key === "Escape" && this.selection.chosen) this.ask("");
    else return;
    event.preventDefault();
    if (event.key === "Escape") event.stopPropagation();
  }

  /** Mark what is chosen, and say everything about it. */
  showChosen() {
    const map = this.answer?.functions[this.selection.index];
    if (!map || !this.details) return;
    const { chosen } = this.selection;
    const pinLines = (/** @type {number[]} */ lines) => pin(lines, this.id);
    /** @type {Item | null} */
    let found = null;
    this.drawn.forEach(({ item, element }, index) => {
      const isChosen = nameOf(item, map) === chosen;
      if (isChosen) found = item;
      element.classList.toggle("is-chosen", isChosen);
      this.options?.[index]?.setAttribute("aria-selected", String(isChosen));
      if (isChosen) this.listbox?.setAttribute("aria-activedescendant", `${this.id}-option-${index}`);
    });
    const item = (this.chosen = /** @type {Item | null} */ (found));
    this.markPartners(item);
    this.details.replaceChildren(
      item?.buffer ? bufferDetails(item.buffer, map, pinLines)
      : item?.barrier ? barrierDetails(item.barrier, map, pinLines)
      : map.buffers.length ? make("p", { class: "hint" }, CHOOSE) : "",
    );
  }

  /** Light the two operations of what is under the mouse, and say which they are. @param {Item | null} item */
  point(item) {
    hover(item ? linesOf(item) : [], this.id);
    this.markPartners(item ?? this.chosen);
    const hint = this.details?.querySelector(".hint");
    if (hint) setText(hint, item ? itemWords(item) : CHOOSE);
  }

  /** Mark what is alive at the same time as a buffer, or what a barrier keeps apart. @param {Item | null} item */
  markPartners(item) {
    for (const { item: other, element } of this.drawn) {
      element.classList.toggle("is-neighbour", Boolean(item?.buffer && other.buffer && item.buffer.alive_with.includes(other.buffer.index)));
      element.classList.toggle("is-touched", Boolean(item?.barrier && other.buffer && item.barrier.hazards.some(({ before_buffer: one, after_buffer: two }) => one === other.buffer?.index || two === other.buffer?.index)));
    }
  }

  /** Mark what comes from the lit source lines, when somebody else lights them. */
  light() {
    const { hovered, pinned, origin } = store.state;
    const lines = new Set(origin === this.id ? pinned : [...hovered, ...pinned]);
    for (const { item, element } of this.drawn) {
      const own = item.buffer ? [item.buffer.first, ...item.buffer.uses].map(({ source_line: line }) => line) : linesOf(item);
      element.classList.toggle("is-lit", own.some((line) => lines.has(line)));
    }
  }

  /** A button that compiles with fewer stages, and what that brings. */
  fewerStages() {
    const { asked } = this;
    const answer = make("div", { "aria-live": "polite" });
    const button = make("button", { type: "button", class: "button", onclick: async () => {
      button.disabled = true;
      answer.replaceChildren(make("p", { class: "hint" }, "Compiling with fewer stages…"));
      try {
        const document = /** @type {FewerStagesDocument} */ (await api.analysis(asked, "fewer_stages"));
        answer.replaceChildren(make("ul", {}, ...document.rows.map((row) => make("li", {},
          make("a", { href: `/k/${row.id}`, target: "_blank" }, `num_stages = ${row.num_stages}`),
          row.shared_bytes === null ? ": does not compile" : `: ${exact(row.shared_bytes)}${row.fits ? "" : ", too much"}`))));
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        answer.replaceChildren(make("p", {}, `${error.problem.title}. ${error.problem.detail}`));
        button.disabled = false;
      }
    } }, "Compile with fewer stages");
    return make("div", { class: "memory-stages" }, button, answer);
  }
}

/** The source lines of an item: those of its first and its last operation. @param {Item} item */
function linesOf(item) {
  const lines = item.buffer
    ? [item.buffer.first.source_line, item.buffer.last.source_line]
    : item.barrier.hazards.length
      ? item.barrier.hazards.flatMap(({ before, after }) => [before.source_line, after.source_line])
      : [item.barrier.following.source_line];
  return [...new Set(lines.filter(Boolean))].sort((one, other) => one - other);
}

/** @param {Item} item @param {FunctionMap} map */
function nameOf(item, map) {
  return item.buffer ? `b${item.buffer.index}` : `x${map.barriers.indexOf(item.barrier)}`;
}

customElements.define("pane-memory", MemoryPane);
