/**
 * The pictures of one layout: who owns each element of the tensor, and what each thread's registers hold.
 *
 * @import { Grid, Picture } from "./grid.js"
 * @import { LinearLayout } from "./linear_layout.js"
 */
import { plural } from "../../core/format.js";
import { html, nothing } from "../../core/template.js";
import { cellColor } from "./colors.js";
import { inBrackets } from "./linear_layout.js";

const WIDEST = 64;
const LISTED = 64;

/**
 * @typedef {object} Told the description of the cell under the pointer
 * @property {string} title
 * @property {string[]} lines
 * @property {string[]} list what the thread holds
 */

/**
 * Return the rows and columns of a tensor: the last dimension across. A tensor of one dimension is wrapped.
 * @param {number[]} shape
 */
export function sheetOf(shape) {
  const count = shape.reduce((product, size) => product * size, 1);
  const last = shape.at(-1) ?? 1;
  const columns = shape.length === 1 ? Math.min(last, WIDEST) : last;
  const isWrapped = shape.length === 1 && last > WIDEST;
  return {
    rows: Math.max(1, count / columns),
    columns,
    rowTitle: isWrapped
      ? `${columns} elements a row`
      : shape.length === 1
        ? ""
        : shape.length === 2
          ? "dimension 0"
          : "outer dimensions",
    columnTitle: `dimension ${shape.length - 1}`,
  };
}

/**
 * The tensor: cells are elements, colored by warp.
 * @param {LinearLayout} layout
 * @param {Grid} grid
 * @param {(told: Told | null) => void} tell
 * @param {(at: number) => void} choose
 * @returns {Picture}
 */
export function tensorPicture(layout, grid, tell, choose) {
  const sheet = sheetOf(layout.shape);
  const { owners } = layout;
  const warps = layout.size("warp") * layout.size("block");
  const lanes = layout.size("lane");
  const warpOf = (/** @type {number} */ place) =>
    layout.part(place, "warp") + layout.part(place, "block") * layout.size("warp");
  /** @type {number[]} */
  let colors = [];
  return {
    ...sheet,
    begin: () => {
      colors = Array.from({ length: warps * lanes }, (_, index) =>
        cellColor(Math.floor(index / lanes), warps, (index % lanes) / Math.max(1, lanes - 1)),
      );
    },
    label: `Tensor of ${layout.shape.join(" by ")}, colored by warp`,
    color: (row, column) => {
      const place = owners[row * sheet.columns + column] ?? -1;
      return place < 0
        ? 0
        : /** @type {number} */ (colors[warpOf(place) * lanes + layout.part(place, "lane")]);
    },
    text: (row, column) => {
      const place = owners[row * sheet.columns + column] ?? -1;
      return place < 0 ? "–" : `${layout.part(place, "lane")}:${layout.part(place, "register")}`;
    },
    point: (row, column) => {
      if (row < 0) {
        grid.light([], "");
        tell(null);
        return;
      }
      const element = row * sheet.columns + column;
      const told = ownersOf(layout, element);
      const held = told.place < 0 ? [] : elementsOfThread(layout, told.place);
      grid.light(held, `${told.title} ${told.lines.join(" ")}`);
      tell(told);
    },
    choose: (row, column) => choose(row * sheet.columns + column),
  };
}

/**
 * The hardware: a row for each thread, a column for each of its registers; cells are colored by the
 * element's row.
 * @param {LinearLayout} layout
 * @param {Grid} grid
 * @param {(told: Told | null) => void} tell
 * @param {(at: number) => void} choose
 * @returns {Picture}
 */
export function hardwarePicture(layout, grid, tell, choose) {
  const registers = layout.size("register");
  const threads = layout.placeCount / registers;
  const { elements } = layout;
  const columns = layout.shape.at(-1) ?? 1;
  const rows = Math.max(1, layout.elementCount / columns);
  return {
    rows: threads,
    columns: registers,
    rowTitle: "thread",
    columnTitle: "register",
    label: `Threads and their registers, colored by the row of the element`,
    color: (row, column) => {
      const element = elements[row * registers + column] ?? 0;
      return rows > 1
        ? cellColor(Math.floor(element / columns) % 16, 16, (element % columns) / Math.max(1, columns - 1))
        : cellColor(Math.floor((16 * element) / columns), 16, 0.5);
    },
    text: (row, column) => layout.coordinates(elements[row * registers + column] ?? 0).join(","),
    point: (row, column) => {
      if (row < 0) {
        grid.light([], "");
        tell(null);
        return;
      }
      const place = row * registers + column;
      const element = elements[place] ?? 0;
      const told = ownersOf(layout, element);
      const title = `${placeWords(layout, place)} holds ${inBrackets(layout.coordinates(element))}.`;
      grid.light(layout.placesOf(element), title);
      tell({ ...told, title });
    },
    choose: (row, column) => choose(elements[row * registers + column] ?? 0),
  };
}

