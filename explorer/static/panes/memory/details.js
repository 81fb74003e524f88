/**
 * The texts below the map: details of the selected item, tables, and why a kernel is refused.
 *
 * @import { AllocationDocument, Barrier, Buffer, FunctionMap, Place, TensorMemoryMap } from "../../core/types.js"
 */
import { lineText } from "../../core/line_words.js";
import { plural } from "../../core/format.js";
import { html, nothing } from "../../core/template.js";
import { marked } from "../../glossary/marks.js";
import {
  barrierCount,
  barrierSource,
  barrierTitle,
  bufferTitle,
  columnWords,
  exact,
  hazardWords,
  kindOf,
  placeWords,
  rowWords,
} from "./words.js";

/** @typedef {(lines: number[]) => void} Pin */

/** A button that pins the source line of an operation. @param {Place} place @param {Pin} pin */
function placeButton(place, pin) {
  const words = placeWords(place);
  if (!place.source_line) return html`<span>${words}</span>`;
  return html`<button type="button" class="link" @click=${() => pin([place.source_line])}>${words}</button>`;
}

/**
 * A shorter one for tables, without the dialect and the value.
 * @param {Pick<Place, "operation" | "source_line">} place @param {Pin} pin @param {string} [title]
 */
function placeCell({ operation, source_line: line }, pin, title) {
  const name = operation.split(".").at(-1) ?? "";
  if (!line) return html`<span title=${title ?? nothing}>${name}</span>`;
  return html`<button type="button" class="link" title=${title ?? nothing} @click=${() => pin([line])}>${`${name}, ${lineText(line).replace(" ", "\u00a0")}`}</button>`;
}

/** @param {Buffer} buffer @param {FunctionMap} map @param {Pin} pin */
export function bufferDetails(buffer, map, pin) {
  const names = (/** @type {number[]} */ indices) =>
    indices.map((index) => map.buffers.find((each) => each.index === index)?.name ?? "").join(", ") || "none";
  const { slots, size_bytes: bytes, offset_bytes: offset, alignment_bytes: alignment, views } = buffer;
  const [from, to] = [offset, offset + bytes].map((each) => each.toLocaleString("en"));
  /** @type {[string, unknown][]} */
  const facts = [
    ["kind", buffer.use === "scratch" ? `scratch, while ${buffer.operation} runs` : kindOf(buffer)],
    ["type", buffer.type && html`<code>${buffer.type}</code>`],
    ["slots", slots > 1 && `${slots} of ${exact(bytes / slots)}`],
    ["bytes", `${from} to ${to}: ${exact(bytes)}`],
    ["alignment", alignment === null ? "follows from types that the text does not give" : `${alignment} B`],
    ["operations", `${buffer.start} to ${buffer.end - 1}`],
    ["first", placeButton(buffer.first, pin)],
    ["last", placeButton(buffer.last, pin)],
    ["alive with it", names(buffer.alive_with)],
    ["in the same place at other times", names(buffer.shares_bytes_with)],
    ["also called", views.map(({ value }) => value).join(", ")],
  ];
  return html`<div class="memory-details">
    <h3>${bufferTitle(buffer)}</h3>
    <dl>${facts.filter(([, value]) => value).map(([name, value]) => html`<dt>${marked(name)}</dt><dd>${value}</dd>`)}</dl>
  </div>`;
}

/** @param {Barrier} barrier @param {FunctionMap} map @param {Pin} pin */
export function barrierDetails(barrier, map, pin) {
  const hazards = barrier.hazards.map((hazard) => {
    const lines = [hazard.before.source_line, hazard.after.source_line].filter(Boolean);
    return html`<li><b>${hazard.kind}</b>: ${hazardWords(hazard, map)}
      <button type="button" class="link" @click=${() => pin(lines)}>pin both</button></li>`;
  });
  return html`<div class="memory-details">
    <h3>${barrierTitle(barrier)}</h3>
    <p>Before ${placeButton(barrier.following, pin)}. ${barrierSource(barrier)}</p>
    ${hazards.length ? html`<ul>${hazards}</ul>` : html`<p>${barrier.reason}</p>`}
  </div>`;
}

