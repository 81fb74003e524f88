/**
 * What is said below the map: about what is chosen, and everything once more as tables.
 *
 * @import { AllocationDocument, Barrier, Buffer, FunctionMap, Place, TensorMemoryMap } from "./documents.js"
 */
import { make } from "../dom.js";
import { plural, size } from "../format.js";
import { barrierSource, barrierTitle, bufferTitle, exact, hazardWords, kindOf, placeWords } from "./words.js";

/** @typedef {(lines: number[]) => void} Pin */

/** A button that pins the source line of an operation. @param {Place} place @param {Pin} pin */
function placeButton(place, pin) {
  if (!place.source_line) return make("span", {}, placeWords(place));
  return make("button", { type: "button", class: "link", onclick: () => pin([place.source_line]) }, placeWords(place));
}

/** The same where there is little room: the name of the dialect and the value are left out. @param {Place} place @param {Pin} pin */
function placeCell(place, pin) {
  const operation = place.operation.split(".").at(-1) ?? "";
  if (!place.source_line) return make("span", { title: placeWords(place) }, operation);
  return make("button", { type: "button", class: "link", title: placeWords(place), onclick: () => pin([place.source_line]) }, `${operation}, line\u00a0${place.source_line}`);
}

/** @param {Buffer} buffer @param {FunctionMap} map @param {Pin} pin */
export function bufferDetails(buffer, map, pin) {
  const names = (/** @type {number[]} */ indices) => indices.map((index) => map.buffers.find((each) => each.index === index)?.name ?? "").join(", ");
  const end = buffer.offset_bytes + buffer.size_bytes;
  /** @type {[string, Node | string][]} */
  const facts = [
    ["kind", buffer.use === "scratch" ? `scratch, while ${buffer.operation} runs` : kindOf(buffer)],
    ["bytes", `${buffer.offset_bytes.toLocaleString("en")} to ${end.toLocaleString("en")}: ${exact(buffer.size_bytes)}`],
    ["alignment", buffer.alignment_bytes === null ? "follows from types that the text does not give" : `${buffer.alignment_bytes} B`],
    ["operations", `${buffer.start} to ${buffer.end - 1}`],
    ["first", placeButton(buffer.first, pin)],
    ["last", placeButton(buffer.last, pin)],
    ["alive with it", names(buffer.alive_with) || "none"],
    ["in the same place at other times", names(buffer.shares_bytes_with) || "none"],
  ];
  if (buffer.type) facts.splice(1, 0, ["type", make("code", {}, buffer.type)]);
  if (buffer.slots > 1) facts.splice(2, 0, ["slots", `${buffer.slots} of ${exact(buffer.size_bytes / buffer.slots)}`]);
  if (buffer.views.length) facts.push(["also called", buffer.views.map(({ value }) => value).join(", ")]);
  return make("div", { class: "memory-details" }, make("h3", {}, bufferTitle(buffer)),
    make("dl", {}, ...facts.flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, value)])));
}

/** @param {Barrier} barrier @param {FunctionMap} map @param {Pin} pin */
export function barrierDetails(barrier, map, pin) {
  const hazards = barrier.hazards.map((hazard) =>
    make("li", {}, make("b", {}, hazard.kind), ": ", hazardWords(hazard, map), " ",
      make("button", { type: "button", class: "link", onclick: () => pin([hazard.before.source_line, hazard.after.source_line].filter(Boolean)) }, "pin both")));
  return make("div", { class: "memory-details" }, make("h3", {}, barrierTitle(barrier)),
    make("p", {}, "Before ", placeButton(barrier.following, pin), ". ", barrierSource(barrier)),
    hazards.length ? make("ul", {}, ...hazards) : make("p", {}, barrier.reason));
}

/** @param {string} label @param {string[]} heads @param {(Node | string)[][]} rows */
function table(label, heads, rows) {
  return make("div", { class: "memory-table" },
    make("table", { "aria-label": label },
      make("thead", {}, make("tr", {}, ...heads.map((head) => make("th", { scope: "col" }, head)))),
      make("tbody", {}, ...rows.map((cells) => make("tr", {}, ...cells.map((cell, index) => make(index === 0 ? "th" : "td", index === 0 ? { scope: "row" } : {}, cell)))))));
}