/** Describe where an element is stored. @param {LinearLayout} layout @param {number} element */
export function ownersOf(layout, element) {
  const place = layout.owners[element] ?? -1;
  const at = inBrackets(layout.coordinates(element));
  if (place < 0) return { title: `${at} is held by no thread.`, lines: [], list: [], place };
  const copies = layout.placesOf(element).length;
  const held = elementsOfThread(layout, place);
  const list = held
    .slice(0, LISTED)
    .map((each, register) => `r${register} ${inBrackets(layout.coordinates(each))}`);
  return {
    place,
    title: `${at}: ${placeWords(layout, place)}.`,
    lines: [
      copies > 1 ? `${plural(copies, "place")} hold the same.` : "No other register holds it.",
      `This thread holds ${plural(held.length, "value")}:`,
    ],
    list: held.length > LISTED ? [...list, "…"] : list,
  };
}

/** @param {LinearLayout} layout @param {number} place */
function placeWords(layout, place) {
  const block = layout.size("block") > 1 ? `block ${layout.part(place, "block")}, ` : "";
  return `${block}warp ${layout.part(place, "warp")}, lane ${layout.part(place, "lane")}, register ${layout.part(place, "register")}`;
}

/**
 * The elements of a thread, by register.
 * @param {LinearLayout} layout
 * @param {number} place
 * @returns {number[]}
 */
export function elementsOfThread(layout, place) {
  const registers = layout.size("register");
  const first = place - (place % registers);
  return [...layout.elements.slice(first, first + registers)];
}

/**
 * The bases as a matrix over GF(2): a column for each bit of a place, a row for each bit of an element.
 * @param {LinearLayout} layout
 * @param {Record<string, number>} free
 */
export function basesTable(layout, free) {
  const bits = layout.shape.map((size) => Math.log2(size));
  const inputs = layout.inputs.filter((input) => input.bits > 0);
  const total = bits.reduce((sum, count) => sum + count, 0);
  let above = 0;
  const shifts = bits.map((count) => total - (above += count));
  const first = (/** @type {number} */ index) => (index === 0 ? "is-first" : nothing);
  const powers = (/** @type {number} */ count) => Array.from({ length: count }, (_, bit) => 2 ** bit);
  const columns = inputs.map(({ name, bits: count }) =>
    powers(count).map(
      (power, index) => html`<th scope="col" class=${first(index)} title=${`${name} ${power}`}>${power}</th>`,
    ),
  );
  const cells = (/** @type {number} */ shift) =>
    inputs.map(({ name, vectors }) =>
      vectors.map((vector, column) => {
        const isSet = Math.floor(vector / 2 ** shift) % 2 === 1;
        const isFree = Boolean((free[name] ?? 0) & (1 << column));
        const type = [isSet && "is-set", column === 0 && "is-first", isFree && "is-free"];
        return html`<td class=${type.filter(Boolean).join(" ")}>${isSet ? "1" : "·"}</td>`;
      }),
    );
  const rows = layout.shape.map((_, dimension) =>
    powers(bits[dimension] ?? 0).map(
      (power, bit) =>
        html`<tr class=${first(bit)}><th scope="row">dimension ${dimension}, ${power}</th>${cells((shifts[dimension] ?? 0) + bit)}</tr>`,
    ),
  );
  return html`<div class="layout-bases">
    <table aria-label="Bases of the layout">
      <thead>
        <tr><td></td>${inputs.map(
          ({ name, bits: count }) => html`<th colspan=${count} scope="colgroup">${name}</th>`,
        )}</tr>
        <tr><td></td>${columns}</tr>
      </thead>
      <tbody>${rows}</tbody>
    </table>
    <dl class="layout-basis-list">${layout.inputs.map(
      ({ name, vectors }) =>
        html`<dt>${name}</dt><dd>${
          vectors.length
            ? vectors.map((vector) => inBrackets(layout.coordinates(vector))).join("  ")
            : "1 place"
        }</dd>`,
    )}</dl>
  </div>`;
}