/** @param {string} label @param {string[]} heads @param {unknown[][]} rows */
function table(label, heads, rows) {
  return html`<div class="memory-table">
    <table aria-label=${label}>
      <thead><tr>${heads.map((head) => html`<th scope="col">${marked(head)}</th>`)}</tr></thead>
      <tbody>${rows.map(
        ([first, ...rest]) =>
          html`<tr><th scope="row">${first}</th>${rest.map((cell) => html`<td>${cell}</td>`)}</tr>`,
      )}</tbody>
    </table>
  </div>`;
}

/** @param {FunctionMap} map @param {Pin} pin */
export function tables({ buffers, barriers, marks }, pin) {
  const cell = (/** @type {Place} */ place) => placeCell(place, pin, placeWords(place));
  const bufferRows = buffers.map((buffer) => [
    buffer.name,
    kindOf(buffer),
    buffer.size_bytes.toLocaleString("en"),
    buffer.offset_bytes.toLocaleString("en"),
    `${buffer.start}–${buffer.end - 1}`,
    cell(buffer.first),
    cell(buffer.last),
  ]);
  const barrierRows = barriers.map(({ following, source, hazards, reason }) => [
    following.position,
    source,
    cell(following),
    [...new Set(hazards.map(({ kind }) => kind))].join(", ") || reason,
  ]);
  const markRows = marks.map(({ kind, place }) => [place.position, kind, cell(place)]);
  return html`<details class="memory-section" open>
      <summary>${plural(buffers.length, "buffer")}</summary>
      ${table("Buffers", ["name", "kind", "bytes", "offset", "ops", "first", "last"], bufferRows)}
    </details>
    ${
      barriers.length
        ? html`<details class="memory-section">
            <summary>${barrierCount(barriers)}</summary>
            ${table("Barriers for shared memory", ["before", "from", "operation", "protects from"], barrierRows)}
          </details>`
        : nothing
    }
    ${
      marks.length
        ? html`<details class="memory-section">
            <summary>${plural(marks.length, "wait")}, signals and fences</summary>
            ${table("Waits, signals and fences", ["at", "kind", "operation"], markRows)}
          </details>`
        : nothing
    }`;
}

/**
 * The reason of the size: the buffers that are alive at once where most is; and that a block cannot have as much,
 * where it cannot.
 * @param {AllocationDocument} memory
 * @param {FunctionMap} map
 * @param {Pin} pin
 */
export function reason({ shared_bytes: needed, shared_limit_bytes: limit }, map, pin) {
  const isRefused = needed > limit;
  const largest = map.peak_buffers
    .map((index) => map.buffers.find((buffer) => buffer.index === index))
    .filter((buffer) => buffer !== undefined)
    .slice(0, 6)
    .map((buffer) => {
      const { slots, size_bytes: bytes } = buffer;
      const pipeline = slots > 1 ? `, ${slots} slots of ${exact(bytes / slots)} for the pipeline` : "";
      return html`<li>${bufferTitle(buffer)}: ${exact(bytes)}${pipeline}. ${placeButton(buffer.first, pin)}</li>`;
    });
  if (largest.length === 0 && !isRefused) return nothing;
  return html`<div class="memory-reason ${isRefused ? "is-refused" : ""}" role=${isRefused ? "alert" : nothing}>
    <p>${
      isRefused
        ? html`<b>${exact(needed - limit)} too much.</b> A block needs ${exact(needed)} and can have
            ${exact(limit)}. `
        : nothing
    }At operation ${map.peak_position}, ${exact(map.peak_bytes)} are alive at once, the largest first:</p>
    <ol>${largest}</ol>
  </div>`;
}

/** @param {TensorMemoryMap} memory @param {Pin} pin */
export function tensorTable(memory, pin) {
  return table(
    "Tensor memory",
    ["name", "shape", "columns", "rows", "ops", "first", "last"],
    memory.buffers.map((buffer) => [
      buffer.name,
      buffer.type.replaceAll("x", "×"),
      columnWords(buffer),
      rowWords(buffer),
      `${buffer.start}–${buffer.end - 1}`,
      placeCell({ operation: "ttng.tmem_alloc", source_line: buffer.first_source_line }, pin),
      placeCell({ operation: buffer.last_operation, source_line: buffer.last_source_line }, pin),
    ]),
  );
}