/** @param {FunctionMap} map @param {Pin} pin */
export function tables(map, pin) {
  const buffers = map.buffers.map((buffer) => [
    buffer.name, kindOf(buffer), buffer.size_bytes.toLocaleString("en"), buffer.offset_bytes.toLocaleString("en"),
    `${buffer.start}–${buffer.end - 1}`, placeCell(buffer.first, pin), placeCell(buffer.last, pin),
  ]);
  const barriers = map.barriers.map((barrier) => [
    String(barrier.following.position), barrier.source, placeCell(barrier.following, pin),
    barrier.hazards.map(({ kind }) => kind).filter((kind, index, all) => all.indexOf(kind) === index).join(", ") || barrier.reason,
  ]);
  const marks = map.marks.map(({ kind, place }) => [String(place.position), kind, placeCell(place, pin)]);
  return [
    make("details", { class: "memory-section", open: true }, make("summary", {}, plural(map.buffers.length, "buffer")),
      table("Buffers", ["name", "kind", "bytes", "offset", "ops", "first", "last"], buffers)),
    map.barriers.length
      ? make("details", { class: "memory-section" }, make("summary", {}, plural(map.barriers.length, "barrier")),
          table("Barriers", ["before", "from", "operation", "protects from"], barriers))
      : null,
    map.marks.length
      ? make("details", { class: "memory-section" }, make("summary", {}, `${plural(map.marks.length, "wait")}, signals and fences`),
          table("Waits, signals and fences", ["at", "kind", "operation"], marks))
      : null,
  ];
}

/** What to do where a block cannot have what the kernel needs. @param {AllocationDocument} memory @param {FunctionMap} map @param {Pin} pin */
export function refusal(memory, map, pin) {
  const over = memory.shared_bytes - memory.shared_limit_bytes;
  if (over <= 0) return null;
  const largest = map.peak_buffers.map((index) => map.buffers.find((buffer) => buffer.index === index)).filter((buffer) => buffer !== undefined);
  return make("div", { class: "memory-refusal", role: "alert" },
    make("p", {}, make("b", {}, `${exact(over)} too much.`), ` A block needs ${exact(memory.shared_bytes)} and can have ${exact(memory.shared_limit_bytes)}. At operation ${map.peak_position}, ${exact(map.peak_bytes)} are alive at once, the largest first:`),
    make("ol", {}, ...largest.slice(0, 6).map((buffer) =>
      make("li", {}, `${bufferTitle(buffer)}: ${exact(buffer.size_bytes)}${buffer.slots > 1 ? `, ${buffer.slots} slots of ${exact(buffer.size_bytes / buffer.slots)} for the pipeline` : ""}. `, placeButton(buffer.first, pin)))));
}

/** @param {TensorMemoryMap} memory @param {Pin} pin */
export function tensorTable(memory, pin) {
  const place = (/** @type {number} */ line, /** @type {string} */ operation) =>
    line ? make("button", { type: "button", class: "link", onclick: () => pin([line]) }, `${operation.split(".").at(-1)}, line\u00a0${line}`) : operation.split(".").at(-1) ?? "";
  return table("Tensor memory", ["name", "shape", "columns", "rows", "ops", "first", "last"], memory.buffers.map((buffer) => [
    buffer.name, buffer.type.replaceAll("x", "×"),
    buffer.columns === null ? `from ${buffer.column}` : `${buffer.column}–${buffer.column + buffer.columns - 1}`,
    `${buffer.row}–${buffer.row + buffer.rows - 1}`, `${buffer.start}–${buffer.end - 1}`,
    place(buffer.first_source_line, "ttng.tmem_alloc"), place(buffer.last_source_line, buffer.last_operation),
  ]));
}

/** @param {TensorMemoryMap} memory */
export function tensorSummary(memory) {
  return `Tensor memory: ${memory.allocated_columns} of ${memory.limit_columns} columns (${size(memory.allocated_columns * memory.limit_rows * 4)}). Columns and rows as the compiler has placed them; each is shown from the first to the last operation that mentions it.`;
}
